/* SPDX-License-Identifier: Apache-2.0 */
/* carrier.c - virtual threads: their part of the stack goes with them.
 *
 * While a virtual thread is mounted, a frame of nobody separates its calls from those of the
 * carrier, and stands for the root of the tree.  At unmount the frames above it are written, as
 * numbers of methods, starts and times below, into a chain of cells; at mount they are read again
 * and the same sequence of methods is looked up in the tree of the carrier that goes on.  Without
 * memory nothing is kept: the exits will not be found on the stack, and have the right time all
 * the same. */
#include "probe/pages.h"

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
	uint32_t frames, facts; /* numbers of frames, bytes of facts */
	uint64_t stalls_until;
};

struct kept_frame {
	uint64_t token, below;
	uint32_t id, weight;
};

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

static struct probe_thread *mine(void)
{
	return probe_local.muted ? probe_local.aside : probe_local.mine;
}

static bool put_away(struct strip *s, struct probe_thread *t)
{
	const struct probe_frame *base = t->base;
	struct kept kept = { (uint32_t)(t->top - base), 0, LOAD(probe.stalls_until) };

	if (!strip_put(s, &kept, sizeof(kept)))
		return false;
	for (const struct probe_frame *f = base + 1; f <= t->top; f++) {
		struct kept_frame one = { f->token, f->below, f->id, f->weight };

		if (!strip_put(s, &one, sizeof(one)))
			return false;
	}
	return true;
}

static void back_to_carrier(struct probe_thread *t)
{
	struct probe_frame *base = t->base;

	if (t->facts_n > 0)
		facts_forget(t, base + 1);
	STORE(t->top, base == t->frames ? base : base - 1);
	t->base = t->frames;
}

void *probe_unmount(void)
{
	struct probe_thread *t = mine();
	struct strip s = { 0 };

	if (!t)
		return NULL;
	if (t->top > t->base && !put_away(&s, t)) {
		SHARED_ADD(probe.nodes_refused, (uint64_t)(t->top - t->base));
		strip_release(s.first);
		s.first = NULL;
	}
	back_to_carrier(t);
	return s.first;
}

static struct probe_frame *push_nobody(struct probe_thread *t)
{
	struct probe_frame *f = t->top + 1;

	STORE(f->token, 0);
	STORE(f->node, &t->root);
	STORE(f->id, ID_NONE);
	f->below = 0;
	f->weight = 0;
	STORE(t->top, f);
	return f;
}

static void push_kept(struct probe_thread *t, const struct kept_frame *one)
{
	uint32_t id = one->id & ~ID_SLOW;
	struct probe_node *parent = t->top->node, *node = nodes_child(t, parent, id);
	struct probe_frame *f = t->top + 1;

	if (node)
		parent->recent = node;
	STORE(f->token, 0);
	STORE(f->node, node ? node : &probe_nowhere);
	STORE(f->id, id | (one->token & 1 || !node ? ID_SLOW : 0));
	f->below = one->below;
	f->weight = one->weight;
	STORE(t->top, f);
	STORE(f->token, one->token);
}

void probe_mount(void *first)
{
	struct strip s = { .first = first, .at = first };
	struct probe_thread *t = mine();
	struct kept kept = { 0 };

	if (!t && !probe_local.muted)
		t = threads_take();
	if (t && t->base != t->frames)
		back_to_carrier(t); /* nobody told that the last one left */
	if (!t || t->top == &t->frames[PROBE_DEPTH])
		goto done;
	t->base = push_nobody(t);
	if (first)
		strip_get(&s, &kept, sizeof(kept));
	for (uint32_t i = 0; i < kept.frames; i++) {
		struct kept_frame one;

		strip_get(&s, &one, sizeof(one));
		if (t->top == &t->frames[PROBE_DEPTH]) {
			SHARED_ADD(probe.too_deep, 1);
			continue;
		}
		push_kept(t, &one);
		/* A call that grew old meanwhile was on no stack to be seen. */
		if (one.token >> 1 > kept.stalls_until &&
		    one.token >> 1 <= LOAD(probe.stalls_until))
			SHARED_ADD(probe.methods[one.id & ~ID_SLOW].stalls, 1);
	}
done:
	strip_release(first);
}

void probe_drop(void *first)
{
	struct strip s = { .first = first, .at = first };
	struct kept kept = { 0 };

	if (!first)
		return;
	strip_get(&s, &kept, sizeof(kept));
	for (uint32_t i = 0; i < kept.frames; i++) {
		struct kept_frame one;

		strip_get(&s, &one, sizeof(one));
		SHARED_ADD(probe.methods[one.id & ~ID_SLOW].lost, 1);
		SHARED_ADD(probe.lost, 1);
	}
	strip_release(first);
}
