/* SPDX-License-Identifier: Apache-2.0 */
/* stamp.c - prologs and epilogs without branches, written at once.
 *
 * Most templates are a straight line of calls, and weaving copies them into every method.  As nodes
 * of the list each of their instructions would be made, linked, placed and encoded; here the bytes
 * are written down and become one node (OP_STAMP).  The result is the same: graft.c does node by
 * node what this does byte by byte, and does the rest of the templates. */
#include "weave/stamp.h"

#include "classfile/insn.h"

enum { INSN_BYTES_MAX = 5 }; /* of what is stamped here */

struct stamp {
	struct graft *g;
	uint8_t *p;
	int rc;
};

static void put_op(struct stamp *s, uint8_t op)
{
	*s->p++ = op;
}

/* iload ... astore, in their shortest form. */
static void put_local(struct stamp *s, uint8_t op, int slot)
{
	if (slot < 4) {
		put_op(s, (uint8_t)(op < OP_ISTORE ? OP_ILOAD_0 + 4 * (op - OP_ILOAD) + slot
						   : OP_ISTORE_0 + 4 * (op - OP_ISTORE) + slot));
		return;
	}
	if (slot > 255) {
		put_op(s, OP_WIDE);
		put_op(s, op);
		put_u16(s->p, (uint16_t)slot);
		s->p += 2;
		return;
	}
	put_op(s, op);
	put_op(s, (uint8_t)slot);
}

/* The local of an instruction of the template, behind those of the method. */
static void put_own_local(struct stamp *s, const struct insn *n)
{
	uint8_t op = n->op;

	if (op_table[op].format == OP_FORMAT_LOCAL0)
		op = (uint8_t)(op < OP_ISTORE ? OP_ILOAD + (op - OP_ILOAD_0) / 4
					      : OP_ISTORE + (op - OP_ISTORE_0) / 4);
	put_local(s, op, s->g->base + n->index);
}

static void put_constant(struct stamp *s, int index)
{
	if (index < 0) {
		s->rc = index;
	} else if (index < 256) {
		put_op(s, OP_LDC);
		put_op(s, (uint8_t)index);
	} else {
		put_op(s, OP_LDC_W);
		put_u16(s->p, (uint16_t)index);
		s->p += 2;
	}
}

static void put_int(struct stamp *s, int32_t value)
{
	if (value >= -1 && value <= 5) {
		put_op(s, (uint8_t)(OP_ICONST_0 + value));
	} else if (value == (int8_t)value) {
		put_op(s, OP_BIPUSH);
		put_op(s, (uint8_t)value);
	} else if (value == (int16_t)value) {
		put_op(s, OP_SIPUSH);
		put_u16(s->p, (uint16_t)value);
		s->p += 2;
	} else {
		put_constant(s, pool_add_int(&s->g->code->cls->pool, value));
	}
}

/* An id that is to be changed afterwards. */
static void put_own_id(struct stamp *s)
{
	if (!s->g->brief) {
		put_constant(s, graft_own_id(s->g));
		return;
	}
	put_op(s, OP_SIPUSH);
	put_u16(s->p, (uint16_t)s->g->id);
	s->p += 2;
}

static void put_here(struct stamp *s, const struct insn *n, enum graft_way way)
{
	if (n->arg == HERE_ID && s->g->own_id)
		put_own_id(s);
	else if (n->arg == HERE_ID)
		put_int(s, s->g->id);
	else if (n->arg == HERE_THROWN && way == GRAFT_THROW)
		put_local(s, OP_ALOAD, s->g->kept);
	else if (n->arg == HERE_SELF && !(s->g->code->method->access & ACC_STATIC))
		put_local(s, OP_ALOAD, 0);
	else
		put_op(s, OP_ACONST_NULL);
}

/* What the template's own return becomes. */
static void put_exit(struct stamp *s, enum graft_way way)
{
	const struct graft *g = s->g;
	uint8_t kind = graft_kind_of(g->result);

	if (way == GRAFT_THROW) {
		if (g->keep_thrown)
			put_local(s, OP_ALOAD, g->kept);
		put_op(s, OP_ATHROW);
		return;
	}
	if (g->keep_result)
		put_local(s, (uint8_t)(OP_ILOAD + kind), g->kept);
	put_op(s, g->result_slots ? (uint8_t)(OP_IRETURN + kind) : OP_RETURN);
}

static void put_insn(struct stamp *s, const struct insn *n)
{
	uint8_t format = op_table[n->op].format;
	int index = 0;

	if (format >= OP_FORMAT_POOL1)
		index = pool_import(&s->g->code->cls->pool, &s->g->template->code->cls->pool,
				    n->index, s->g->seen);
	if (index < 0) {
		s->rc = index;
		return;
	}
	switch (format) {
	case OP_FORMAT_LOCAL0:
	case OP_FORMAT_LOCAL:
		put_own_local(s, n);
		return;
	case OP_FORMAT_POOL1:
		put_constant(s, index);
		return;
	default:
		break;
	}
	put_op(s, n->op);
	switch (format) {
	case OP_FORMAT_S1:
	case OP_FORMAT_NEWARRAY:
		put_op(s, (uint8_t)n->arg);
		break;
	case OP_FORMAT_S2:
		put_u16(s->p, (uint16_t)n->arg);
		s->p += 2;
		break;
	case OP_FORMAT_POOL2:
	case OP_FORMAT_IFACE:
	case OP_FORMAT_MULTI:
		put_u16(s->p, (uint16_t)index);
		s->p += 2;
		if (format != OP_FORMAT_POOL2)
			put_op(s, (uint8_t)n->arg);
		if (format == OP_FORMAT_IFACE)
			put_op(s, 0);
		break;
	default:
		break;
	}
}

/* Result or exception into the local where it waits. */
static void put_keep(struct stamp *s, enum graft_way way)
{
	const struct graft *g = s->g;

	if (way == GRAFT_THROW && g->keep_thrown)
		put_local(s, OP_ASTORE, g->kept);
	else if (way == GRAFT_RETURN && g->keep_result)
		put_local(s, (uint8_t)(OP_ISTORE + graft_kind_of(g->result)), g->kept);
}

struct insn *stamp_make(struct graft *g, const struct insn *first, const struct insn *last,
			enum graft_way way, int *rc)
{
	struct arena *mem = g->code->mem;
	size_t room = (g->template->n_insns + 3) * INSN_BYTES_MAX + INSN_STAMP_SLACK;
	uint8_t *bytes = arena_alloc(mem, room);
	struct stamp s = { g, bytes, 0 };
	struct insn *n;

	*rc = E_NO_MEMORY;
	if (!bytes)
		return NULL;
	put_keep(&s, way);
	for (const struct insn *i = first; i != last && s.rc >= 0; i = i->next) {
		if (i->op == OP_LABEL)
			continue;
		if (i->flags & INSN_MARKED)
			put_here(&s, i, way);
		else if (op_is_return(i->op))
			put_exit(&s, way);
		else
			put_insn(&s, i);
	}
	if (s.rc < 0) {
		*rc = s.rc;
		return NULL;
	}
	arena_trim(mem, bytes, room, (size_t)(s.p - bytes) + INSN_STAMP_SLACK);
	n = insn_stamp(g->code, (struct slice){ bytes, (size_t)(s.p - bytes) });
	return n;
}
