/* SPDX-License-Identifier: Apache-2.0 */
/* check_nodes.h - for passes that only read the list: a table from nodes to numbers, and the
 * instructions in a run. */
#ifndef CLASSFILE_CHECK_CHECK_NODES_H
#define CLASSFILE_CHECK_CHECK_NODES_H

#include "base/mem.h"
#include "classfile/code.h"

struct node_slot {
	const struct insn *node; /* NULL: free */
	uint32_t value;
};

struct nodes {
	struct node_slot *slots; /* NULL: an empty table */
	uint32_t mask;
};

/* Room for n instructions; false: out of memory. */
static inline bool nodes_init(struct nodes *t, size_t n)
{
	size_t cap = 8;

	while (cap < n * 2)
		cap *= 2;
	t->mask = (uint32_t)cap - 1;
	t->slots = mem_alloc(cap * sizeof(*t->slots));
	if (t->slots)
		memset(t->slots, 0, cap * sizeof(*t->slots));
	return t->slots != NULL;
}

static inline void nodes_release(struct nodes *t)
{
	mem_free(t->slots);
	t->slots = NULL;
}

/* The place for this one: a slot that has it, or a free one. */
static inline struct node_slot *nodes_at(const struct nodes *t, const struct insn *node)
{
	uint64_t hash = ((uint64_t)(uintptr_t)node >> 3) * 0x9e3779b97f4a7c15u;
	uint32_t i = (uint32_t)(hash >> 32) & t->mask;

	while (t->slots[i].node && t->slots[i].node != node)
		i = (i + 1) & t->mask;
	return &t->slots[i];
}

/* Its number, or 0. */
static inline uint32_t nodes_get(const struct nodes *t, const struct insn *node)
{
	return t->slots ? nodes_at(t, node)->value : 0;
}

/* Its number; `fresh` when it had none. */
static inline uint32_t nodes_put(struct nodes *t, const struct insn *node, uint32_t fresh)
{
	struct node_slot *slot = nodes_at(t, node);

	if (!slot->node)
		*slot = (struct node_slot){ node, fresh };
	return slot->value;
}

/* The instruction of a run (OP_RUN) at this offset, as a node in no list; returns its size. */
static inline uint32_t run_insn(const struct code *code, uint32_t pc, struct insn *out)
{
	const uint8_t *p = code->bytes.p + pc;
	uint8_t format = op_table[*p].format;

	*out = (struct insn){ .op = *p, .old = (uint16_t)pc, .flags = INSN_READ | INSN_COPY };
	switch (format) {
	case OP_FORMAT_NONE:
		break;
	case OP_FORMAT_LOCAL0:
		out->index = op_shapes[*p].local;
		break;
	case OP_FORMAT_S1:
	case OP_FORMAT_NEWARRAY:
		out->arg = (int8_t)p[1];
		break;
	case OP_FORMAT_S2:
		out->arg = (int16_t)get_u16(p + 1);
		break;
	case OP_FORMAT_LOCAL:
	case OP_FORMAT_POOL1:
	case OP_FORMAT_IINC:
		out->index = p[1];
		break;
	default:
		out->index = get_u16(p + 1);
		if (format == OP_FORMAT_IFACE || format == OP_FORMAT_MULTI)
			out->arg = p[3];
	}
	return op_run_size[*p];
}

#endif
