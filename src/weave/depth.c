/* SPDX-License-Identifier: Apache-2.0 */
/* depth.c - stack depths, from opcodes and descriptors. */
#include "weave/depth.h"

#include "classfile/desc.h"

struct walk {
	struct code *code;
	int16_t *depths;    /* what is known of constants already */
	struct insn **todo; /* labels to go on from, where there are no frames */
	size_t n;
};

/* Slots of a pops or pushes text of opcodes.def; none is longer than four. */
#define IS_WIDE(s, i)           \
	(sizeof(s) > (i) + 1 && \
	 ((s)[sizeof(s) > (i) ? (i) : 0] == 'J' || (s)[sizeof(s) > (i) ? (i) : 0] == 'D'))
#define SLOTS(s) \
	((int)sizeof(s) - 1 + IS_WIDE(s, 0) + IS_WIDE(s, 1) + IS_WIDE(s, 2) + IS_WIDE(s, 3))

/* What each opcode does to the depth. */
enum { CHANGE_VARIES = 127 };
static const int8_t changes[256] = {
#define X(value, NAME, name, format, pops, pushes)                       \
	[value] = (pops)[0] == '*' || (pushes)[0] == '*' ? CHANGE_VARIES \
							 : SLOTS(pushes) - SLOTS(pops),
#include "classfile/opcodes.def"
#undef X
};

/* Slots that the constant's descriptor takes away and gives, as a change; 0 or E_VERIFY. */
static int read_change(const struct code *code, uint32_t index, int *change)
{
	struct desc_iter it;
	struct pool_ref ref;
	int slots = 0;

	if (!pool_ref(&code->cls->pool, index, &ref))
		return E_VERIFY;
	if (!ref.desc.n || ref.desc.p[0] != '(') {
		*change = (int)desc_slots(ref.desc);
		return 0;
	}
	it = desc_args(ref.desc);
	while (desc_next(&it))
		slots += (int)desc_slots(it.type);
	*change = (int)desc_slots(it.type) - slots;
	return it.err ? E_VERIFY : 0;
}

/* The same, remembered: of a field its slots, of a method result less arguments. */
static int change_of(const struct walk *w, uint32_t index, int *change)
{
	enum { KNOWN = 1 << 14 }; /* so that no change is kept as 0; 255 arguments are allowed */
	int rc;

	if (index >= w->code->cls->pool.read)
		return E_VERIFY;
	if (w->depths[index]) {
		*change = w->depths[index] - KNOWN;
		return 0;
	}
	rc = read_change(w->code, index, change);
	if (rc >= 0 && *change > -KNOWN && *change < KNOWN)
		w->depths[index] = (int16_t)(*change + KNOWN);
	return rc;
}

static int field_change(const struct walk *w, const struct insn *n, int *change)
{
	bool get = n->op == OP_GETSTATIC || n->op == OP_GETFIELD;
	bool object = n->op == OP_GETFIELD || n->op == OP_PUTFIELD;
	int slots, rc = change_of(w, n->index, &slots);

	if (rc < 0)
		return rc;
	*change = (get ? slots : -slots) - object;
	return 0;
}

static int invoke_change(const struct walk *w, const struct insn *n, int *change)
{
	bool object = n->op != OP_INVOKESTATIC && n->op != OP_INVOKEDYNAMIC;
	int slots, rc = change_of(w, n->index, &slots);

	if (rc < 0)
		return rc;
	*change = slots - object;
	return 0;
}

/* A dynamic constant has a descriptor, too. */
static int load_change(const struct walk *w, const struct insn *n)
{
	struct pool_ref ref;

	if (n->op == OP_LDC2_W)
		return 2;
	if (pool_ref(&w->code->cls->pool, n->index, &ref))
		return (int)desc_slots(ref.desc);
	return 1;
}

static int depth_change(const struct walk *w, const struct insn *n, int *change);

/* A run has no branches in it: the changes of its instructions add up. */
static int run_change(const struct walk *w, const struct insn *run, int *change)
{
	uint32_t end = (uint32_t)run->old + run->size;

	*change = 0;
	for (uint32_t pc = run->old; pc < end;) {
		const uint8_t *p = w->code->bytes.p + pc;
		int one = changes[*p], rc = 0;

		if (one == CHANGE_VARIES) {
			struct insn n = { .op = p[0], .index = p[1] };

			if (op_table[n.op].size > 2)
				n.index = get_u16(p + 1);
			if (n.op == OP_MULTIANEWARRAY)
				n.arg = p[3];
			rc = depth_change(w, &n, &one);
		}
		if (rc < 0)
			return rc;
		*change += one;
		pc += op_run_size[*p];
	}
	return 0;
}

static int depth_change(const struct walk *w, const struct insn *n, int *change)
{
	if (n->op == OP_RUN)
		return run_change(w, n, change);
	if (changes[n->op] != CHANGE_VARIES) {
		*change = changes[n->op];
		return 0;
	}
	switch (n->op) {
	case OP_GETSTATIC ... OP_PUTFIELD:
		return field_change(w, n, change);
	case OP_INVOKEVIRTUAL ... OP_INVOKEDYNAMIC:
		return invoke_change(w, n, change);
	case OP_LDC:
	case OP_LDC_W:
	case OP_LDC2_W:
		*change = load_change(w, n);
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

/* Depths are kept in insn.pc, which has no meaning before lowering. */
static void flood_reach(struct walk *w, struct insn *label, uint32_t depth)
{
	if (label->pc != DEPTH_UNKNOWN)
		return;
	label->pc = depth;
	w->todo[w->n++] = label;
}

static int flood_from(struct walk *w, struct insn *n, uint32_t depth)
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
		rc = depth_change(w, n, &change);
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

/* Methods without frames, or with such that need not be right: follow all paths. */
static int flood(struct walk *w)
{
	struct code *code = w->code;
	size_t labels = 1;
	int rc;

	for (struct insn *n = code->start; n; n = n->next) {
		n->pc = DEPTH_UNKNOWN;
		labels += n->op == OP_LABEL;
	}
	w->todo = arena_alloc(code->mem, labels * sizeof(*w->todo));
	if (!w->todo)
		return E_NO_MEMORY;
	rc = flood_from(w, code->start, 0);
	for (uint32_t i = 0; i < code->n_handlers; i++)
		flood_reach(w, code->handlers[i].handler, 1);
	while (w->n && rc >= 0) {
		struct insn *label = w->todo[--w->n];

		rc = flood_from(w, label, label->pc);
	}
	return rc;
}

/* From the nearest frame before it on; <0: there is none, or the code is malformed. */
static int depth_by_frames(const struct walk *w, const struct insn *n)
{
	int depth = 0;
	const struct insn *from = known_before(w->code, n, &depth);

	if (!from)
		return E_VERIFY;
	for (; from != n; from = from->next) {
		int change = 0;

		if (from->op != OP_LABEL && depth_change(w, from, &change) < 0)
			return E_VERIFY;
		depth += change;
	}
	return depth;
}

int depth_of_returns(struct code *code, int16_t *depths)
{
	struct walk w = { .code = code, .depths = depths };

	if (code->cls->major <=
	    50) /* frames of version 50 may be wrong: then the JVM infers types */
		return flood(&w);
	for (struct insn *n = code->returns; n; n = n->target) {
		int depth = depth_by_frames(&w, n);

		if (depth < 0)
			return flood(&w);
		n->pc = (uint32_t)depth;
	}
	return 0;
}
