/* SPDX-License-Identifier: Apache-2.0 */
/* measure.c - how deep the stack gets, from the instructions alone.
 *
 * Each stretch between two places that can be jumped to is gone through once, at the depth at which
 * it was first reached; any other way to it must come at the same depth (JVMS 4.9.2).  Code that
 * nothing reaches is not counted.
 *
 * Whether a subroutine (jsr) comes back, and where to, is not looked into.  The code behind a jsr
 * is gone through last, as if the subroutine left the stack as it found it; where that guess leads
 * to a contradiction, the code is not reached that way. */
#include "classfile/check_nodes.h"
#include "classfile/desc.h"

struct place { /* the method's start, a handler or the target of a branch */
	const struct insn *label;
	uint32_t depth;
	bool reached;
};

struct guess {
	const struct insn *at;
	uint32_t depth;
};

struct measure {
	const struct code *code;
	struct fault *fault;
	struct nodes number; /* label -> 1 + index of its place */
	struct place *places;
	uint32_t n_places;
	uint32_t *pending; /* reached, and yet to be gone through */
	uint32_t n_pending;
	struct guess *guesses; /* behind each jsr that was reached */
	uint32_t n_guesses;
	bool guessing;
	uint32_t deepest;
};

static void add_place(struct measure *m, const struct insn *label)
{
	uint32_t number = nodes_put(&m->number, label, m->n_places + 1);

	if (number == m->n_places + 1)
		m->places[m->n_places++] = (struct place){ label, 0, false };
}

/* A way leads to this place; 1: it is the first. */
static int reach(struct measure *m, uint32_t number, uint32_t depth)
{
	struct place *p = &m->places[number - 1];

	if (!p->reached) {
		p->reached = true;
		p->depth = depth;
		return 1;
	}
	if (p->depth == depth || m->guessing)
		return 0;
	return code_fault(m->code, p->label, m->fault, E_VERIFY,
			  "the stack is %u or %u slots deep, depending on the way here", p->depth,
			  depth);
}

static int jump(struct measure *m, const struct insn *label, uint32_t depth)
{
	uint32_t number = nodes_get(&m->number, label);
	int rc = reach(m, number, depth);

	if (rc > 0)
		m->pending[m->n_pending++] = number;
	return rc < 0 ? rc : 0;
}

static unsigned slots_of(const char *types)
{
	unsigned n = 0;

	for (; *types; types++)
		n += *types == 'J' || *types == 'D' ? 2 : 1;
	return n;
}

static int member_effect(struct measure *m, const struct insn *n, unsigned *pops, unsigned *pushes)
{
	struct pool_ref ref;
	struct desc_iter it;

	if (!pool_ref(&m->code->cls->pool, n->index, &ref))
		return code_fault(m->code, n, m->fault, E_POOL_INDEX, "%s names constant %u",
				  op_table[n->op].name, n->index);
	*pops = *pushes = 0;
	if (op_is_invoke(n->op)) {
		*pops = n->op != OP_INVOKESTATIC && n->op != OP_INVOKEDYNAMIC;
		for (it = desc_args(ref.desc); desc_next(&it);)
			*pops += desc_slots(it.type);
		*pushes = desc_slots(it.type);
		return it.err ? code_fault(m->code, n, m->fault, it.err, "malformed descriptor")
			      : 0;
	}
	if (n->op == OP_GETFIELD || n->op == OP_PUTFIELD)
		*pops = 1;
	if (n->op == OP_GETFIELD || n->op == OP_GETSTATIC)
		*pushes = desc_slots(ref.desc);
	else
		*pops += desc_slots(ref.desc);
	return 0;
}

/* Slots that an instruction takes and leaves. */
static int effect(struct measure *m, const struct insn *n, unsigned *pops, unsigned *pushes)
{
	const struct op_info *op = &op_table[n->op];

	switch (n->op) {
	case OP_LDC:
	case OP_LDC_W:
	case OP_LDC2_W:
		*pops = 0;
		*pushes = n->op == OP_LDC2_W ? 2 : 1;
		return 0;
	case OP_POP:
	case OP_POP2:
		*pops = n->op - OP_POP + 1u;
		*pushes = 0;
		return 0;
	case OP_DUP ... OP_DUP_X2:
		*pops = n->op - OP_DUP + 1u;
		*pushes = *pops + 1;
		return 0;
	case OP_DUP2 ... OP_DUP2_X2:
		*pops = n->op - OP_DUP2 + 2u;
		*pushes = *pops + 2;
		return 0;
	case OP_SWAP:
	case OP_AALOAD:
		*pops = 2;
		*pushes = n->op == OP_SWAP ? 2 : 1;
		return 0;
	case OP_GETSTATIC ... OP_INVOKEDYNAMIC:
		return member_effect(m, n, pops, pushes);
	case OP_MULTIANEWARRAY:
		*pops = (uint8_t)n->arg;
		*pushes = 1;
		return 0;
	default: /* a "*" that is left stands for one slot: astore, new, newarray, checkcast ... */
		*pops = slots_of(op->pops);
		*pushes = slots_of(op->pushes);
		return 0;
	}
}

static int jump_to_targets(struct measure *m, const struct insn *n, uint32_t depth)
{
	int rc;

	if (!op_is_switch(n->op))
		return jump(m, n->target, depth);
	rc = jump(m, n->sw->other, depth);
	for (uint32_t i = 0; i < n->sw->n && rc == 0; i++)
		rc = jump(m, n->sw->cases[i].target, depth);
	return rc;
}

static bool is_call(const struct insn *n)
{
	return n->op == OP_JSR || n->op == OP_JSR_W;
}

/* One instruction; 1: the way ends here, because it began with a wrong guess. */
static int apply(struct measure *m, const struct insn *n, uint32_t *depth)
{
	unsigned pops = 0, pushes = 0;
	int rc = effect(m, n, &pops, &pushes);

	if (rc < 0)
		return rc;
	if (pops > *depth && m->guessing)
		return 1;
	if (pops > *depth)
		return code_fault(m->code, n, m->fault, E_VERIFY,
				  "%s takes %u slots from a stack of %u", op_table[n->op].name,
				  pops, *depth);
	*depth = *depth - pops + pushes;
	m->deepest = *depth > m->deepest ? *depth : m->deepest;
	return 0;
}

static int apply_run(struct measure *m, const struct insn *run, uint32_t *depth)
{
	uint32_t end = (uint32_t)run->old + run->size;
	struct insn n;
	int rc = 0;

	for (uint32_t pc = run->old; pc < end && rc == 0;) {
		pc += run_insn(m->code, pc, &n);
		rc = apply(m, &n, depth);
	}
	return rc;
}

/* Up to a place that was reached before, or the end of control. */
static int go_through(struct measure *m, const struct insn *from, uint32_t depth)
{
	uint32_t number;
	int rc = 0;

	m->deepest = depth > m->deepest ? depth : m->deepest;
	for (const struct insn *n = from; n && rc == 0; n = n->next) {
		if (n->op == OP_LABEL) {
			number = n == from ? 0 : nodes_get(&m->number, n);
			if (number) {
				rc = reach(m, number, depth);
				if (rc <= 0)
					return rc;
				rc = 0;
			}
			continue;
		}
		rc = n->op == OP_RUN ? apply_run(m, n, &depth) : apply(m, n, &depth);
		if (rc)
			return rc < 0 ? rc : 0;
		if (op_is_branch(n->op) || op_is_switch(n->op))
			rc = jump_to_targets(m, n, depth);
		if (is_call(n))
			m->guesses[m->n_guesses++] = (struct guess){ n->next, depth - 1 };
		if (is_call(n) || op_ends_block(n->op))
			break;
	}
	return rc;
}

/* Room for every place; those that several branches lead to are counted again. */
static size_t count_places(const struct code *code, size_t *calls)
{
	size_t n = 1 + (size_t)code->n_handlers;

	*calls = 0;
	for (const struct insn *at = code->start; at; at = at->next) {
		n += op_is_switch(at->op) ? 1 + (size_t)at->sw->n : op_is_branch(at->op);
		*calls += is_call(at);
	}
	return n;
}

static void find_places(struct measure *m)
{
	add_place(m, m->code->start);
	for (const struct insn *at = m->code->start; at; at = at->next) {
		if (op_is_branch(at->op))
			add_place(m, at->target);
		if (!op_is_switch(at->op))
			continue;
		add_place(m, at->sw->other);
		for (uint32_t i = 0; i < at->sw->n; i++)
			add_place(m, at->sw->cases[i].target);
	}
	for (uint32_t i = 0; i < m->code->n_handlers; i++)
		add_place(m, m->code->handlers[i].handler);
}

static int measure(struct measure *m)
{
	uint32_t handler = 0;
	int rc;

	find_places(m);
	rc = jump(m, m->code->start, 0);
	while (rc == 0) {
		if (m->n_pending) {
			const struct place *p = &m->places[m->pending[--m->n_pending] - 1];

			rc = go_through(m, p->label, p->depth);
		} else if (handler < m->code->n_handlers) {
			rc = jump(m, m->code->handlers[handler++].handler, 1);
		} else if (m->n_guesses) {
			const struct guess *g = &m->guesses[--m->n_guesses];

			m->guessing = true;
			rc = go_through(m, g->at, g->depth);
		} else {
			break;
		}
	}
	return rc < 0 ? rc : (int)m->deepest;
}

int code_max_stack(const struct code *code, struct fault *f)
{
	struct measure m = { .code = code, .fault = f };
	size_t calls, n = count_places(code, &calls);
	int rc;

	m.places = mem_alloc(n * sizeof(*m.places) + calls * sizeof(*m.guesses) +
			     n * sizeof(*m.pending));
	if (m.places && nodes_init(&m.number, n)) {
		m.guesses = (struct guess *)(m.places + n);
		m.pending = (uint32_t *)(m.guesses + calls);
		rc = measure(&m);
	} else {
		rc = fault_set(f, E_NO_MEMORY, -1, "out of memory");
	}
	nodes_release(&m.number);
	mem_free(m.places);
	return rc;
}
