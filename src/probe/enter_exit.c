/* SPDX-License-Identifier: Apache-2.0 */
/* enter_exit.c - the fast paths: count, enter, exit, and what they turn to when they are not enough.
 *
 * An entry that is only counted is: the child of where I am that was called last, is that it?, add
 * one, subtract one.  A timed entry pushes a frame besides, and reads the clock last; an exit reads
 * it first, but for where the stack's top is.  Everything else is in functions of its own that are
 * reached by a jump, so that the fast paths need no stack.
 *
 * A frame is reserved before it is filled and read before it is given back, so that a signal
 * handler that comes in between and calls the probe itself does no harm. */
#include "base/tick.h"
#include "probe/context.h"
#include "probe/histogram.h"
#include "probe/nodes.h"
#include "probe/tracing.h"
#include "tree/sequence.h"

/* The value is read here, and not where it is first used.  What an exit does after it has read the
 * clock has to be done before the next entry reads it: with the top of the stack in hand by then a
 * pair takes 2 ns of 39 less. */
#define READ_NOW(value) __asm__ volatile("" : "+r"(value))

enum {
	NEAR = 64,	 /* frames to look at */
	LARGE = 1 << 15, /* nodes; more of one thread are hardly what it does */
};

/* What a frame is filled with. */
struct entry {
	struct probe_node *node;
	uint32_t id;
	uint32_t slow;	 /* 0 or ID_SLOW, perhaps with ID_OPENS */
	uint32_t weight; /* with ID_SLOW */
	uint32_t data;	 /* 0 or 1 */
};

/* ---- entries ----------------------------------------------------------------------------- */

static inline uint64_t push(struct entry e)
{
	struct probe_local *l = &probe_local;
	struct probe_frame *f = l->top + 1;
	uint64_t token, below = f[-1].token;

	STORE(l->top, f);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	STORE(l->recent, e.slow & ID_PASSES ? e.node : e.node->recent);
	STORE(f->node, e.node);
	f->below = 0;
	f->window = e.node->window;
	STORE(f->id, e.id | e.slow);
	if (e.slow)
		f->weight = e.weight;
	token = tick_now() << 1 | e.data;
	if (UNLIKELY(token <=
		     below)) /* a coarse counter, or another core's: tokens tell frames apart */
		token = ((below >> 1) + 1) << 1 | e.data;
	STORE(f->token, token);
	return token;
}

/* The same in a thread that may be in a transaction. */
static COLD uint64_t push_traced(struct entry e)
{
	uint64_t *begin = trace_enter(e.id), token = push(e);

	if (begin)
		STORE(*begin, token >> 1);
	return token;
}

/* The same of a call that is metered, which comes before the clock. */
static COLD uint64_t push_metered(struct entry e)
{
	meter_begin(probe_local.mine, probe_local.top + 1);
	e.slow |= ID_METERED;
	return push(e);
}

/* The same of a call that is an event of sequences. */
static COLD uint64_t push_typed(struct entry e)
{
	const struct probe_frame *from = probe_local.top;
	uint64_t token;

	e.slow |= ID_TYPED;
	token = push(e);
	types_event(probe_local.mine, &(struct types_event){ .transition = TRANSITION_ENTER,
							     .id = e.id,
							     .from = from,
							     .to = from + 1,
							     .tick = token >> 1,
							     .token = token });
	return token;
}

/* Settled calls.  A processor reads its counter while instructions before it still wait: the end of
 * a chain of 100 divisions, 500 ns, is reported 20 ns after its begin.  Waiting for them costs some ns
 * and the overlap with what follows.  So it is done for methods of which Sonde chooses which calls
 * are timed, and not where a rule wants every call timed, come what may. */
static uint64_t settle(uint32_t id, uint64_t token)
{
	uint64_t later;

	tick_settle();
	later = probe_shift(id, token, token >> 1);
	probe_pulse((later - token) >> 1);
	return later | PROBE_SETTLED;
}

static uint64_t settle_if(uint32_t one_in, uint32_t id, uint64_t token)
{
	return one_in & ONE_IN_SETTLE ? settle(id, token) : token;
}

/* Timed all the same: the exit, not found on the stack, is accounted to the method. */
static COLD uint64_t begin_apart(uint32_t one_in)
{
	uint64_t mark = one_in & ONE_IN_SETTLE ? PROBE_SETTLED : 0;

	if (mark)
		tick_settle();
	return tick_now() << 1 | one_in >> 31 | mark;
}

static COLD uint64_t enter_too_deep(uint32_t id)
{
	SHARED_ADD(probe.too_deep, 1);
	types_broken(probe_local.mine);
	return begin_apart(LOAD(probe.methods[id].one_in));
}

/* A call that is one of many, the slow kind, or an outermost step. */
static uint32_t slow_kind(uint32_t one_in)
{
	if (!(one_in & NODE_OPENS))
		return ID_SLOW;
	SHARED_ADD(probe_words.inside, 1);
	return ID_SLOW | ID_OPENS;
}

/* Not to be reported, or not known yet.  A step of somebody's sequence must be on the stack all the
 * same; its frame is a slow one, and its exit finds out. */
static APART uint64_t enter_hidden(struct probe_node *node, uint32_t id)
{
	if (node->one_in & NODE_ASKS)
		return PROBE_ASK;
	node->skip = node->one_in & ONE_IN_N ? 1 : SKIP_ALL;
	if (node->skip != 1 || probe_local.top == probe_local.limit)
		return 0;
	types_broken(probe_local.mine);
	return push((struct entry){ node, id, slow_kind(node->one_in), 1, 0 });
}

/* Is a call that stands for many on the stack already, and calls below it are in its context? */
static bool is_below_drawn(void)
{
	const struct probe_frame *f = probe_local.top;

	for (int i = 0; i < NEAR && !frame_is_nobodys(f); i++, f--)
		if ((f->id & (ID_SLOW | ID_PASSES)) == ID_SLOW && f->weight > 1)
			return true;
	return false;
}

static bool is_large(const struct probe_thread *t)
{
	return t->prune.reserve || t->nodes_n > LARGE;
}

/* A call that stands for many is a context of its own.  Which of the calls around it do is chance,
 * so with one in ten of thirty there are thousands of ways to be inside of three of them, and each
 * has nodes.  Where the tree is large, or memory short, one of them is enough: calls below further
 * ones are in the context of that. */
static uint32_t drawn_kind(struct probe_node *node)
{
	uint32_t kind = slow_kind(node->one_in);

	if ((node->one_in & ONE_IN_N) > 1 && is_large(probe_local.mine) && is_below_drawn()) {
		nodes_pin(node);
		kind |= ID_PASSES;
	}
	return kind;
}

static inline uint64_t push_drawn(struct probe_node *node, uint32_t id)
{
	uint32_t data = node->one_in >> 31, one_in = node->one_in & ONE_IN_N;

	if (node->one_in & ONE_IN_TYPES)
		return push_typed(
			(struct entry){ node, id, slow_kind(node->one_in), one_in, data });
	types_broken(probe_local.mine);
	if (node->one_in & ONE_IN_TRACE)
		return push_traced(
			(struct entry){ node, id, slow_kind(node->one_in), one_in, data });
	if (node->one_in & ONE_IN_METER)
		return push_metered(
			(struct entry){ node, id, slow_kind(node->one_in), one_in, data });
	if (node->one_in == (ONE_IN_SETTLE | 1))
		return push((struct entry){ node, id, 0, 1, 0 });
	return push((struct entry){ node, id, drawn_kind(node), one_in, data });
}

/* One of several calls, or one about which facts are wanted, or that has to wait. */
static APART PROBE_NEAR uint64_t enter_drawn(struct probe_node *node, uint32_t id)
{
	uint32_t one_in = node->one_in & ONE_IN_N;

	if (UNLIKELY(node->one_in & NODE_SORT))
		return enter_hidden(node, id);
	if (one_in == 0) {
		node->skip = SKIP_ALL;
		ADD(node->counted, 1);
		return 0;
	}
	node->skip = nodes_gap(&probe_local.mine->random, one_in);
	ADD(node->begun, 1);
	if (probe_local.top == probe_local.limit)
		return enter_too_deep(id);
	return settle_if(node->one_in, id, push_drawn(node, id));
}

static inline uint64_t enter_node(struct probe_node *node, uint32_t id)
{
	uint32_t skip = node->skip;

	if (skip != 0) {
		if (UNLIKELY(--skip == 0))
			return enter_drawn(node, id);
		node->skip = skip;
		ADD(node->counted, 1);
		return 0;
	}
	ADD(node->begun, 1);
	if (UNLIKELY(probe_local.top == probe_local.limit))
		return enter_too_deep(id);
	return push((struct entry){ node, id, 0, 1, 0 });
}

/* No memory for the context: the figures are the method's, the frame keeps those below right. */
static COLD uint64_t enter_nowhere(uint32_t kid)
{
	uint32_t id = kid & KID_ID, one_in = context_decide_here(kid, probe_local.top).one_in;
	uint32_t weight = one_in & ONE_IN_N, hidden = one_in & NODE_CLOSED ? ID_HIDDEN : 0;

	if (one_in & NODE_ASKS)
		return PROBE_ASK;
	SHARED_ADD(probe.nodes_refused, 1);
	types_broken(probe_local.mine);
	if (hidden && (weight == 0 || probe_local.top == probe_local.limit))
		return 0;
	if (!hidden && !shared_begin(id, one_in, &probe_local.mine->random))
		return 0;
	if (probe_local.top == probe_local.limit)
		return enter_too_deep(id);
	return settle_if(one_in, id,
			 push((struct entry){ .node = &probe_nowhere,
					      .id = kid | hidden,
					      .slow = slow_kind(one_in),
					      .weight = weight ? weight : 1,
					      .data = one_in >> 31 }));
}

/* The calling thread's block.  NULL: it has none and will not get one, or is not to be seen. */
static struct probe_thread *known(void)
{
	return probe_local.mine ? probe_local.mine : thread_take();
}

static bool unseen(uint32_t id)
{
	return probe_local.muted || id >= PROBE_METHODS || !TAKE(probe.ready);
}

/* The thread or the child is new, or there was a change. */
static COLD uint64_t enter_new(uint32_t id)
{
	struct probe_thread *t;
	struct probe_node *parent, *node;

	if (unseen(id))
		return 0;
	t = known();
	if (!t) {
		uint32_t one_in = LOAD(probe.methods[id].one_in);

		if (context_has_sequences(id))
			return 0; /* without a stack there is no context */
		return shared_begin(id, one_in, &probe_local.random) ? begin_apart(one_in) : 0;
	}
	parent = frame_context(probe_local.top);
	node = nodes_child(t, parent, id);
	if (!node)
		return enter_nowhere(id);
	parent->recent = node;
	probe_local.recent = node;
	return enter_node(node, id);
}

/* Another child than the one that was called last. */
static APART PROBE_NEAR uint64_t enter_other(uint32_t id)
{
	struct probe_thread *t = probe_local.mine;
	struct probe_node *parent = frame_context(probe_local.top),
			  *node = nodes_guess(t, parent, id);

	if (UNLIKELY(node->key != (LOAD(probe.generation) | id)))
		return enter_new(id);
	parent->recent = node;
	probe_local.recent = node;
	return enter_node(node, id);
}

PROBE_NEAR uint64_t probe_enter(uint32_t id)
{
	struct probe_node *node = probe_local.recent;

	if (UNLIKELY(node->key != (LOAD(probe.generation) | id)))
		return enter_other(id);
	return enter_node(node, id);
}

bool probe_may(uint32_t id)
{
	struct probe_node *node = probe_local.recent;
	uint64_t key = LOAD(probe.generation) | id;

	if (unseen(id))
		return false;
	if (node->key != key && probe_local.mine)
		node = nodes_guess(probe_local.mine, frame_context(probe_local.top), id);
	/* A node that does not exist yet is not decided: entering it decides. */
	return node->key != key || !(node->one_in & NODE_CLOSED);
}

uint64_t probe_answer(uint32_t id, bool direct, bool inside)
{
	uint32_t kid = id | KID_KNOWN | (direct ? KID_DIRECT : 0) | (inside ? KID_INSIDE : 0);
	struct probe_thread *t = probe_local.mine;
	struct probe_node *parent = frame_context(probe_local.top), *node;

	if (unseen(id) || !t)
		return 0;
	node = nodes_guess(t, parent, kid);
	if (UNLIKELY(node->key != (LOAD(probe.generation) | kid)))
		node = nodes_child(t, parent, kid);
	return node ? enter_node(node, id) : enter_nowhere(kid);
}

static COLD void count_new(uint32_t id)
{
	struct probe_node *parent, *node = NULL;
	struct probe_thread *t;

	if (unseen(id))
		return;
	t = known();
	parent = frame_context(probe_local.top);
	if (t)
		node = nodes_child(t, parent, id);
	if (!node) {
		if (t)
			SHARED_ADD(probe.nodes_refused, 1);
		if (t ? !(context_decide_here(id, probe_local.top).one_in & NODE_SORT)
		      : !context_has_sequences(id))
			SHARED_ADD(probe.methods[id].calls, 1);
		return;
	}
	parent->recent = node;
	probe_local.recent = node;
	ADD(node->counted, 1);
}

static APART void count_other(uint32_t id)
{
	struct probe_thread *t = probe_local.mine;
	struct probe_node *parent = frame_context(probe_local.top),
			  *node = nodes_guess(t, parent, id);

	if (UNLIKELY(node->key != (LOAD(probe.generation) | id))) {
		count_new(id);
		return;
	}
	parent->recent = node;
	probe_local.recent = node;
	ADD(node->counted, 1);
}

PROBE_NEAR void probe_count(uint32_t id)
{
	struct probe_node *node = probe_local.recent;

	if (UNLIKELY(node->key != (LOAD(probe.generation) | id))) {
		count_other(id);
		return;
	}
	ADD(node->counted, 1);
}

/* ---- exits ------------------------------------------------------------------------------- */

static APART void count_outside(struct probe_node *node, uint64_t ticks)
{
	struct probe_thread *t = probe_local.mine;
	uint32_t id = node_id(node);
	unsigned bucket = histogram_bucket(ticks);

	if (!nodes_bucket(t, nodes_head(t, id, false), bucket, 1))
		shared_bucket(&probe.methods[id], bucket, 1);
}

/* Takes the top frame off the stack into its node, as one of weight 1. */
static inline __attribute__((always_inline)) void leave(struct probe_frame *f, uint64_t ticks)
{
	struct probe_local *l = &probe_local;
	struct probe_node *node = f->node;
	struct probe_window *w = f->window;
	uint32_t i = histogram_bucket_raw(ticks) - w->low, count;

	f[-1].below += ticks;
	ADD(node->below, f->below);
	STORE(f->token, 0);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	STORE(l->top, f - 1); /* two stores: joined into one they would be slower to read back */
	STORE(l->recent, node);
	ADD(node->sum, ticks);
	ADD(node->timed, 1);
	if (ticks < node->min)
		STORE(node->min, ticks);
	if (ticks > node->max)
		STORE(node->max, ticks);
	if (UNLIKELY(i >= w->n)) {
		count_outside(node, ticks);
		return;
	}
	count = w->counts[i] + 1;
	STORE(w->counts[i], count);
	if (UNLIKELY((int32_t)count < 0))
		nodes_halve(w);
}

/* The same for a call without context. */
static COLD void leave_nowhere(struct probe_frame *f, uint64_t ticks)
{
	struct shared_end end = { ticks, f->weight, f->below };

	frame_ends(f);
	shared_end(frame_id(f), &end);
	f[-1].below += ticks * f->weight;
	STORE(f->token, 0);
	thread_set_top(f - 1);
}

/* The call was on the stack for others only: for the one above, what it called counts. */
static COLD void leave_hidden(struct probe_frame *f)
{
	frame_ends(f);
	f[-1].below += f->below;
	STORE(f->token, 0);
	thread_set_top(f - 1);
}

/* Adds what a frame of more weight than 1 has more. */
static void leave_weight(struct probe_frame *f, uint64_t ticks)
{
	uint64_t more = f->weight - 1;

	f[-1].below += ticks * more;
	f->below *= f->weight;
	ADD(f->node->weighted, ticks * more);
	ADD(f->node->weight, more);
}

/* The frame of a call on the part of the stack that runs now, or NULL.  Calls that lie higher
 * began later, so the search ends soon. */
static struct probe_frame *frame_of(uint32_t id, uint64_t token)
{
	struct probe_frame *f = probe_local.top;

	for (; !frame_is_nobodys(f) && (f->token | 1) >= token; f--)
		if (f->token == token && frame_id(f) == id)
			return f;
	return NULL;
}

/* The exit of the top frame never came. */
static COLD void lose_top(void)
{
	struct probe_frame *f = probe_local.top;
	uint32_t id = frame_id(f);

	SHARED_ADD(probe.lost, 1);
	frame_ends(f);
	if (frame_is_hidden(f))
		; /* nothing waits for it */
	else if (f->node == &probe_nowhere)
		SHARED_ADD(probe.methods[id].lost, 1);
	else
		ADD(nodes_head(probe_local.mine, id, false)->lost, 1);
	STORE(f->token, 0);
	thread_set_top(f - 1);
}

/* Puts the call into the ring when somebody wants it. */
static void tell(const struct probe_frame *f, struct probe_call *call)
{
	const struct probe_method *m = &probe.methods[call->id];

	if (LOAD(m->one_in) & ONE_IN_DATA && call->ticks >= LOAD(m->at_least))
		call_facts_put(probe_local.mine, f, call);
}

/* An exit whose call is not on the stack: the time is right, the context unknown. */
static COLD void exit_stray(uint64_t token, struct probe_call *call)
{
	struct probe_method *m = &probe.methods[call->id];
	uint32_t one_in = LOAD(m->one_in) & ONE_IN_N;
	struct shared_end end = { call->ticks, one_in ? one_in : 1, 0 };

	if (probe_local.mine || !probe_local.wait)
		SHARED_ADD(probe.strayed, 1); /* but not of a thread that shares */
	if (context_may_hide(call->id))
		return; /* perhaps it was not to be reported */
	if (call->thrown)
		SHARED_ADD(m->errors, 1);
	shared_end(call->id, &end);
	if (token & 1)
		tell(NULL, call);
}

static uint64_t ticks_between(uint64_t token, uint64_t now)
{
	int64_t ticks = (int64_t)(now - (token >> 1));

	return ticks < 1 ? 1 : (uint64_t)ticks; /* counters of two cores need not agree */
}

static APART void exit_other(uint32_t id, uint64_t token, uint64_t now, bool thrown)
{
	struct probe_call call = {
		.id = id, .begin = token >> 1, .ticks = ticks_between(token, now), .thrown = thrown
	};
	struct probe_frame *f;

	if (unseen(id))
		return;
	if (UNLIKELY(probe_local.mine && probe_local.mine->trace))
		trace_exit(id, call.begin, call.begin + call.ticks, thrown);
	f = frame_of(id, token);
	if (UNLIKELY(!f)) {
		exit_stray(token, &call);
		return;
	}
	while (UNLIKELY(probe_local.top != f))
		lose_top();
	if (UNLIKELY(frame_is_hidden(f))) {
		leave_hidden(f);
		return;
	}
	if (UNLIKELY(f->id & ID_METERED))
		meter_end(probe_local.mine, f, call.ticks);
	if (token & 1)
		tell(f, &call);
	if (probe_local.mine->facts_n > 0)
		call_facts_forget(probe_local.mine, f);
	if (UNLIKELY(f->node == &probe_nowhere)) {
		if (thrown)
			SHARED_ADD(probe.methods[id].errors, 1);
		leave_nowhere(f, call.ticks);
		return;
	}
	if (thrown)
		ADD(f->node->errors, 1);
	if (UNLIKELY(f->id & ID_TYPED))
		types_event(probe_local.mine,
			    &(struct types_event){ .transition = thrown ? TRANSITION_THROW
									: TRANSITION_RETURN,
						   .id = id,
						   .from = f,
						   .to = f - 1,
						   .tick = call.begin + call.ticks });
	if (f->id & ID_SLOW && f->weight != 1)
		leave_weight(f, call.ticks);
	frame_ends(f);
	leave(f, call.ticks);
}

PROBE_NEAR void probe_exit(uint32_t id, uint64_t token)
{
	struct probe_frame *f = probe_local.top;
	uint64_t now, ticks;

	READ_NOW(f);
	now = tick_now();
	ticks = now - (token >> 1);
	if (UNLIKELY(f->token != token || f->id != id || (int64_t)ticks <= 0)) {
		exit_other(id, token, now, false);
		return;
	}
	leave(f, ticks);
}

/* The error of a call that was not timed belongs to the node at which it was counted, if that
 * can be found. */
static COLD void thrown_untimed(uint32_t id)
{
	struct probe_thread *t = probe_local.mine;
	struct probe_node *node;

	if (unseen(id))
		return;
	node = t ? nodes_find(t, frame_context(probe_local.top), id) : NULL;
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

/* Takes one off what a thread, or all of them, has counted. */
static void uncount(struct probe_node *node, uint32_t id, bool timed)
{
	if (node && timed && LOAD(node->begun)) {
		ADD(node->begun, (uint64_t)-1);
	} else if (node && !timed && LOAD(node->counted)) {
		ADD(node->counted, (uint64_t)-1);
	} else if (!node) {
		SHARED_ADD(probe.methods[id].calls, (uint64_t)-1);
		if (timed)
			SHARED_ADD(probe.methods[id].begun, (uint64_t)-1);
	}
}

void probe_undo(uint32_t id, uint64_t token)
{
	struct probe_thread *t = probe_local.mine;
	struct probe_node *node;
	struct probe_frame *f;

	if (unseen(id) || id == 0)
		return;
	if (token == 0) {
		node = t ? nodes_find(t, frame_context(probe_local.top), id) : NULL;
		if (node || !context_has_sequences(id)) /* else perhaps it was not counted */
			uncount(node, id, false);
		return;
	}
	if (UNLIKELY(t && t->trace))
		trace_undo(id, token >> 1);
	f = frame_of(id, token);
	if (!f) {
		uncount(NULL, id, true);
		return;
	}
	while (UNLIKELY(probe_local.top != f))
		lose_top();
	if (t->facts_n > 0)
		call_facts_forget(t, f);
	node = f->node == &probe_nowhere ? NULL : f->node;
	if (!frame_is_hidden(f))
		uncount(node, id, true);
	frame_ends(f);
	f[-1].below += f->below; /* what it called was called by its caller, as far as is seen */
	STORE(f->token, 0);
	thread_set_top(f - 1);
}

void probe_leave_hidden(uint32_t id, uint64_t token)
{
	struct probe_frame *f = unseen(id) || !probe_local.mine ? NULL : frame_of(id, token);

	if (!f || !frame_is_hidden(f))
		return;
	while (UNLIKELY(probe_local.top != f))
		lose_top();
	leave_hidden(f);
}

/* With one in N timed, a call that tells its bytes stands for N. */
void probe_bytes(uint32_t id, uint64_t count)
{
	struct probe_frame *f = probe_local.top;
	struct probe_head *head;

	if (unseen(id))
		return;
	while (!frame_is_nobodys(f) && frame_id(f) != id)
		f--;
	if (!frame_is_nobodys(f) && frame_is_hidden(f))
		return;
	if (!frame_is_nobodys(f) && f->id & ID_SLOW)
		count *= f->weight;
	head = probe_local.mine ? nodes_head(probe_local.mine, id, false) : NULL;
	if (head)
		ADD(head->bytes, count);
	else
		SHARED_ADD(probe.methods[id].bytes, count);
}
