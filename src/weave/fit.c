/* SPDX-License-Identifier: Apache-2.0 */
/* fit.c - compares a class and a method with the rows of fit.def.
 *
 * Code is looked at last and seldom: only when the constant pool names a method that a row asks
 * for is a method's code gone through, as bytes, and only the indices of its calls are read. */
#include "weave/fit.h"

#include "classfile/op.h"
#include "weave/glob.h"

enum fit_how { ON_METHOD, IS, ON_CLASS, TAKES, CALLS };

static const struct fit_row {
	enum fit_how how;
	const char *category, *type, *methods;
} rows[] = {
#define X(how, category, type, methods) { how, category, type, methods },
#include "weave/fit.def"
#undef X
};

enum { TYPE_HEAD = 6 }; /* "java/s": the part of a type that most others do not have */

#define X(how, category, type, methods) \
	_Static_assert(how == TAKES || sizeof(type) > TYPE_HEAD, "a short type: " type);
#include "weave/fit.def"
#undef X
_Static_assert(COUNT(rows) < FIT_ROWS_MAX, "fit.calls holds a row and one more in a byte");

/* ---- types ---- */

/* One of 64 bits for the first characters of a type's name. */
static uint64_t head_bit(const uint8_t *name)
{
	uint64_t head = 0;

	memcpy(&head, name, TYPE_HEAD);
	return UINT64_C(1) << (head * UINT64_C(0x9e3779b97f4a7c15) >> 58);
}

/* The bits of all types that rows ask for.  Most types that a class names have other bits, and need
 * not be compared with any row. */
static uint64_t wanted_heads(void)
{
	uint64_t heads = 0;

	for (size_t i = 0; i < COUNT(rows); i++)
		if (rows[i].how != TAKES)
			heads |= head_bit((const uint8_t *)rows[i].type);
	return heads;
}

static bool may_be_wanted(uint64_t heads, struct slice type)
{
	return type.n >= TYPE_HEAD && head_bit(type.p) & heads;
}

/* ---- the class ---- */

/* The name in an annotation's descriptor, La/b/C; */
static struct slice annotation_name(struct slice desc)
{
	if (desc.n < 2 || desc.p[0] != 'L')
		return (struct slice){ NULL, 0 };
	return (struct slice){ desc.p + 1, desc.n - 2 };
}

static bool is_annotated(const struct fit_row *row, const struct slice *list, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (glob_text(row->type, annotation_name(list[i])))
			return true;
	return false;
}

static void look_at_type(struct fit *f, struct slice type)
{
	if (!may_be_wanted(f->heads, type))
		return;
	for (size_t i = 0; i < COUNT(rows); i++)
		if (rows[i].how == IS && glob_text(rows[i].type, type))
			f->holds[i] = true;
}

static void look_at_class(struct fit *f, const struct rule_class *facts,
			  const struct rule_lineage *lineage)
{
	look_at_type(f, facts->name);
	for (size_t i = 0; i < lineage->n; i++)
		look_at_type(f, lineage->list[i].name);
	for (size_t i = 0; i < COUNT(rows); i++)
		if (rows[i].how == TAKES ||
		    (rows[i].how == ON_CLASS &&
		     is_annotated(&rows[i], facts->annotations, facts->annotation_count)))
			f->holds[i] = true;
}

/* 1 + the first row of CALLS that this method of the pool meets, or 0. */
static uint8_t row_of_call(const struct pool_ref *ref)
{
	for (size_t i = 0; i < COUNT(rows); i++)
		if (rows[i].how == CALLS && glob_text(rows[i].type, ref->owner) &&
		    glob_method(rows[i].methods, ref->name, ref->desc))
			return (uint8_t)(i + 1);
	return 0;
}

static void look_at_pool(struct fit *f)
{
	const struct pool *pool = &f->cls->pool;

	for (uint32_t i = 1; i < pool->read; i++) {
		struct pool_ref ref;

		if (!pool_is(pool, i, TAGS_METHOD) || !pool_ref(pool, i, &ref) ||
		    !may_be_wanted(f->heads, ref.owner))
			continue;
		f->calls[i] = row_of_call(&ref);
		f->any_calls |= f->calls[i] != 0;
	}
}

int fit_init(struct fit *f, const struct rule_class *facts, const struct class *cls,
	     struct arena *mem)
{
	bool *holds = arena_zero(mem, COUNT(rows) * sizeof(*holds));
	uint8_t *calls = arena_zero(mem, cls->pool.read);
	struct rule_lineage *room = NULL;
	const struct rule_lineage *lineage;

	if (!facts->lineage) {
		room = arena_alloc(mem, sizeof(*room));
		if (room)
			room->ready = false;
	}
	if (!holds || !calls || (!facts->lineage && !room))
		return E_NO_MEMORY;
	lineage = facts_lineage(facts, room);
	*f = (struct fit){ cls, wanted_heads(), holds, calls, false };
	look_at_class(f, facts, lineage);
	look_at_pool(f);
	return 0;
}

/* ---- the method ---- */

static struct slice instructions(const struct class *cls, const struct member *m)
{
	bool old = cls->major == 45 && cls->minor < 3; /* shorter fields, see code.h */
	struct reader r = rd_init(m->code);

	rd_take(&r, old ? 2 : 4);
	return rd_bytes(&r, old ? rd_u16(&r) : rd_u32(&r));
}

/* Bytes of a switch, or of an instruction with a wide prefix; 0: malformed. */
static size_t odd_size(struct slice code, size_t at)
{
	size_t operands = (at + 4) & ~(size_t)3;
	uint32_t low, high;

	switch (code.p[at]) {
	case OP_WIDE:
		return at + 1 < code.n && code.p[at + 1] == OP_IINC ? 6 : 4;
	case OP_LOOKUPSWITCH:
		if (operands + 8 > code.n)
			return 0;
		return operands - at + 8 + (size_t)get_u32(code.p + operands + 4) * 8;
	case OP_TABLESWITCH:
		if (operands + 12 > code.n)
			return 0;
		low = get_u32(code.p + operands + 4);
		high = get_u32(code.p + operands + 8);
		return operands - at + 12 + ((size_t)(uint32_t)(high - low) + 1) * 4;
	default:
		return 0;
	}
}

/* 1 + the first of all rows that a call in this code meets, or 0. */
static uint8_t row_of_code(const struct fit *f, struct slice code)
{
	uint8_t best = 0;

	for (size_t at = 0, size; at < code.n; at += size) {
		uint8_t op = code.p[at], row;
		uint16_t index;

		size = op_table[op].size;
		if (!size)
			size = odd_size(code, at);
		if (!size || size > code.n - at)
			break;
		if (!op_is_invoke(op) || op == OP_INVOKEDYNAMIC)
			continue;
		index = get_u16(code.p + at + 1);
		row = index < f->cls->pool.read ? f->calls[index] : 0;
		if (row && (!best || row < best))
			best = row;
	}
	return best;
}

const char *fit_category(const struct fit *f, const struct member *m,
			 const struct rule_method *facts)
{
	uint8_t row;

	for (size_t i = 0; i < COUNT(rows); i++) {
		if (rows[i].how == ON_METHOD) {
			if (is_annotated(&rows[i], facts->annotations, facts->annotation_count))
				return rows[i].category;
		} else if (f->holds[i] && glob_method(rows[i].methods, facts->name, facts->desc)) {
			return rows[i].category;
		}
	}
	if (!f->any_calls || !m->code.p)
		return NULL;
	row = row_of_code(f, instructions(f->cls, m));
	return row ? rows[row - 1].category : NULL;
}

/* ---- what ancestors further up add ---- */

static bool has_ancestor(const struct rule_lineage *l, const char *type)
{
	for (size_t i = 0; i < l->n; i++)
		if (glob_text(type, l->list[i].name))
			return true;
	return false;
}

void fit_gain(struct fit_gain *g, const struct rule_lineage *all, const struct rule_lineage *own)
{
	uint64_t heads = wanted_heads();
	bool any = false;

	*g = (struct fit_gain){ 0 };
	for (size_t i = 0; i < all->n; i++)
		any |= may_be_wanted(heads, all->list[i].name);
	if (!any)
		return;
	for (size_t i = 0; i < COUNT(rows); i++) {
		g->rows[i] = rows[i].how == IS && has_ancestor(all, rows[i].type) &&
			     !has_ancestor(own, rows[i].type);
		g->any |= g->rows[i];
	}
}

bool fit_gain_meets(const struct fit_gain *g, struct slice name, struct slice desc)
{
	for (size_t i = 0; g->any && i < COUNT(rows); i++)
		if (g->rows[i] && glob_method(rows[i].methods, name, desc))
			return true;
	return false;
}
