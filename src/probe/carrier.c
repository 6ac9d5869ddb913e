/* SPDX-License-Identifier: Apache-2.0 */
/* carrier.c - virtual threads: their part of the stack goes with them.
 *
 * While a virtual thread is mounted, a frame of nobody separates its calls from those of the
 * carrier, and stands for the root of the tree.  At unmount the frames above it are written, as
 * numbers of methods, starts and times below, into a chain of cells; at mount they are read again
 * and the same sequence of methods is looked up in the tree of the carrier that goes on.  Without
 * memory nothing is kept: the exits will not be found on the stack, and have the right time all
 * the same. */
#include "base/tick.h"
#include "probe/nodes.h"
#include "probe/tracing.h"

#include <string.h>

struct cell {
	uint32_t next; /* line */
	uint32_t spare;
	char bytes[LINE - 8];
};
_Static_assert(sizeof(struct cell) == LINE, "a cell is a line");

/* Bytes over a chain of cells. */
struct strip {
	struct cell *first, *at;
	size_t used; /* of at */
};

struct kept {
	uint32_t frames, facts; /* how many of them follow */
	uint32_t trace, spare;	/* part of a transaction */
	uint64_t stalls_until;
};

/* As frame_ends(). */
static void kept_ends(const struct kept_frame *one)
{
	if (one->id & ID_OPENS)
		SHARED_SUB(probe_words.inside, 1);
}

static bool strip_put(struct strip *s, const void *p, size_t n)
{
	const char *from = p;

	while (n > 0) {
		size_t part;

		if (!s->at || s->used == sizeof(s->at->bytes)) {
			struct cell *cell = pages_cell();

			if (!cell)
				return false;
			STORE(cell->next, 0);
			if (s->at)
				STORE(s->at->next, line_of(cell));
			else
				s->first = cell;
			s->at = cell;
			s->used = 0;
		}
		part = sizeof(s->at->bytes) - s->used;
		part = part < n ? part : n;
		memcpy(s->at->bytes + s->used, from, part);
		s->used += part;
		from += part;
		n -= part;
	}
	return true;
}

static void strip_get(struct strip *s, void *p, size_t n)
{
	char *to = p;

	while (n > 0) {
		size_t part;

		if (s->used == sizeof(s->at->bytes)) {
			s->at = line_at(LOAD(s->at->next));
			s->used = 0;
		}
		part = sizeof(s->at->bytes) - s->used;
		part = part < n ? part : n;
		memcpy(to, s->at->bytes + s->used, part);
		s->used += part;
		to += part;
		n -= part;
	}
}

static void strip_release(struct cell *cell)
{
	while (cell) {
		uint32_t next = LOAD(cell->next);

		pages_cell_give(cell);
		cell = next ? line_at(next) : NULL;
	}
}

/* ---- leaving ----------------------------------------------------------------------------- */

static bool put_away(struct strip *s, const struct probe_thread *t, const struct probe_frame *top)
{
	const struct probe_frame *base = t->base;
	struct kept kept = { .frames = (uint32_t)(top - base),
			     .facts = call_facts_above(t, base + 1),
			     .trace = t->trace,
			     .stalls_until = LOAD(probe.stalls_until) };
	struct probe_fact fact;

	if (!strip_put(s, &kept, sizeof(kept)))
		return false;
	for (const struct probe_frame *f = base + 1; f <= top; f++) {
		struct kept_frame one = { .token = f->token,
					  .below = f->below,
					  .id = f->id & ~(ID_METERED | ID_TYPED | ID_PASSES),
					  .weight = f->weight };

		if (f->node != &probe_nowhere)
			one.id |= (uint32_t)f->node->key;
		if (frame_is_hidden(f))
			one.sort = NODE_CLOSED;
		if (!strip_put(s, &one, sizeof(one)))
			return false;
	}
	for (uint32_t at = 0; call_facts_next(t, base + 1, &at, &fact); at += fact.n) {
		struct probe_fact away = { (uint16_t)(fact.depth - (base - t->frames)), fact.n };

		if (!strip_put(s, &away, sizeof(away)) || !strip_put(s, t->facts + at, fact.n))
			return false;
	}
	return true;
}

/* Takes what lies on the base, and the base when it is nobody's, off the stack. */
static void back_to_carrier(struct probe_thread *t, struct probe_frame *top)
{
	struct probe_frame *base = t->base;

	if (t->facts_n > 0)
		call_facts_forget(t, base + 1);
	if (base != t->frames)
		t->frames[0].below += base->below; /* the whole, for nodes_prune.c */
	thread_set_top(base != t->frames && frame_is_nobodys(base) ? base - 1 : base);
	for (; top > base; top--) {
		if (top->id & ID_PASSES)
			nodes_unpin(top);
		STORE(top->token, 0);
	}
	if (base != t->frames && frame_is_nobodys(base))
		STORE(base->id, 0);
	t->base = t->frames;
}

/* The frames on the base are not kept. */
static void end_frames(const struct probe_thread *t, struct probe_frame *top)
{
	for (; top > t->base; top--)
		frame_ends(top);
}

void *probe_unmount(void)
{
	struct probe_thread *t = probe_local.mine;
	struct probe_frame *top = thread_top();
	struct strip s = { 0 };

	if (!t)
		return NULL;
	if ((top > t->base || t->trace) && !put_away(&s, t, top)) {
		SHARED_ADD(probe.nodes_refused, (uint64_t)(top - t->base));
		end_frames(t, top);
		strip_release(s.first);
		s.first = NULL;
		if (t->trace)
			trace_gone(&t->trace, tick_now());
	}
	t->trace = t->trace_carrier;
	t->trace_carrier = 0;
	types_broken(t);
	t->off.since_turn = 0; /* who waits for a monitor will have it elsewhere */
	back_to_carrier(t, top);
	return s.first;
}

/* ---- coming ------------------------------------------------------------------------------ */

/* A frame of nobody for the virtual thread to stand on; when there is no room for one, on the
 * carrier's own. */
static void set_base(struct probe_thread *t)
{
	struct probe_frame *top = thread_top(), *f = top + 1;

	t->base = top;
	if (top == &t->frames[PROBE_DEPTH])
		return;
	*f = (struct probe_frame){ .node = &t->root, .id = f->id };
	STORE(f->id, ID_NONE);
	t->base = f;
	thread_set_top(f);
}

void carrier_push(struct probe_thread *t, const struct kept_frame *one)
{
	uint32_t kid = one->id & ~(ID_SLOW | ID_HIDDEN | ID_OPENS);
	uint32_t id = (kid & KID_ID) | (one->id & (ID_SLOW | ID_OPENS));
	struct probe_frame *top = thread_top(), *f = top + 1;
	struct probe_node *parent = frame_context(top);
	struct probe_node *node = nodes_of_sort(t, parent, kid, one->sort);

	if (node)
		parent->recent = node;
	STORE(f->node, node ? node : &probe_nowhere);
	if (!node)
		id |= kid | ID_SLOW | (one->sort ? ID_HIDDEN : 0);
	STORE(f->id, id);
	f->below = one->below;
	f->window = LOAD(f->node)->window;
	f->weight = one->id & ID_SLOW ? one->weight : 1;
	STORE(f->token, one->token);
	thread_set_top(f);
}

/* A call that has grown old meanwhile was on no stack to be seen by probe_stalls(). */
static void look_for_stall(const struct kept_frame *one, uint64_t looked_until)
{
	uint64_t began = one->token >> 1;

	if (!one->sort && began > looked_until && began <= LOAD(probe.stalls_until))
		SHARED_ADD(probe.methods[one->id & KID_ID].stalls, 1);
}

static void take_out(struct strip *s, struct probe_thread *t)
{
	uint32_t n = 0;
	struct kept kept;

	strip_get(s, &kept, sizeof(kept));
	t->trace = kept.trace;
	for (uint32_t i = 0; i < kept.frames; i++) {
		struct kept_frame one;

		strip_get(s, &one, sizeof(one));
		look_for_stall(&one, kept.stalls_until);
		if (thread_top() != &t->frames[PROBE_DEPTH]) {
			carrier_push(t, &one);
			continue;
		}
		SHARED_ADD(probe.too_deep, 1);
		kept_ends(&one);
	}
	for (; n < kept.facts; n++) {
		struct probe_fact fact;

		strip_get(s, &fact, sizeof(fact));
		fact.depth = (uint16_t)(fact.depth + (t->base - t->frames));
		if (t->facts_n + sizeof(fact) + fact.n > sizeof(t->facts))
			break;
		memcpy(t->facts + t->facts_n, &fact, sizeof(fact));
		strip_get(s, t->facts + t->facts_n + sizeof(fact), fact.n);
		t->facts_n += (uint32_t)sizeof(fact) + fact.n;
	}
}

static void lost_carried(struct probe_thread *t)
{
	if (t->trace)
		trace_gone(&t->trace, tick_now());
	t->trace = t->trace_carrier;
	end_frames(t, thread_top());
	back_to_carrier(t, thread_top());
}

static void end_kept(struct strip *s)
{
	struct kept_frame one;
	struct kept kept;

	strip_get(s, &kept, sizeof(kept));
	for (uint32_t i = 0; i < kept.frames; i++) {
		strip_get(s, &one, sizeof(one));
		kept_ends(&one);
	}
}

void probe_mount(void *kept)
{
	struct probe_thread *t = probe_local.mine;
	struct strip s = { .first = kept, .at = kept };

	if (!t && !probe_local.muted)
		t = thread_take();
	if (t) {
		if (t->base != t->frames)
			lost_carried(t); /* no event said that the last one left */
		t->trace_carrier = t->trace;
		t->trace = 0;
		types_broken(t);
		set_base(t);
		if (kept)
			take_out(&s, t);
	} else if (kept) {
		end_kept(&s);
	}
	strip_release(kept);
}

void probe_drop(void *first)
{
	struct strip s = { .first = first, .at = first };
	struct kept kept;

	if (!first)
		return;
	strip_get(&s, &kept, sizeof(kept));
	for (uint32_t i = 0; i < kept.frames; i++) {
		struct kept_frame one;

		strip_get(&s, &one, sizeof(one));
		SHARED_ADD(probe.lost, 1);
		kept_ends(&one);
		if (!one.sort)
			SHARED_ADD(probe.methods[one.id & KID_ID].lost, 1);
	}
	if (kept.trace)
		trace_gone(&kept.trace, tick_now());
	strip_release(first);
}
