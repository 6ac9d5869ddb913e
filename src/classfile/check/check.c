/* SPDX-License-Identifier: Apache-2.0 */
/* check.c - type checking by frames (JVMS 4.10.1), in one pass over the list.
 *
 * The state flows from instruction to instruction.  Where a label has a frame, the state must be
 * assignable to it and then becomes it; the same holds at the target of each branch.  While an
 * exception handler covers an instruction, the locals before the instruction must be assignable to
 * the handler's frame.  Comparing them for each instruction would be slow: they are compared when a
 * range or a frame begins, and afterwards only the locals that have changed. */
#include "classfile/check/check_priv.h"

#include "classfile/check/check_nodes.h"

/* A place that one or more handlers lead to. */
struct jump_target {
	const struct insn *label;
	const struct frame *frame;
	uint32_t open; /* how many of the ranges that lead here are open */
	bool fresh;    /* opened, and not compared yet */
};

/* The beginning or end of a handler's range, in a chain per label. */
struct border {
	uint32_t next; /* 1 + index; 0: the last one */
	uint32_t handler;
	bool ends;
};

struct pass {
	struct check c;
	struct nodes at_label; /* label -> 1 + index of its first border */
	struct border *borders;
	struct jump_target *targets;
	uint32_t *target_of; /* [handler] */
	uint32_t *open;	     /* the targets with open ranges */
	uint32_t n_open, n_targets;
	bool *is_open; /* [handler] */
	void *memory;  /* of all these arrays */
};

/* ---- comparing the state with a frame ---- */

/* The frame at a label, or at another label of the same place. */
static const struct frame *frame_at(const struct insn *label)
{
	const struct insn *n;

	for (n = label; n && n->op == OP_LABEL; n = n->next)
		if (n->frame)
			return n->frame;
	for (n = label->prev; n && n->op == OP_LABEL; n = n->prev)
		if (n->frame)
			return n->frame;
	return NULL;
}

struct difference {
	const char *what; /* "local" or "stack slot" */
	uint32_t slot;
	ctype have, want;
};

__attribute__((cold)) static int mismatch(struct check *c, const struct insn *label,
					  struct difference d)
{
	char have[CT_TEXT], want[CT_TEXT], place[CHECK_PLACE];

	return check_fail(c, "%s %u is %s, but the frame at %s wants %s", d.what, d.slot,
			  ct_text(c->pool, d.have, have), check_place(label, place),
			  ct_text(c->pool, d.want, want));
}

struct slots { /* of slots; `to` is exclusive */
	uint32_t from, to;
};

static const struct slots all_slots = { 0, UINT32_MAX };

/* Compares the locals in some slots with those of the frame at a label. */
static int match_locals(struct check *c, const struct frame *frame, const struct insn *label,
			struct slots span)
{
	const struct code *code = c->code;
	uint32_t slot = 0, i;

	for (i = 0; i < frame->n_locals && slot < span.to; i++) {
		vtype t = frame->locals[i];
		uint32_t end = slot + (t == VT_LONG || t == VT_DOUBLE ? 2 : 1);

		if (end > span.from) {
			ctype want = ct_frame(code, t);
			ctype have = slot < c->n_locals ? c->locals[slot] : CT_TOP;

			if (have != want && !ct_assignable(c->cls, have, want))
				return mismatch(c, label,
						(struct difference){ "local", slot, have, want });
		}
		slot = end;
	}
	return check_work(c, i);
}

static int match_stack(struct check *c, const struct frame *frame, const struct insn *label)
{
	uint32_t slot = 0;

	for (uint32_t i = 0; i < frame->n_stack; i++) {
		ctype want = ct_frame(c->code, frame->stack[i]);
		ctype have = slot < c->depth ? c->stack[slot] : CT_TOP;

		if (have != want && !ct_assignable(c->cls, have, want))
			return mismatch(c, label,
					(struct difference){ "stack slot", slot, have, want });
		slot += want == CT_LONG || want == CT_DOUBLE ? 2 : 1;
	}
	if (slot != c->depth) {
		char place[CHECK_PLACE];

		return check_fail(c, "%u slots on the stack, but the frame at %s has %u", c->depth,
				  check_place(label, place), slot);
	}
	return check_work(c, frame->n_stack);
}

/* Before this() or super() only frames that know of it may be reached. */
static int match_flag(struct check *c, const struct frame *frame, const struct insn *label)
{
	char place[CHECK_PLACE];

	if (!c->this_uninit)
		return 0;
	for (uint32_t i = 0; i < frame->n_locals; i++)
		if (frame->locals[i] == VT_UNINIT_THIS)
			return 0;
	return check_fail(c, "this is not initialized, but the frame at %s does not say so",
			  check_place(label, place));
}

/* The same for all of a frame's locals, with the least effort. */
static int match_all_locals(struct check *c, const struct frame *frame, const struct insn *label)
{
	struct slots span = all_slots;
	int rc;

	if (frame->locals == c->matched && frame->n_locals <= c->n_matched)
		return 0;
	if (frame->locals == c->base) { /* shared: only what has changed since can differ */
		span = (struct slots){ c->touched, c->touched_end };
		if (frame->n_locals > c->n_base) {
			span.from = c->touched < c->base_slots ? c->touched : c->base_slots;
			span.to = UINT32_MAX;
		}
	}
	rc = match_locals(c, frame, label, span);
	c->matched = frame->locals;
	c->n_matched = frame->n_locals;
	return rc;
}

static int match_frame(struct check *c, const struct frame *frame, const struct insn *label)
{
	int rc = match_stack(c, frame, label);

	if (rc == 0)
		rc = match_all_locals(c, frame, label);
	if (rc == 0)
		rc = match_flag(c, frame, label);
	return rc;
}

/* ---- exception handlers ---- */

static bool is_empty(const struct handler *h)
{
	const struct insn *n = h->start;

	while (n && n != h->end && n->op == OP_LABEL)
		n = n->next;
	return n == h->end;
}

/* What does not depend on the instructions in the range. */
static int check_handler(struct check *c, const struct handler *h, const struct frame *frame)
{
	char text[CT_TEXT], text2[CT_TEXT];
	ctype type, want;
	int rc = check_catch_type(c, h, &type);

	if (rc < 0)
		return rc;
	c->at = h->handler;
	if (!frame)
		return check_fail(c, "exception handler has no frame");
	if (!c->code->max_stack)
		return check_overflow(c);
	want = frame->n_stack == 1 ? ct_frame(c->code, frame->stack[0]) : CT_LONG;
	if (!ct_assignable(c->cls, type, want))
		return check_fail(c, "exception handler gets %s, its frame wants %s on the stack",
				  ct_text(c->pool, type, text),
				  frame->n_stack == 1 ? ct_text(c->pool, want, text2)
				  : frame->n_stack    ? "more"
						      : "nothing");
	return 0;
}

static void add_border(struct pass *p, const struct insn *label, uint32_t handler, bool ends)
{
	uint32_t number = 1 + 2 * handler + ends;
	struct node_slot *slot = nodes_at(&p->at_label, label);
	struct border *b = &p->borders[number - 1];

	*b = (struct border){ slot->value, handler, ends };
	*slot = (struct node_slot){ label, number };
}

static int prepare_handlers(struct pass *p)
{
	const struct code *code = p->c.code;
	size_t n = code->n_handlers;
	struct nodes seen; /* label -> 1 + index of its target */

	if (!n)
		return 0;
	p->memory = mem_alloc(n * (2 * sizeof(*p->borders) + sizeof(*p->targets) +
				   2 * sizeof(uint32_t) + sizeof(bool)));
	if (!p->memory || !nodes_init(&p->at_label, 2 * n) || !nodes_init(&seen, n))
		return check_no_memory(&p->c);
	p->targets = p->memory;
	p->borders = (struct border *)(p->targets + n);
	p->target_of = (uint32_t *)(p->borders + 2 * n);
	p->open = p->target_of + n;
	p->is_open = memset(p->open + n, 0, n);
	for (uint32_t i = 0; i < n; i++) {
		const struct handler *h = &code->handlers[i];
		const struct frame *frame = frame_at(h->handler);
		uint32_t target;
		int rc;

		if (is_empty(h))
			continue;
		rc = check_handler(&p->c, h, frame);
		if (rc < 0) {
			nodes_release(&seen);
			return rc;
		}
		target = nodes_put(&seen, h->handler, p->n_targets + 1) - 1;
		if (target == p->n_targets)
			p->targets[p->n_targets++] =
				(struct jump_target){ h->handler, frame, 0, false };
		p->target_of[i] = target;
		add_border(p, h->start, i, false);
		add_border(p, h->end, i, true);
	}
	nodes_release(&seen);
	return 0;
}

static void close_target(struct pass *p, uint32_t target)
{
	uint32_t i = 0;

	while (p->open[i] != target)
		i++;
	p->open[i] = p->open[--p->n_open];
}

/* Ranges that begin or end at this label. */
static int cross_borders(struct pass *p, const struct insn *label)
{
	uint32_t number = nodes_get(&p->at_label, label);

	while (number) {
		const struct border *b = &p->borders[number - 1];
		uint32_t target = p->target_of[b->handler];
		struct jump_target *t = &p->targets[target];
		int rc = check_work(&p->c, 1 + (b->ends ? p->n_open : 0));

		if (rc < 0)
			return rc;
		if (b->ends != p->is_open[b->handler])
			return code_fault(p->c.code, label, p->c.fault, E_HANDLER,
					  "exception table entry %u ends before it begins",
					  b->handler);
		p->is_open[b->handler] = !b->ends;
		if (b->ends && --t->open == 0)
			close_target(p, target);
		if (!b->ends && t->open++ == 0) {
			p->open[p->n_open++] = target;
			t->fresh = true;
		}
		number = b->next;
	}
	return 0;
}

/* The locals here may be the ones that a handler gets. */
static int match_handlers(struct pass *p)
{
	struct check *c = &p->c;
	struct slots changed = { c->dirty, c->dirty_end };
	bool dirty = c->dirty < c->dirty_end;

	for (uint32_t i = 0; i < p->n_open; i++) {
		struct jump_target *t = &p->targets[p->open[i]];
		int rc;

		if (!t->fresh && !dirty)
			continue;
		rc = match_locals(c, t->frame, t->label, t->fresh ? all_slots : changed);
		if (rc == 0)
			rc = match_flag(c, t->frame, t->label);
		if (rc < 0)
			return rc;
		t->fresh = false;
	}
	c->dirty = UINT32_MAX;
	c->dirty_end = 0;
	return check_work(c, dirty ? p->n_open : 0);
}

/* ---- the pass ---- */

static int match_target(struct pass *p, const struct insn *label)
{
	const struct frame *frame = frame_at(label);
	char place[CHECK_PLACE];

	if (!frame)
		return check_fail(&p->c, "there is no frame at its target, %s",
				  check_place(label, place));
	return match_frame(&p->c, frame, label);
}

static int match_targets(struct pass *p)
{
	const struct insn *n = p->c.at, *last;
	int rc;

	if (!op_is_switch(n->op))
		return match_target(p, n->target);
	last = n->sw->other;
	rc = match_target(p, last);
	for (uint32_t i = 0; i < n->sw->n && rc == 0; i++) {
		if (n->sw->cases[i].target != last)
			rc = match_target(p, n->sw->cases[i].target);
		last = n->sw->cases[i].target;
	}
	return rc < 0 ? rc : check_work(&p->c, n->sw->n / 64);
}

/* One instruction in code that can be reached. */
static int step(struct pass *p)
{
	struct check *c = &p->c;
	int rc = 0;

	c->work += CHECK_WORK_PER_INSN;
	c->in_range = p->n_open > 0;
	if (c->in_range)
		rc = match_handlers(p);
	if (rc == 0)
		rc = check_insn(c);
	if (rc < 0)
		return rc;
	if (c->initialized) { /* a JVM compares before and after such a call */
		c->initialized = false;
		if (c->in_range)
			rc = match_handlers(p);
	}
	if (rc == 0 && (op_is_branch(c->at->op) || op_is_switch(c->at->op)))
		rc = match_targets(p);
	return rc;
}

static int step_through(struct pass *p, const struct insn *run)
{
	uint32_t end = (uint32_t)run->old + run->size;
	int rc = 0;

	for (uint32_t pc = run->old; pc < end && rc == 0;) {
		pc += run_insn(p->c.code, pc, &p->c.in_run);
		p->c.at = &p->c.in_run;
		rc = step(p);
	}
	return rc;
}

static int walk(struct pass *p)
{
	struct check *c = &p->c;
	const struct code *code = c->code;
	bool reached = true;
	int rc = check_load_frame(c, &code->first);

	for (const struct insn *n = code->start; rc == 0 && n; n = n->next) {
		c->at = n;
		if (n->op == OP_LABEL) {
			if (n->frame) {
				rc = reached ? match_frame(c, n->frame, n) : 0;
				if (rc == 0)
					rc = check_load_frame(c, n->frame);
				reached = true;
			}
			if (rc == 0 && code->n_handlers)
				rc = cross_borders(p, n);
			continue;
		}
		if (!reached)
			return check_fail(
				c, "no frame here, and the instruction before does not go on");
		rc = n->op == OP_RUN ? step_through(p, n) : step(p);
		reached = !op_ends_block(n->op);
	}
	if (rc < 0)
		return rc;
	if (reached) {
		c->at = code->end->prev;
		return check_fail(c, "control falls off the end of the code");
	}
	for (uint32_t i = 0; i < code->n_handlers; i++)
		if (p->is_open[i])
			return code_fault(code, code->end, c->fault, E_HANDLER,
					  "exception table entry %u does not end", i);
	return 0;
}

static int check_typed(const struct code *code, struct fault *f)
{
	struct pass p;
	int rc = check_begin(&p.c, code, f);

	p.at_label.slots = NULL;
	p.memory = NULL;
	p.n_open = p.n_targets = 0;
	if (rc == 0)
		rc = prepare_handlers(&p);
	if (rc == 0)
		rc = walk(&p);
	nodes_release(&p.at_label);
	mem_free(p.memory);
	check_end(&p.c);
	return rc;
}

int code_check(const struct code *code, struct fault *f)
{
	struct fault ignored = { 0 };
	int rc;

	if (code->cls->major > 50)
		return check_typed(code, f);
	if (code->cls->major == 50) { /* a JVM, too, tries again without the frames */
		rc = check_typed(code, &ignored);
		if (rc == 0)
			return 0;
		if (rc == E_NO_MEMORY)
			return fault_set(f, rc, -1, "out of memory");
	}
	return check_infer(code, f);
}
