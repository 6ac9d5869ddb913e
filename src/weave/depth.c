/* SPDX-License-Identifier: Apache-2.0 */
/* depth.c - stack depths, from opcodes and descriptors. */
#include "weave/depth.h"

#include "classfile/desc.h"

/* Slots of a pops or pushes text of opcodes.def. */
static int slots_of(const char *types)
{
	int slots = 0;

	for (; *types; types++)
		slots += *types == 'J' || *types == 'D' ? 2 : 1;
	return slots;
}

static int field_change(const struct code *code, const struct insn *n, int *change)
{
	bool get = n->op == OP_GETSTATIC || n->op == OP_GETFIELD;
	bool object = n->op == OP_GETFIELD || n->op == OP_PUTFIELD;
	struct pool_ref ref;
	int slots;

	if (!pool_ref(&code->cls->pool, n->index, &ref))
		return E_VERIFY;
	slots = (int)desc_slots(ref.desc);
	*change = (get ? slots : -slots) - object;
	return 0;
}

static int invoke_change(const struct code *code, const struct insn *n, int *change)
{
	bool object = n->op != OP_INVOKESTATIC && n->op != OP_INVOKEDYNAMIC;
	struct desc_iter it;
	struct pool_ref ref;
	int slots = 0;

	if (!pool_ref(&code->cls->pool, n->index, &ref))
		return E_VERIFY;
	it = desc_args(ref.desc);
	while (desc_next(&it))
		slots += (int)desc_slots(it.type);
	*change = (int)desc_slots(it.type) - slots - object;
	return it.err ? E_VERIFY : 0;
}

static int load_change(const struct code *code, const struct insn *n)
{
	struct pool_ref ref;

	if (n->op == OP_LDC2_W)
		return 2;
	if (pool_ref(&code->cls->pool, n->index, &ref))
		return (int)desc_slots(ref.desc);
	return 1;
}

/* A run has no branches in it: the changes of its instructions add up. */
static int run_change(const struct code *code, const struct insn *run, int *change)
{
	uint32_t end = (uint32_t)run->old + run->size;

	*change = 0;
	for (uint32_t pc = run->old; pc < end;) {
		const uint8_t *p = code->bytes.p + pc;
		struct insn n = { .op = p[0], .index = p[1] };
		int one = 0, rc;

		if (op_table[n.op].size > 2)
			n.index = get_u16(p + 1);
		if (n.op == OP_MULTIANEWARRAY)
			n.arg = p[3];
		rc = depth_change(code, &n, &one);
		if (rc < 0)
			return rc;
		*change += one;
		pc += op_run_size[n.op];
	}
	return 0;
}

int depth_change(const struct code *code, const struct insn *n, int *change)
{
	const struct op_info *info = &op_table[n->op];

	if (n->op == OP_RUN)
		return run_change(code, n, change);

	if (info->pops[0] != '*' && info->pushes[0] != '*') {
		*change = slots_of(info->pushes) - slots_of(info->pops);
		return 0;
	}
	switch (n->op) {
	case OP_GETSTATIC ... OP_PUTFIELD:
		return field_change(code, n, change);
	case OP_INVOKEVIRTUAL ... OP_INVOKEDYNAMIC:
		return invoke_change(code, n, change);
	case OP_LDC:
	case OP_LDC_W:
	case OP_LDC2_W:
		*change = load_change(code, n);
		return 0;
	case OP_DUP2:
	case OP_DUP2_X1:
	case OP_DUP2_X2:
		*change = 2;
		return 0;
	case OP_DUP:
	case OP_DUP_X1:
	case OP_DUP_X2:
	case OP_JSR:
	case OP_JSR_W:
	case OP_NEW:
		*change = 1;
		return 0;
	case OP_AALOAD:
	case OP_ASTORE:
	case OP_ASTORE_0:
	case OP_ASTORE_1:
	case OP_ASTORE_2:
	case OP_ASTORE_3:
	case OP_POP:
		*change = -1;
		return 0;
	case OP_POP2:
		*change = -2;
		return 0;
	case OP_MULTIANEWARRAY:
		*change = 1 - n->arg;
		return 0;
	default: /* swap, newarray, anewarray, checkcast: one for one */
		*change = 0;
		return 0;
	}
}

/* The depth that a frame tells; a long or double is one entry but two slots. */
static int frame_depth(const struct frame *f)
{
	int depth = 0;

	for (unsigned i = 0; i < f->n_stack; i++)
		depth += vt_tag(f->stack[i]) == VT_LONG || vt_tag(f->stack[i]) == VT_DOUBLE ? 2 : 1;
	return depth;
}

/* Going back, the nearest place whose depth is known without looking further. */
static const struct insn *known_before(const struct code *code, const struct insn *n, int *depth)
{
	for (; n != code->start; n = n->prev) {
		if (n->op == OP_LABEL && n->frame) {
			*depth = frame_depth(n->frame);
			return n;
		}
		if (n->prev->op != OP_LABEL && op_ends_block(n->prev->op))
			return NULL;
	}
	*depth = 0;
	return n;
}

struct flood {
	struct code *code;
	struct insn **todo; /* labels to go on from */
	size_t n;
};

/* Depths are kept in insn.pc, which has no meaning before lowering. */
static void flood_reach(struct flood *w, struct insn *label, uint32_t depth)
{
	if (label->pc != DEPTH_UNKNOWN)
		return;
	label->pc = depth;
	w->todo[w->n++] = label;
}

static int flood_from(struct flood *w, struct insn *n, uint32_t depth)
{
	for (; n; n = n->next) {
		int change = 0, rc;

		if (n->op == OP_LABEL) {
			if (n->pc != DEPTH_UNKNOWN && n->pc != depth)
				return 0; /* been here */
			n->pc = depth;
			continue;
		}
		if (n->pc != DEPTH_UNKNOWN)
			return 0;
		n->pc = depth;
		rc = depth_change(w->code, n, &change);
		if (rc < 0 || (int64_t)depth + change < 0)
			return E_VERIFY;
		depth = (uint32_t)((int64_t)depth + change);
		if (op_is_branch(n->op))
			flood_reach(w, n->target, depth);
		if (op_is_switch(n->op)) {
			flood_reach(w, n->sw->other, depth);
			for (uint32_t i = 0; i < n->sw->n; i++)
				flood_reach(w, n->sw->cases[i].target, depth);
		}
		if (n->op == OP_JSR || n->op == OP_JSR_W)
			depth--; /* the subroutine takes its return address */
		else if (op_ends_block(n->op))
			return 0;
	}
	return 0;
}

/* Methods without frames (versions below 50): follow all paths. */
static int flood(struct code *code)
{
	struct flood w = { .code = code };
	size_t labels = 1;
	int rc;

	for (struct insn *n = code->start; n; n = n->next) {
		n->pc = DEPTH_UNKNOWN;
		labels += n->op == OP_LABEL;
	}
	w.todo = arena_alloc(code->mem, labels * sizeof(*w.todo));
	if (!w.todo)
		return E_NO_MEMORY;
	rc = flood_from(&w, code->start, 0);
	for (uint32_t i = 0; i < code->n_handlers; i++)
		flood_reach(&w, code->handlers[i].handler, 1);
	while (w.n && rc >= 0) {
		struct insn *label = w.todo[--w.n];

		rc = flood_from(&w, label, label->pc);
	}
	return rc;
}

/* From the nearest frame before it on; <0: there is none, or the code is malformed. */
static int depth_by_frames(const struct code *code, const struct insn *n)
{
	int depth = 0;
	const struct insn *from = known_before(code, n, &depth);

	if (!from)
		return E_VERIFY;
	for (; from != n; from = from->next) {
		int change = 0;

		if (from->op != OP_LABEL && depth_change(code, from, &change) < 0)
			return E_VERIFY;
		depth += change;
	}
	return depth;
}

int depth_of_returns(struct code *code)
{
	if (code->cls->major < 50)
		return flood(code);
	for (struct insn *n = code->start; n; n = n->next) {
		int depth;

		if (!op_is_return(n->op))
			continue;
		depth = depth_by_frames(code, n);
		if (depth < 0)
			return flood(code);
		n->pc = (uint32_t)depth;
	}
	return 0;
}
