/* SPDX-License-Identifier: Apache-2.0 */
/* check_infer.c - type inference (JVMS 4.10.2), for class files without frames.
 *
 * The state at each place that code can jump to is worked out: it begins as the first one that
 * reaches it and is merged with every other, until nothing changes.  Code that nothing reaches is
 * not looked at.
 *
 * A subroutine (jsr ... ret) may be called with different types in locals that it does not touch.
 * So each call of it is gone through on its own: a state belongs to a place and a chain of calls,
 * and a return address is the number of its call.  Code made by compilers nests few calls; what is
 * made to have very many meets the limit on work. */
#include "classfile/check/check_priv.h"

#include "base/arena.h"
#include "classfile/check/check_nodes.h"

enum { ROOM_BASE = 1 << 16, ROOM_PER_INSN = 64, ROOM_PER_LOCAL = 16 }; /* slots kept in states */

struct call { /* number 0: the method itself */
	uint32_t parent;
	uint32_t children, sibling; /* chain of calls made inside this one; 0: none */
	const struct insn *jsr, *entry;
	uint32_t depth;
};

struct state {
	struct state *sibling; /* at the same place, in another chain of calls */
	struct state *queued;  /* the next one to be gone through */
	struct spot *spot;
	uint32_t call;
	uint32_t n_locals, depth;
	bool this_uninit, in_queue;
	ctype slots[]; /* locals, then stack */
};

/* The handlers in force from some place on. */
struct cover {
	uint32_t n;
	uint32_t handlers[];
};

struct border {
	uint32_t next; /* 1 + index; 0: the last one */
	uint32_t handler;
	bool ends;
};

/* A place that code can jump to, or where a handler's range begins or ends. */
struct spot {
	const struct insn *node;
	struct state *states;
	const struct cover *cover; /* from here on; NULL: none */
	uint32_t borders;	   /* 1 + index of the first */
	bool is_target;
	/* Behind a jsr that was run where its subroutine was being run already, or was not: */
	bool called_inside, called_outside;
};

struct inference {
	struct check c;
	struct arena mem;
	struct nodes at; /* node -> 1 + index of its spot */
	struct spot *spots;
	uint32_t n_spots;
	struct border *borders;
	struct call *calls;
	uint32_t n_calls, cap_calls;
	struct state *queue;
	uint64_t room; /* slots that may still be kept */
};

/* ---- preparing ---- */

static struct spot *spot_at(const struct inference *in, const struct insn *node)
{
	uint32_t number = nodes_get(&in->at, node);

	return number ? &in->spots[number - 1] : NULL;
}

static struct spot *add_spot(struct inference *in, const struct insn *node)
{
	uint32_t number = nodes_put(&in->at, node, in->n_spots + 1);

	if (number == in->n_spots + 1)
		in->spots[in->n_spots++] = (struct spot){ .node = node };
	return &in->spots[number - 1];
}

static void add_target(struct inference *in, const struct insn *node)
{
	add_spot(in, node)->is_target = true;
}

static void add_border(struct inference *in, const struct insn *node, uint32_t handler, bool ends)
{
	struct spot *spot = add_spot(in, node);
	uint32_t number = 1 + 2 * handler + ends;

	in->borders[number - 1] = (struct border){ spot->borders, handler, ends };
	spot->borders = number;
}

static bool is_call(const struct insn *n)
{
	return n->op == OP_JSR || n->op == OP_JSR_W;
}

/* At most this many spots; counts instructions, too. */
static size_t count_spots(const struct code *code, size_t *insns)
{
	size_t n = 1 + 3 * (size_t)code->n_handlers;

	*insns = 0;
	for (const struct insn *at = code->start; at; at = at->next) {
		if (at->op == OP_LABEL)
			continue;
		*insns += at->op == OP_RUN ? at->size : 1;
		if (op_is_switch(at->op))
			n += 1 + (size_t)at->sw->n;
		else if (op_is_branch(at->op))
			n += is_call(at) ? 2 : 1;
	}
	return n;
}

static int check_run_operands(struct check *c, const struct insn *run)
{
	uint32_t end = (uint32_t)run->old + run->size;
	int rc = 0;

	for (uint32_t pc = run->old; pc < end && rc == 0;) {
		pc += run_insn(c->code, pc, &c->in_run);
		c->at = &c->in_run;
		rc = check_operands(c);
	}
	return rc;
}

static int find_spots(struct inference *in)
{
	const struct code *code = in->c.code;

	for (const struct insn *at = code->start; at; at = at->next) {
		int rc;

		in->c.at = at;
		rc = at->op == OP_RUN ? check_run_operands(&in->c, at) : check_operands(&in->c);
		if (rc < 0)
			return rc;
		if (op_is_switch(at->op)) {
			add_target(in, at->sw->other);
			for (uint32_t i = 0; i < at->sw->n; i++)
				add_target(in, at->sw->cases[i].target);
		} else if (op_is_branch(at->op)) {
			add_target(in, at->target);
			if (is_call(at))
				add_target(in, at->next);
		}
	}
	for (uint32_t i = 0; i < code->n_handlers; i++) {
		const struct handler *h = &code->handlers[i];
		ctype type;
		int rc = check_catch_type(&in->c, h, &type);

		if (rc < 0)
			return rc;
		if (h->start == h->end)
			continue;
		add_target(in, h->handler);
		add_border(in, h->start, i, false);
		add_border(in, h->end, i, true);
	}
	return 0;
}

/* Open ranges as a list of handlers; made anew where a range begins or ends. */
static int cross_borders(struct inference *in, struct spot *spot, uint32_t *open, uint32_t *n_open)
{
	struct cover *cover;
	int rc;

	for (uint32_t number = spot->borders; number; number = in->borders[number - 1].next) {
		const struct border *b = &in->borders[number - 1];
		uint32_t i = 0;

		while (i < *n_open && open[i] != b->handler)
			i++;
		if (b->ends != (i < *n_open))
			return code_fault(in->c.code, spot->node, in->c.fault, E_HANDLER,
					  "exception table entry %u ends before it begins",
					  b->handler);
		rc = check_work(&in->c, *n_open + 1);
		if (rc < 0)
			return rc;
		if (b->ends)
			open[i] = open[--*n_open];
		else
			open[(*n_open)++] = b->handler;
	}
	if (*n_open / 4 > in->room)
		return check_work(&in->c, SIZE_MAX / 4);
	in->room -= *n_open / 4;
	cover = arena_alloc(&in->mem, sizeof(*cover) + *n_open * sizeof(cover->handlers[0]));
	if (!cover)
		return check_no_memory(&in->c);
	cover->n = *n_open;
	memcpy(cover->handlers, open, *n_open * sizeof(*open));
	spot->cover = cover;
	return 0;
}

static int find_covers(struct inference *in)
{
	const struct code *code = in->c.code;
	const struct cover *cover = NULL;
	uint32_t *open, n_open = 0;

	open = arena_alloc(&in->mem, (code->n_handlers + 1u) * sizeof(*open));
	if (!open)
		return check_no_memory(&in->c);
	for (const struct insn *n = code->start; n && code->n_handlers; n = n->next) {
		struct spot *spot = spot_at(in, n);
		int rc;

		if (!spot)
			continue;
		if (spot->borders) {
			rc = cross_borders(in, spot, open, &n_open);
			if (rc < 0)
				return rc;
			cover = spot->cover;
		}
		spot->cover = cover;
	}
	if (n_open)
		return code_fault(code, code->end, in->c.fault, E_HANDLER,
				  "exception table entry %u does not end", open[0]);
	return 0;
}

static int prepare(struct inference *in)
{
	const struct code *code = in->c.code;
	size_t insns, n = count_spots(code, &insns);
	int rc;

	in->c.infer = true;
	in->c.work += (int64_t)insns * CHECK_WORK_PER_INSN;
	in->room = ROOM_BASE + insns * ROOM_PER_INSN + (size_t)code->max_locals * ROOM_PER_LOCAL;
	in->spots = arena_alloc(&in->mem, n * sizeof(*in->spots));
	in->borders =
		arena_alloc(&in->mem, (2 * (size_t)code->n_handlers + 1) * sizeof(*in->borders));
	in->cap_calls = 16;
	in->calls = arena_alloc(&in->mem, in->cap_calls * sizeof(*in->calls));
	if (!in->spots || !in->borders || !in->calls || !nodes_init(&in->at, n))
		return check_no_memory(&in->c);
	in->calls[0] = (struct call){ 0 };
	in->n_calls = 1;
	add_target(in, code->start);
	rc = find_spots(in);
	return rc < 0 ? rc : find_covers(in);
}

/* ---- states ---- */

static void enqueue(struct inference *in, struct state *s)
{
	if (s->in_queue)
		return;
	s->in_queue = true;
	s->queued = in->queue;
	in->queue = s;
}

static int new_state(struct inference *in, struct spot *spot, uint32_t call)
{
	struct check *c = &in->c;
	uint32_t n = c->n_locals;
	struct state *s;

	while (n && c->locals[n - 1] == CT_TOP)
		n--;
	if (n + c->depth + 8 > in->room)
		return check_work(c, SIZE_MAX / 4);
	in->room -= n + c->depth + 8;
	s = arena_alloc(&in->mem, sizeof(*s) + ((size_t)n + c->depth) * sizeof(s->slots[0]));
	if (!s)
		return check_no_memory(c);
	*s = (struct state){ .sibling = spot->states,
			     .spot = spot,
			     .call = call,
			     .n_locals = n,
			     .depth = c->depth,
			     .this_uninit = c->this_uninit };
	memcpy(s->slots, c->locals, n * sizeof(s->slots[0]));
	memcpy(s->slots + n, c->stack, c->depth * sizeof(s->slots[0]));
	spot->states = s;
	enqueue(in, s);
	return 0;
}

static int merge_state(struct inference *in, struct state *s)
{
	struct check *c = &in->c;
	ctype *stack = s->slots + s->n_locals;
	char place[CHECK_PLACE], a[CT_TEXT], b[CT_TEXT];
	bool changed = c->this_uninit && !s->this_uninit;

	if (s->depth != c->depth)
		return check_fail(c, "%u slots on the stack, %u on another way to %s", c->depth,
				  s->depth, check_place(s->spot->node, place));
	for (uint32_t i = 0; i < s->depth; i++) {
		ctype t = ct_merge(c->pool, stack[i], c->stack[i]);

		if (t == CT_TOP && stack[i] != CT_TOP)
			return check_fail(c, "stack slot %u is %s, but %s on another way to %s", i,
					  ct_text(c->pool, c->stack[i], a),
					  ct_text(c->pool, stack[i], b),
					  check_place(s->spot->node, place));
		changed |= t != stack[i];
		stack[i] = t;
	}
	for (uint32_t i = 0; i < s->n_locals; i++) {
		ctype have = i < c->n_locals ? c->locals[i] : CT_TOP;
		ctype t = s->slots[i] == have ? have : ct_merge(c->pool, s->slots[i], have);

		changed |= t != s->slots[i];
		s->slots[i] = t;
	}
	s->this_uninit |= c->this_uninit;
	if (changed)
		enqueue(in, s);
	return 0;
}

/* The state in hand reaches this place. */
static int reach(struct inference *in, const struct insn *node, uint32_t call)
{
	struct spot *spot = spot_at(in, node);
	struct state *s = spot->states;
	size_t steps = 1;
	int rc;

	for (; s && s->call != call; s = s->sibling)
		steps++;
	rc = check_work(&in->c, steps + in->c.n_locals + in->c.depth);
	if (rc < 0)
		return rc;
	return s ? merge_state(in, s) : new_state(in, spot, call);
}

static int reach_handlers(struct inference *in, const struct cover *cover, uint32_t call)
{
	struct check *c = &in->c;
	uint32_t depth = c->depth;
	ctype kept;
	int rc = 0;

	if (!c->code->max_stack)
		return check_overflow(c);
	kept = c->stack[0];
	c->depth = 1;
	for (uint32_t i = 0; i < cover->n && rc == 0; i++) {
		const struct handler *h = &c->code->handlers[cover->handlers[i]];

		rc = check_catch_type(c, h, &c->stack[0]);
		if (rc == 0)
			rc = reach(in, h->handler, call);
	}
	c->stack[0] = kept;
	c->depth = depth;
	c->dirty = UINT32_MAX;
	c->dirty_end = 0;
	return rc;
}

static void load_state(struct check *c, const struct state *s)
{
	c->n_locals = s->n_locals;
	c->depth = s->depth;
	c->this_uninit = s->this_uninit;
	memcpy(c->locals, s->slots, s->n_locals * sizeof(*c->locals));
	memcpy(c->stack, s->slots + s->n_locals, s->depth * sizeof(*c->stack));
	c->local_uninit = false;
	for (uint32_t i = 0; i < s->n_locals; i++)
		c->local_uninit |= c->locals[i] == CT_UNINIT_THIS ||
				   ct_kind(c->locals[i]) == CT_UNINIT;
}

/* ---- subroutines ---- */

/* The number of the call that this jsr makes inside the call `inside`. */
static int call_number(struct inference *in, const struct insn *jsr, uint32_t inside)
{
	struct call *calls = in->calls;
	bool recursive = false;
	uint32_t number;
	int rc;

	/* A subroutine that is left by a jump and entered again is no deeper than before. */
	for (uint32_t i = inside; i; i = calls[i].parent)
		if (calls[i].entry == jsr->target) {
			inside = calls[i].parent;
			recursive = true;
		}
	if (recursive)
		spot_at(in, jsr->next)->called_inside = true;
	else
		spot_at(in, jsr->next)->called_outside = true;
	rc = check_work(&in->c, 64 + calls[inside].depth);
	if (rc < 0)
		return rc;
	for (number = calls[inside].children; number; number = calls[number].sibling) {
		if (calls[number].jsr == jsr)
			return (int)number;
		rc = check_work(&in->c, 1);
		if (rc < 0)
			return rc;
	}
	if (in->n_calls == in->cap_calls) {
		calls = arena_alloc(&in->mem, 2 * (size_t)in->cap_calls * sizeof(*calls));
		if (!calls)
			return check_no_memory(&in->c);
		memcpy(calls, in->calls, in->n_calls * sizeof(*calls));
		in->calls = calls;
		in->cap_calls *= 2;
	}
	number = in->n_calls++;
	calls[number] = (struct call){ .parent = inside,
				       .sibling = calls[inside].children,
				       .jsr = jsr,
				       .entry = jsr->target,
				       .depth = calls[inside].depth + 1 };
	calls[inside].children = number;
	return (int)number;
}

static int enter_subroutine(struct inference *in, uint32_t call)
{
	struct check *c = &in->c;
	int number = call_number(in, c->at, call), rc;

	if (number < 0)
		return number;
	rc = check_push1(c, ct_return((uint32_t)number));
	return rc < 0 ? rc : reach(in, c->at->target, (uint32_t)number);
}

static int leave_subroutine(struct inference *in, uint32_t call)
{
	struct check *c = &in->c;
	uint32_t slot = c->at->index, number;

	if (slot >= c->n_locals || ct_kind(c->locals[slot]) != CT_RETURN)
		return check_bad_local(c, slot, "a return address");
	number = (uint32_t)(c->locals[slot] >> 8);
	while (call && call != number)
		call = in->calls[call].parent;
	if (!call)
		return check_fail(c, "returns from a subroutine that is not being run");
	return reach(in, in->calls[call].jsr->next, in->calls[call].parent);
}

/* ---- the walk ---- */

static int reach_targets(struct inference *in, uint32_t call)
{
	const struct insn *n = in->c.at, *last;
	int rc;

	if (!op_is_switch(n->op))
		return reach(in, n->target, call);
	last = n->sw->other;
	rc = reach(in, last, call);
	for (uint32_t i = 0; i < n->sw->n && rc == 0; i++) {
		if (n->sw->cases[i].target != last)
			rc = reach(in, n->sw->cases[i].target, call);
		last = n->sw->cases[i].target;
	}
	return rc;
}

/* One instruction; 1: the next one is reached. */
static int step(struct inference *in, const struct cover *cover, uint32_t call)
{
	struct check *c = &in->c;
	const struct insn *n = c->at;
	int rc = check_work(c, 1);

	if (rc == 0 && cover && cover->n && c->dirty < c->dirty_end)
		rc = reach_handlers(in, cover, call);
	if (rc == 0)
		rc = check_insn(c);
	if (rc < 0)
		return rc;
	if (is_call(n))
		return enter_subroutine(in, call);
	if (n->op == OP_RET)
		return leave_subroutine(in, call);
	if (op_is_branch(n->op) || op_is_switch(n->op))
		rc = reach_targets(in, call);
	return rc < 0 ? rc : !op_ends_block(n->op);
}

static int step_through(struct inference *in, const struct insn *run, const struct cover *cover,
			uint32_t call)
{
	uint32_t end = (uint32_t)run->old + run->size;
	int rc = 1;

	for (uint32_t pc = run->old; pc < end && rc > 0;) {
		pc += run_insn(in->c.code, pc, &in->c.in_run);
		in->c.at = &in->c.in_run;
		rc = step(in, cover, call);
	}
	return rc;
}

/* From the state's place to the next one that has states. */
static int run_from(struct inference *in, const struct state *s)
{
	struct check *c = &in->c;
	const struct cover *cover = s->spot->cover;
	const struct insn *n = s->spot->node;
	int rc = 1;

	load_state(c, s);
	c->dirty = 0;
	c->dirty_end = UINT32_MAX;
	for (; rc > 0; n = n->next) {
		struct spot *spot;

		c->at = n;
		if (n == c->code->end)
			return check_fail(c, "control falls off the end of the code");
		if (n->op == OP_LABEL || is_call(n->prev)) {
			spot = n == s->spot->node ? NULL : spot_at(in, n);
			if (spot && spot->is_target)
				return reach(in, n, s->call);
			if (spot && spot->cover != cover) {
				cover = spot->cover;
				c->dirty = 0;
				c->dirty_end = UINT32_MAX;
			}
		}
		if (n->op == OP_RUN)
			rc = step_through(in, n, cover, s->call);
		else if (n->op != OP_LABEL)
			rc = step(in, cover, s->call);
	}
	return rc;
}

/* A jsr that is only ever run inside the subroutine that it calls. */
static int find_recursion(struct inference *in)
{
	for (uint32_t i = 0; i < in->n_spots; i++)
		if (in->spots[i].called_inside && !in->spots[i].called_outside) {
			in->c.at = in->spots[i].node->prev;
			return check_fail(&in->c, "a subroutine calls itself");
		}
	return 0;
}

int check_infer(const struct code *code, struct fault *f)
{
	struct inference in;
	int rc = check_begin(&in.c, code, f);

	arena_init(&in.mem);
	in.at.slots = NULL;
	in.n_spots = 0;
	in.queue = NULL;
	if (rc == 0)
		rc = prepare(&in);
	if (rc == 0)
		rc = check_load_frame(&in.c, &code->first);
	if (rc == 0)
		rc = reach(&in, code->start, 0);
	while (rc == 0 && in.queue) {
		struct state *s = in.queue;

		in.queue = s->queued;
		s->in_queue = false;
		rc = run_from(&in, s);
	}
	if (rc == 0)
		rc = find_recursion(&in);
	nodes_release(&in.at);
	arena_release(&in.mem);
	check_end(&in.c);
	return rc;
}
