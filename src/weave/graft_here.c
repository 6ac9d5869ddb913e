/* SPDX-License-Identifier: Apache-2.0 */
/* graft_here.c - instructions that answer the template's questions to sonde.Here: which method this
 * is, its arguments, its result. */
#include "weave/graft_priv.h"

#include "classfile/desc.h"
#include "classfile/insn.h"

int graft_fail(struct graft *g, int rc)
{
	if (g->rc >= 0)
		g->rc = rc;
	return g->rc;
}

/* The number is for a %u in `why`. */
int graft_misfit(struct graft *g, const char *why, unsigned number)
{
	return graft_fail(g, code_fault(g->code, NULL, g->fault, E_MISFIT, why, number));
}

void graft_put(struct graft *g, struct insn *place, struct insn *n)
{
	if (!insn_before(g->code, place, n)) {
		graft_fail(g, g->code->cls->pool.n > 65000 ? E_POOL_FULL : E_NO_MEMORY);
		return;
	}
	n->flags |= INSN_MARKED;
}

void graft_put_op(struct graft *g, struct insn *place, uint8_t op)
{
	graft_put(g, place, insn_new(g->code, op));
}

/* An instruction with a constant, whose index may be an error. */
void graft_put_pool(struct graft *g, struct insn *place, uint8_t op, int index)
{
	if (index < 0)
		graft_fail(g, index);
	else
		graft_put(g, place, insn_pool(g->code, op, (uint16_t)index));
}

uint8_t graft_kind_of(struct slice type)
{
	switch (type.p[0]) {
	case 'J':
		return 1;
	case 'F':
		return 2;
	case 'D':
		return 3;
	case 'L':
	case '[':
		return 4;
	default:
		return 0;
	}
}

void graft_put_load(struct graft *g, struct insn *place, struct slice type, unsigned slot)
{
	graft_put(g, place,
		  insn_local(g->code, (uint8_t)(OP_ILOAD + graft_kind_of(type)), (uint16_t)slot));
}

static void put_box(struct graft *g, struct insn *place, struct slice type)
{
	const struct desc_box *box = desc_box(type.p[0]);

	if (!box)
		return;
	if (slice_is(class_name(g->code->cls), box->class))
		graft_misfit(g, "boxing would call the method itself", 0);
	graft_put_pool(g, place, OP_INVOKESTATIC,
		       pool_add_ref(&g->code->cls->pool, CONST_METHODREF, slice_str(box->class),
				    slice_str("valueOf"), slice_str(box->value_of)));
}

int graft_own_id(struct graft *g)
{
	int index = *g->own_id;

	if (!index)
		index = pool_add_own_int(&g->code->cls->pool, g->id);
	if (index > 0)
		*g->own_id = (uint16_t)index;
	return index;
}

void graft_put_id(struct graft *g, struct insn *place)
{
	if (g->own_id)
		graft_put_pool(g, place, OP_LDC, graft_own_id(g));
	else
		graft_put(g, place, insn_int(g->code, g->id));
}

static bool is_static(const struct graft *g)
{
	return g->code->method->access & ACC_STATIC;
}

/* Argument number n, from 1; its type, or .n == 0 when there is none. */
static struct slice argument(const struct graft *g, unsigned number, unsigned *slot)
{
	struct desc_iter it = desc_args(member_desc(g->code->cls, g->code->method));

	*slot = is_static(g) ? 0 : 1;
	while (desc_next(&it)) {
		if (--number == 0)
			return it.type;
		*slot += desc_slots(it.type);
	}
	return (struct slice){ NULL, 0 };
}

static void put_argument(struct graft *g, struct insn *place, const struct insn *n)
{
	unsigned slot;
	struct slice type = argument(g, n->index, &slot);

	if (!type.n) {
		graft_misfit(g, "the template wants argument %u, and there is none", n->index);
		return;
	}
	if (n->arg != HERE_ARG && (type.p[0] == 'L' || type.p[0] == '[' ||
				   graft_kind_of(type) != n->arg - HERE_INT_ARG)) {
		graft_misfit(g, "argument %u is not of the primitive type that the template wants",
			     n->index);
		return;
	}
	graft_put_load(g, place, type, slot);
	if (n->arg == HERE_ARG)
		put_box(g, place, type);
}

static void put_all_arguments(struct graft *g, struct insn *place)
{
	struct slice desc = member_desc(g->code->cls, g->code->method);
	struct desc_iter it = desc_args(desc);
	unsigned slot = is_static(g) ? 0 : 1;
	int n = 0, i = 0;

	while (desc_next(&it))
		n++;
	graft_put(g, place, insn_int(g->code, n));
	graft_put_pool(
		g, place, OP_ANEWARRAY,
		pool_add_name(&g->code->cls->pool, CONST_CLASS, slice_str("java/lang/Object")));
	for (it = desc_args(desc); desc_next(&it); slot += desc_slots(it.type)) {
		graft_put_op(g, place, OP_DUP);
		graft_put(g, place, insn_int(g->code, i++));
		graft_put_load(g, place, it.type, slot);
		put_box(g, place, it.type);
		graft_put_op(g, place, OP_AASTORE);
	}
}

static void put_method_name(struct graft *g, struct insn *place)
{
	const struct class *cls = g->code->cls;
	struct buf text;

	buf_init(&text);
	buf_put(&text, class_name(cls));
	bytes_replace(text.p, text.n, '/', '.');
	buf_u8(&text, '.');
	buf_put(&text, member_name(cls, g->code->method));
	buf_put(&text, member_desc(cls, g->code->method));
	graft_put_pool(
		g, place, OP_LDC,
		text.err ? text.err
			 : pool_add_name(&g->code->cls->pool, CONST_STRING, buf_slice(&text)));
	buf_release(&text);
}

static void put_primitive_result(struct graft *g, struct insn *place, const struct insn *n,
				 enum graft_way way)
{
	uint8_t kind = n->arg == HERE_LONG_RESULT;

	if (!g->result_slots || graft_kind_of(g->result) != kind)
		graft_misfit(g,
			     kind ? "the template wants a long as the result"
				  : "the template wants an int as the result",
			     0);
	else if (way == GRAFT_RETURN)
		graft_put_load(g, place, g->result, g->kept);
	else
		graft_put_op(g, place, kind ? OP_LCONST_0 : OP_ICONST_0);
}

static void put_value(struct graft *g, struct insn *place)
{
	struct cond_place p = { .code = g->code, .before = place, .numbers = g->merge->numbers };

	if (!g->merge->value)
		graft_misfit(g, "the template wants a captured value, and there is none", 0);
	else if (cond_put_value(&p, g->merge->value) < 0)
		graft_fail(g, p.rc);
}

/* Answers one question of the template. */
void graft_put_here(struct graft *g, struct insn *place, const struct insn *n, enum graft_way way)
{
	switch (n->arg) {
	case HERE_ID:
		graft_put_id(g, place);
		break;
	case HERE_METHOD:
		put_method_name(g, place);
		break;
	case HERE_SELF:
		if (is_static(g))
			graft_put_op(g, place, OP_ACONST_NULL);
		else
			graft_put(g, place, insn_local(g->code, OP_ALOAD, 0));
		break;
	case HERE_ARGS:
		put_all_arguments(g, place);
		break;
	case HERE_RESULT:
		if (way != GRAFT_RETURN || !g->result_slots) {
			graft_put_op(g, place, OP_ACONST_NULL);
			break;
		}
		graft_put_load(g, place, g->result, g->kept);
		put_box(g, place, g->result);
		break;
	case HERE_VALUE:
		put_value(g, place);
		break;
	case HERE_INT_RESULT:
	case HERE_LONG_RESULT:
		put_primitive_result(g, place, n, way);
		break;
	case HERE_THROWN:
		if (way == GRAFT_THROW)
			graft_put(g, place, insn_local(g->code, OP_ALOAD, g->kept));
		else
			graft_put_op(g, place, OP_ACONST_NULL);
		break;
	default:
		put_argument(g, place, n);
	}
}
