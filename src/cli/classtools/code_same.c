/* SPDX-License-Identifier: Apache-2.0 */
/* code_same.c - compares two lists of instructions.
 *
 * First every node of both gets an ordinal: instructions count, labels have the ordinal of the
 * instruction that follows.  With CODE_PADDED, nops and the goto_w of a long branch do not count.
 * Then everything that points somewhere (branches, switches, handlers, tables, types of objects
 * not yet initialised) is the same when it points at the same ordinal. */
#include "cli/classtools/code_same.h"

#include <stdarg.h>
#include <stdio.h>

#include "classfile/desc.h"

struct same {
	struct code *a, *b;
	bool padded;
	char *text;
	const uint32_t *at_a, *at_b; /* see ordinals() */
};

static const char *differ(const struct same *s, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

static const char *differ(const struct same *s, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(s->text, CODE_SAME_TEXT, fmt, ap);
	va_end(ap);
	return s->text;
}

static struct insn *next_real(struct insn *n)
{
	while (n && n->op == OP_LABEL)
		n = n->next;
	return n;
}

/* "ifne L; goto T; L:" means "ifeq T", and is what lowering makes of it when T is far: the goto of
 * such a pair, otherwise NULL. */
static struct insn *far_jump(const struct insn *n)
{
	struct insn *jump = n->next;

	if (op_table[n->op].format != OP_FORMAT_BR2 || n->op == OP_GOTO || n->op == OP_JSR)
		return NULL;
	while (jump && jump->op == OP_NOP)
		jump = jump->next;
	if (!jump || (jump->op != OP_GOTO_W && jump->op != OP_GOTO))
		return NULL;
	for (struct insn *l = jump->next; l && l->op == OP_LABEL; l = l->next)
		if (l == n->target)
			return jump;
	return NULL;
}

static uint32_t number(struct code *code, bool padded)
{
	uint32_t ordinal = 0;

	for (struct insn *n = code->start; n; n = n->next) {
		struct insn *jump = padded && n->op != OP_LABEL ? far_jump(n) : NULL;

		n->pc = ordinal;
		if (n->op == OP_LABEL || (padded && n->op == OP_NOP))
			continue;
		ordinal++;
		while (jump && n != jump) { /* the pair is one instruction */
			n = n->next;
			n->pc = ordinal;
		}
	}
	return ordinal;
}

/* The next instruction that counts, or NULL at the end. */
static struct insn *step(const struct same *s, struct insn *n)
{
	n = next_real(n);
	while (s->padded && n && n->op == OP_NOP)
		n = next_real(n->next);
	return n;
}

static uint8_t short_op(uint8_t op)
{
	return op == OP_GOTO_W ? OP_GOTO : op == OP_JSR_W ? OP_JSR : op;
}

static bool same_switch(const struct insn_switch *a, const struct insn_switch *b)
{
	if (a->n != b->n || a->low != b->low || a->other->pc != b->other->pc)
		return false;
	for (uint32_t i = 0; i < a->n; i++)
		if (a->cases[i].key != b->cases[i].key ||
		    a->cases[i].target->pc != b->cases[i].target->pc)
			return false;
	return true;
}

static bool same_operands(const struct insn *a, const struct insn *b)
{
	switch (op_table[a->op].format) {
	case OP_FORMAT_S1:
	case OP_FORMAT_S2:
	case OP_FORMAT_NEWARRAY:
		return a->arg == b->arg;
	case OP_FORMAT_LOCAL:
	case OP_FORMAT_POOL1:
	case OP_FORMAT_POOL2:
	case OP_FORMAT_INDY:
		return a->index == b->index;
	case OP_FORMAT_IINC:
	case OP_FORMAT_IFACE:
	case OP_FORMAT_MULTI:
		return a->index == b->index && a->arg == b->arg;
	case OP_FORMAT_TSWITCH:
	case OP_FORMAT_LSWITCH:
		return same_switch(a->sw, b->sw);
	default:
		return true;
	}
}

/* A branch in the form that both lists have in common; *n moves on to its last part. */
static void normal_branch(const struct same *s, struct insn **n, uint8_t *op, uint32_t *target)
{
	struct insn *jump = s->padded ? far_jump(*n) : NULL;

	*op = jump ? op_inverted((*n)->op) : s->padded ? short_op((*n)->op) : (*n)->op;
	if (jump)
		*n = jump;
	*target = (*n)->target->pc;
}

static bool same_insn(const struct same *s, struct insn **a, struct insn **b)
{
	uint32_t to_a, to_b;
	uint8_t op_a, op_b;

	if (!s->padded && ((*a)->flags ^ (*b)->flags) & INSN_WIDE)
		return false;
	if (op_is_branch((*a)->op) && op_is_branch((*b)->op)) {
		normal_branch(s, a, &op_a, &to_a);
		normal_branch(s, b, &op_b, &to_b);
		return op_a == op_b && to_a == to_b;
	}
	return (*a)->op == (*b)->op && same_operands(*a, *b);
}

static const char *same_list(struct same *s)
{
	struct insn *a = step(s, s->a->start), *b = step(s, s->b->start);

	for (; a && b; a = step(s, a->next), b = step(s, b->next)) {
		const struct insn *was = a, *is = b;

		if (!same_insn(s, &a, &b))
			return differ(s,
				      "%s at offset %u has become %s at offset %u, or its operands "
				      "differ",
				      op_table[was->op].name, was->old, op_table[is->op].name,
				      is->old);
	}
	if (a || b)
		return differ(s, "one list is longer, by %s at offset %u",
			      op_table[(a ? a : b)->op].name, (a ? a : b)->old);
	return NULL;
}

/* The name in an Object type; lowering may have to add Class entries of its own. */
static struct slice object_name(const struct code *code, vtype t)
{
	struct slice desc = member_desc(code->cls, code->method);
	uint32_t value = vt_value(t);
	size_t n;

	if (value < VT_DESC)
		return pool_name(&code->cls->pool, value);
	value -= VT_DESC;
	if (value >= desc.n)
		return (struct slice){ NULL, 0 };
	desc = (struct slice){ desc.p + value, desc.n - value };
	n = desc_field_len(desc);
	if (n && desc.p[0] == 'L')
		return (struct slice){ desc.p + 1, n - 2 };
	return (struct slice){ desc.p, n };
}

static bool same_type(const struct same *s, vtype a, vtype b)
{
	if (vt_tag(a) != vt_tag(b))
		return false;
	if (vt_tag(a) == VT_OBJECT)
		return a == b || slice_eq(object_name(s->a, a), object_name(s->b, b));
	if (vt_tag(a) == VT_UNINIT)
		return s->a->news[vt_value(a)]->pc == s->b->news[vt_value(b)]->pc;
	return true;
}

static bool same_types(const struct same *s, const vtype *a, const vtype *b, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		if (!same_type(s, a[i], b[i]))
			return false;
	return true;
}

static bool same_frame(const struct same *s, const struct insn *a, const struct insn *b)
{
	const struct frame *x = a->frame, *y = b->frame;

	return a->pc == b->pc && x->n_locals == y->n_locals && x->n_stack == y->n_stack &&
	       same_types(s, x->locals, y->locals, x->n_locals) &&
	       same_types(s, x->stack, y->stack, x->n_stack);
}

static struct insn *next_frame(struct insn *n)
{
	while (n && !(n->op == OP_LABEL && n->frame))
		n = n->next;
	return n;
}

/* Lowering needs a frame behind each goto_w that it makes. */
static bool is_behind_long(const struct insn *label)
{
	const struct insn *n = label->prev;

	while (n && n->op == OP_LABEL)
		n = n->prev;
	return n && n->op == OP_GOTO_W;
}

static const char *same_frames(struct same *s)
{
	struct insn *a = next_frame(s->a->start), *b = next_frame(s->b->start);

	while (a || b) {
		if (a && b && same_frame(s, a, b)) {
			a = next_frame(a->next);
			b = next_frame(b->next);
		} else if (s->padded && b && is_behind_long(b)) {
			b = next_frame(b->next);
		} else {
			return differ(s, "frames differ at offset %u", (b ? b : a)->old);
		}
	}
	return NULL;
}

static const char *same_handlers(struct same *s)
{
	if (s->a->n_handlers != s->b->n_handlers)
		return differ(s, "exception handlers: %u have become %u", s->a->n_handlers,
			      s->b->n_handlers);
	for (uint32_t i = 0; i < s->a->n_handlers; i++) {
		const struct handler *a = &s->a->handlers[i], *b = &s->b->handlers[i];

		if (a->start->pc != b->start->pc || a->end->pc != b->end->pc ||
		    a->handler->pc != b->handler->pc || a->type != b->type)
			return differ(s, "exception handler %u differs", i);
	}
	return NULL;
}

/* ---- tables: lines, variables, type annotations ---- */

struct place {
	size_t at; /* in the table */
	uint32_t from, to;
	bool range;
};

struct places {
	struct place *v;
	size_t n, cap;
};

static int add_place(struct places *p, struct place place)
{
	if (p->n == p->cap)
		return E_LIMIT;
	p->v[p->n++] = place;
	return 0;
}

static int on_offset(void *ctx, size_t at, uint16_t pc)
{
	return add_place(ctx, (struct place){ at, pc, pc, false });
}

static int on_range(void *ctx, size_t at, uint16_t from, uint16_t length)
{
	return add_place(ctx, (struct place){ at, from, (uint32_t)from + length, true });
}

static bool find_places(const struct code *code, const struct attr *a, struct places *out)
{
	struct attr_visitor visitor = { out, NULL, on_offset, on_range };

	out->cap = a->data.n / 2 + 1;
	out->n = 0;
	out->v = arena_alloc(code->mem, out->cap * sizeof(*out->v));
	return out->v && attr_walk(a, &code->cls->pool, &visitor, NULL) >= 0;
}

/* [offset] one more than the ordinal of the instruction that begins there; 0: none does. */
static uint32_t *ordinals(const struct code *code)
{
	uint32_t length = (uint32_t)code->bytes.n;
	uint32_t *at = arena_zero(code->mem, (length + 1) * sizeof(*at));

	if (!at)
		return NULL;
	for (const struct insn *n = code->start; n; n = n->next)
		if (n->op != OP_LABEL)
			at[n->old] = n->pc + 1;
	at[length] = code->end->pc + 1;
	return at;
}

/* Where compilers left offsets that lead nowhere, there is nothing to compare. */
static bool same_place(const struct same *s, uint32_t a, uint32_t b)
{
	if (a > s->a->bytes.n || b > s->b->bytes.n)
		return a == b;
	return !s->at_a[a] || s->at_a[a] == s->at_b[b];
}

static bool same_padded(const struct same *s, const struct attr *a, const struct attr *b)
{
	const uint8_t *p = a->data.p, *q = b->data.p;
	struct places in_a, in_b;
	size_t done = 0;

	if (!find_places(s->a, a, &in_a)) /* malformed */
		return true;
	if (!find_places(s->b, b, &in_b) || in_a.n != in_b.n)
		return false;
	for (size_t i = 0; i < in_a.n; i++) {
		const struct place *x = &in_a.v[i], *y = &in_b.v[i];

		if (x->at != y->at || memcmp(p + done, q + done, x->at - done) != 0 ||
		    !same_place(s, x->from, y->from) || !same_place(s, x->to, y->to))
			return false;
		done = x->at + (x->range ? 4u : 2u);
	}
	return memcmp(p + done, q + done, a->data.n - done) == 0;
}

static bool same_table(const struct same *s, const struct attr *a, const struct attr *b)
{
	if (a->kind == ATTR_STACK_MAP_TABLE && b->kind == ATTR_STACK_MAP_TABLE)
		return true; /* its frames hang on labels */
	if (a->name != b->name || a->data.n != b->data.n)
		return false;
	if (!s->padded)
		return slice_eq(a->data, b->data);
	return a->kind == ATTR_STACK_MAP || same_padded(s, a, b);
}

static const char *same_tables(struct same *s)
{
	s->at_a = ordinals(s->a);
	s->at_b = ordinals(s->b);
	if (!s->at_a || !s->at_b)
		return differ(s, "out of memory");
	if (s->a->n_tables != s->b->n_tables)
		return differ(s, "attributes of the code: %u have become %u", s->a->n_tables,
			      s->b->n_tables);
	for (uint32_t i = 0; i < s->a->n_tables; i++) {
		const struct attr *a = &s->a->tables[i].attr, *b = &s->b->tables[i].attr;

		if (!same_table(s, a, b))
			return differ(s, "attribute %u of the code (%s) differs", i,
				      attr_table[a->kind].name);
	}
	return NULL;
}

const char *code_same(struct code *a, struct code *b, enum code_same_mode mode,
		      char text[CODE_SAME_TEXT])
{
	struct same s = { a, b, mode == CODE_PADDED, text, NULL, NULL };
	uint32_t in_a = number(a, s.padded), in_b = number(b, s.padded);
	const char *differs;

	if (a->max_stack != b->max_stack || a->max_locals != b->max_locals)
		return differ(&s, "max_stack or max_locals differ");
	differs = same_list(&s);
	if (!differs && in_a != in_b)
		differs = differ(&s, "instructions: %u have become %u", in_a, in_b);
	if (!differs)
		differs = same_frames(&s);
	if (!differs)
		differs = same_handlers(&s);
	if (!differs)
		differs = same_tables(&s);
	return differs;
}
