/* SPDX-License-Identifier: Apache-2.0 */
/* probe.c - the fast paths: count, enter, exit, and what they turn to when they are not enough.
 *
 * An entry that is only counted is: my block, the node on top of my stack, its child that was called
 * last, is that it?, add one, subtract one.  A timed entry pushes a frame besides, and reads the
 * clock last; an exit reads it first.  Everything else is in functions of its own that are reached
 * by a jump, so that the fast paths need no stack.
 *
 * A frame is reserved before it is filled and read before it is given back, so that a signal
 * handler that comes in between and calls the probe itself does no harm. */
#include "base/tick.h"
#include "probe/histogram.h"
#include "probe/pages.h"

/* What a frame is filled with. */
struct entry {
	struct probe_node *node;
	uint32_t id; /* with ID_SLOW */
	uint32_t weight;
	uint32_t data; /* 0 or 1 */
};

/* ---- entries ----------------------------------------------------------------------------- */

static inline bool is_full(const struct probe_thread *t)
{
	return t->top == &t->frames[PROBE_DEPTH];
}

static inline uint64_t push(struct probe_thread *t, struct entry e)
{
	struct probe_frame *f = t->top + 1;
	uint64_t token;

	STORE(t->top, f);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	STORE(f->node, e.node);
	f->below = 0;
	STORE(f->id, e.id);
	f->weight = e.weight;
	token = tick_now() << 1 | e.data;
	STORE(f->token, token);
	return token;
}

/* Timed all the same: the exit, not found on the stack, is accounted to the method. */
static COLD uint64_t enter_too_deep(uint32_t id)
{
	SHARED_ADD(probe.too_deep, 1);
	return tick_now() << 1 | LOAD(probe.methods[id].one_in) >> 31;
}

/* The countdown is over, and it is not simply that every call is timed. */
static APART uint64_t enter_drawn(struct probe_thread *t, struct probe_node *node, uint32_t id)
{
	uint32_t data = node->one_in >> 31, one_in = node->one_in & ~ONE_IN_DATA;

	node->skip = nodes_gap(&t->random, one_in);
	if (one_in == 0)
		return 0;
	ADD(node->begun, 1);
	if (is_full(t))
		return enter_too_deep(id);
	return push(t, (struct entry){ node, id | data << 31, one_in, data });
}

static inline uint64_t enter_node(struct probe_thread *t, struct probe_node *node, uint32_t id)
{
	ADD(node->calls, 1);
	if (--node->skip != 0)
		return 0;
	if (UNLIKELY(node->one_in != 1))
		return enter_drawn(t, node, id);
	node->skip = 1;
	ADD(node->begun, 1);
	if (UNLIKELY(is_full(t)))
		return enter_too_deep(id);
	return push(t, (struct entry){ node, id, 1, 0 });
}

/* No memory for the context: the figures are the method's, the frame keeps those below right. */
static COLD uint64_t enter_nowhere(struct probe_thread *t, uint32_t id)
{
	uint32_t one_in = LOAD(probe.methods[id].one_in), weight = one_in & ~ONE_IN_DATA;

	SHARED_ADD(probe.nodes_refused, 1);
	if (!shared_begin(id, &t->random))
		return 0;
	if (is_full(t))
		return enter_too_deep(id);
	return push(t, (struct entry){ &probe_nowhere, id | ID_SLOW, weight, one_in >> 31 });
}

static COLD uint64_t enter_shared(uint32_t id)
{
	if (!shared_begin(id, &probe_local.random))
		return 0;
	return tick_now() << 1 | LOAD(probe.methods[id].one_in) >> 31;
}

/* The child that was called last is another one, or there was a change. */
static APART uint64_t enter_other(struct probe_thread *t, uint32_t id)
{
	struct probe_node *parent = t->top->node, *node;

	if (id >= PROBE_METHODS)
		return 0;
	node = nodes_child(t, parent, id);
	if (UNLIKELY(!node))
		return enter_nowhere(t, id);
	parent->recent = node;
	return enter_node(t, node, id);
}

static COLD uint64_t enter_unknown(uint32_t id)
{
	struct probe_thread *t;

	if (probe_local.muted || id >= PROBE_METHODS || !LOAD(probe.ready))
		return 0;
	t = threads_take();
	return t ? enter_other(t, id) : enter_shared(id);
}

uint64_t probe_enter(uint32_t id)
{
	struct probe_thread *t = probe_local.mine;
	struct probe_node *node;

	if (UNLIKELY(!t))
		return enter_unknown(id);
	node = t->top->node->recent;
	if (UNLIKELY(node->key != (LOAD(probe.generation) | id)))
		return enter_other(t, id);
	return enter_node(t, node, id);
}

static APART void count_other(struct probe_thread *t, uint32_t id)
{
	struct probe_node *parent = t->top->node, *node;

	if (id >= PROBE_METHODS)
		return;
	node = nodes_child(t, parent, id);
	if (UNLIKELY(!node)) {
		SHARED_ADD(probe.nodes_refused, 1);
		shared_count(id);
		return;
	}
	parent->recent = node;
	ADD(node->calls, 1);
}

static COLD void count_unknown(uint32_t id)
{
	struct probe_thread *t;

	if (probe_local.muted || id >= PROBE_METHODS || !LOAD(probe.ready))
		return;
	t = threads_take();
	if (t)
		count_other(t, id);
	else
		shared_count(id);
}

void probe_count(uint32_t id)
{
	struct probe_thread *t = probe_local.mine;
	struct probe_node *node;

	if (UNLIKELY(!t)) {
		count_unknown(id);
		return;
	}
	node = t->top->node->recent;
	if (UNLIKELY(node->key != (LOAD(probe.generation) | id))) {
		count_other(t, id);
		return;
	}
	ADD(node->calls, 1);
}

/* ---- exits ------------------------------------------------------------------------------- */

static inline uint64_t ticks_between(uint64_t token, uint64_t now)
{
	int64_t ticks = (int64_t)(now - (token >> 1));

	return ticks < 0 ? 0 : (uint64_t)ticks; /* counters of two cores need not agree */
}

static APART void count_in_new_segment(struct probe_thread *t, struct probe_head *head,
				       unsigned bucket)
{
	uint32_t *counts = nodes_counts(t, head, bucket / SEGMENT);

	if (counts)
		ADD(counts[bucket % SEGMENT], 1);
}

/* Takes the frame, which must be the top, off the stack into its node. */
static inline void leave(struct probe_thread *t, struct probe_frame *f, uint64_t ticks)
{
	struct probe_node *node = f->node;
	struct probe_head *head = node->head;
	uint64_t weight = f->weight, below = f->below;
	unsigned bucket = histogram_bucket(ticks);
	uint32_t *counts = head->counts[bucket / SEGMENT];
	double squares;

	f[-1].below += ticks * weight;
	STORE(f->token, 0);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	STORE(t->top, f - 1);
	ADD(node->sum, ticks);
	ADD(node->weighted, ticks * weight);
	ADD(node->weight, weight);
	ADD(node->below, below * weight);
	ADD(node->timed, 1);
	if (ticks < node->min)
		STORE(node->min, ticks);
	if (ticks > node->max)
		STORE(node->max, ticks);
	squares = head->squares + (double)(int64_t)ticks * (double)(int64_t)ticks;
	__atomic_store(&head->squares, &squares, __ATOMIC_RELAXED);
	if (UNLIKELY(!counts)) {
		count_in_new_segment(t, head, bucket);
		return;
	}
	counts += bucket % SEGMENT;
	STORE(*counts, *counts + 1);
	if (UNLIKELY((int32_t)*counts < 0))
		nodes_halve(head);
}

/* The same for a call without context. */
static COLD void leave_nowhere(struct probe_thread *t, struct probe_frame *f, uint64_t ticks)
{
	struct shared_end end = { ticks, f->weight, f->below };

	shared_end(f->id & ~ID_SLOW, &end);
	f[-1].below += ticks * f->weight;
	STORE(f->token, 0);
	STORE(t->top, f - 1);
}

/* The frame of a call on the part of the stack that runs now, or NULL.  Calls that lie higher
 * began later, so the search ends soon. */
static struct probe_frame *frame_of(struct probe_thread *t, uint32_t id, uint64_t token)
{
	for (struct probe_frame *f = t->top; !frame_is_nobodys(f) && (f->token | 1) >= token; f--)
		if (f->token == token && (f->id & ~ID_SLOW) == id)
			return f;
	return NULL;
}

/* The exit of the top frame never came. */
static COLD void lose_top(struct probe_thread *t)
{
	struct probe_frame *f = t->top;

	SHARED_ADD(probe.lost, 1);
	if (f->node == &probe_nowhere)
		SHARED_ADD(probe.methods[f->id & ~ID_SLOW].lost, 1);
	else
		ADD(f->node->head->lost, 1);
	STORE(f->token, 0);
	STORE(t->top, f - 1);
}

/* An exit whose call is not on the stack: the time is right, the context unknown. */
static COLD void exit_stray(const struct probe_call *call)
{
	uint32_t one_in = LOAD(probe.methods[call->id].one_in) & ~ONE_IN_DATA;
	struct shared_end end = { call->ticks, one_in ? one_in : 1, 0 };

	shared_end(call->id, &end);
	if (call->thrown)
		SHARED_ADD(probe.methods[call->id].errors, 1);
}

/* Puts the call into the ring when somebody wants it. */
static void tell(struct probe_thread *t, const struct probe_frame *f, struct probe_call *call)
{
	const struct probe_method *m = &probe.methods[call->id];

	if (LOAD(m->one_in) & ONE_IN_DATA && call->ticks >= LOAD(m->at_least))
		facts_put(t, f, call);
}

static APART void exit_other(uint32_t id, uint64_t token, uint64_t now, bool thrown)
{
	struct probe_thread *t = probe_local.mine;
	struct probe_call call = {
		.id = id, .begin = token >> 1, .ticks = ticks_between(token, now), .thrown = thrown
	};
	struct probe_frame *f;

	if (probe_local.muted || id >= PROBE_METHODS || !LOAD(probe.ready))
		return;
	f = t ? frame_of(t, id, token) : NULL;
	if (!f) {
		if (t || !probe_local.wait)
			SHARED_ADD(probe.strayed, 1);
		exit_stray(&call);
		if (token & 1)
			tell(t, NULL, &call);
		return;
	}
	while (UNLIKELY(t->top != f))
		lose_top(t);
	if (token & 1)
		tell(t, f, &call);
	if (t->facts_n > 0)
		facts_forget(t, f);
	if (f->node == &probe_nowhere) {
		if (thrown)
			SHARED_ADD(probe.methods[id].errors, 1);
		leave_nowhere(t, f, call.ticks);
		return;
	}
	if (thrown)
		ADD(f->node->errors, 1);
	leave(t, f, call.ticks);
}

void probe_exit(uint32_t id, uint64_t token)
{
	uint64_t now = tick_now();
	struct probe_thread *t = probe_local.mine;
	struct probe_frame *f;

	if (UNLIKELY(!t)) {
		exit_other(id, token, now, false);
		return;
	}
	f = t->top;
	if (UNLIKELY(f->token != token || f->id != id)) {
		exit_other(id, token, now, false);
		return;
	}
	leave(t, f, ticks_between(token, now));
}

/* The error of a call that was not timed belongs to the node at which it was counted, if that
 * can be found. */
static COLD void thrown_untimed(uint32_t id)
{
	struct probe_thread *t = probe_local.mine;
	struct probe_node *node;

	if (probe_local.muted || id >= PROBE_METHODS || !LOAD(probe.ready))
		return;
	node = t ? nodes_find(t, t->top->node, id) : NULL;
	if (node)
		ADD(node->errors, 1);
	else
		SHARED_ADD(probe.methods[id].errors, 1);
}

void probe_thrown(uint32_t id, uint64_t token)
{
	uint64_t now = tick_now();

	if (token == 0)
		thrown_untimed(id);
	else
		exit_other(id, token, now, true);
}

void probe_bytes(uint32_t id, uint64_t count)
{
	struct probe_thread *t = probe_local.mine;
	struct probe_frame *f;

	if (probe_local.muted || id >= PROBE_METHODS || !LOAD(probe.ready))
		return;
	for (f = t ? t->top : NULL; f && !frame_is_nobodys(f); f--)
		if ((f->id & ~ID_SLOW) == id)
			break;
	if (f && !frame_is_nobodys(f)) {
		count *= f->weight;
		if (f->node != &probe_nowhere) {
			ADD(f->node->head->bytes, count);
			return;
		}
	}
	SHARED_ADD(probe.methods[id].bytes, count);
}
