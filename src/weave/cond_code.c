/* SPDX-License-Identifier: Apache-2.0 */
/* cond_code.c - the byte code of a condition.
 *
 * put_cond() is given a label and the outcome for which to go there; otherwise the code falls
 * through.  So `and` and `or` are jumps and nothing is computed that is not needed.  At every
 * label the stack is as it was at the beginning, hence all of them have the same frame.
 *
 * Numbers of Java's basic types that are at hand (arguments, fields of the class itself, literals)
 * are compared by instructions; everything else is an Object that SondeData tests. */
#include "weave/cond_code.h"

#include "base/utf8.h"
#include "classfile/desc.h"
#include "classfile/insn.h"

/* ---- sites -------------------------------------------------------------------------------- */

struct cond_site cond_site_of_step(const struct step *s)
{
	static const enum cond_site_kind kinds[] = {
		[STEP_FIELD] = SITE_FIELD, [STEP_CALL] = SITE_CALL, [STEP_INDEX] = SITE_INDEX
	};

	return (struct cond_site){ kinds[s->kind], s->name, s->args, s->trusted };
}

struct cond_site cond_site_of_test(const struct cond *c)
{
	if (c->op == COND_MATCHES)
		return (struct cond_site){ .kind = SITE_MATCH, .name = c->right->text };
	if (c->op == COND_IN)
		return (struct cond_site){ .kind = SITE_LIST, .args = c->right };
	return (struct cond_site){ .kind = SITE_TYPE, .name = c->type };
}

int cond_value_sites(const struct value *v, cond_visit *visit, void *ctx)
{
	int rc = 0;

	for (const struct step *s = v ? v->steps : NULL; s && rc >= 0; s = s->next) {
		struct cond_site site = cond_site_of_step(s);

		rc = visit(ctx, &site, s->at);
	}
	return rc;
}

int cond_sites(const struct cond *c, cond_visit *visit, void *ctx)
{
	int rc = 0;

	for (const struct cond *child = c->children; child && rc >= 0; child = child->next)
		rc = cond_sites(child, visit, ctx);
	if (c->op <= COND_NOT || rc < 0)
		return rc;
	rc = cond_value_sites(c->left, visit, ctx);
	if (rc >= 0 && c->op != COND_IN)
		rc = cond_value_sites(c->right, visit, ctx);
	if (rc >= 0 && (c->op == COND_MATCHES || c->op == COND_IN || c->op == COND_INSTANCE)) {
		struct cond_site site = cond_site_of_test(c);

		rc = visit(ctx, &site, c->right ? c->right->at : c->at);
	}
	return rc;
}

static bool value_calls(const struct value *v)
{
	for (const struct step *s = v ? v->steps : NULL; s; s = s->next)
		if (s->kind != STEP_FIELD)
			return true;
	return false;
}

bool cond_calls(const struct cond *c)
{
	for (const struct cond *child = c->children; child; child = child->next)
		if (cond_calls(child))
			return true;
	if (c->op <= COND_NOT)
		return false;
	return value_calls(c->left) || value_calls(c->right) || c->op == COND_CONTAINS ||
	       (c->right && c->right->kind == VALUE_PATH); /* equals() of two objects */
}

static bool is_late_value(const struct value *v)
{
	return v && v->kind == VALUE_PATH && v->root == ROOT_RETURN;
}

bool cond_is_late(const struct cond *c)
{
	for (const struct cond *child = c->children; child; child = child->next)
		if (cond_is_late(child))
			return true;
	return c->op > COND_NOT && (is_late_value(c->left) || is_late_value(c->right));
}

bool cond_of_thrown(const struct cond *c)
{
	switch (c->op) {
	case COND_NOT:
		return !cond_of_thrown(c->children);
	case COND_AND:
		for (c = c->children; c; c = c->next)
			if (cond_is_late(c) && !cond_of_thrown(c))
				return false;
		return true;
	case COND_OR:
		for (c = c->children; c; c = c->next)
			if (cond_of_thrown(c))
				return true;
		return false;
	default:
		return false; /* a value that cannot be had */
	}
}

/* ---- instructions ------------------------------------------------------------------------- */

static void fail(struct cond_place *p, int rc)
{
	if (p->rc >= 0)
		p->rc = rc;
}

static void put(struct cond_place *p, struct insn *n)
{
	if (p->rc < 0)
		return;
	if (!insn_before(p->code, p->before, n))
		fail(p, p->code->cls->pool.n > 65000 ? E_POOL_FULL : E_NO_MEMORY);
	else
		n->flags |= INSN_MARKED;
}

static void put_op(struct cond_place *p, uint8_t op)
{
	put(p, insn_new(p->code, op));
}

static void put_pool(struct cond_place *p, uint8_t op, int index)
{
	if (index < 0)
		fail(p, index);
	else
		put(p, insn_pool(p->code, op, (uint16_t)index));
}

static void put_int(struct cond_place *p, int32_t v)
{
	put(p, insn_int(p->code, v));
}

static void put_id(struct cond_place *p)
{
	if (p->own_id)
		put_pool(p, OP_LDC, p->own_id);
	else
		put_int(p, p->id);
}

/* Of a site or a slot; negative: there is none. */
static void put_given(struct cond_place *p, int32_t number)
{
	int index;

	if (number < 0 || !p->numbers->placed) {
		put_int(p, number);
		if (number < 0)
			fail(p, number);
		return;
	}
	index = pool_add_own_int(&p->code->cls->pool, number);
	put_pool(p, OP_LDC, index);
	if (index > 0)
		p->numbers->placed(p->numbers->ctx, number, (uint16_t)index);
}

static void put_call(struct cond_place *p, const char *owner, const char *name, const char *desc)
{
	if (p->rc >= 0)
		put_pool(p, OP_INVOKESTATIC,
			 pool_add_ref(&p->code->cls->pool, CONST_METHODREF, slice_str(owner),
				      slice_str(name), slice_str(desc)));
}

static void put_helper(struct cond_place *p, const char *name, const char *desc)
{
	put_call(p, DATA_CLASS, name, desc);
}

static void put_branch(struct cond_place *p, uint8_t op, struct insn *to)
{
	put(p, insn_branch(p->code, op, to));
}

/* A label of our own, with the frame that all of them have. */
static void put_label(struct cond_place *p, struct insn *label)
{
	struct frame *f;

	if (p->rc < 0)
		return;
	if (p->frame) {
		f = arena_copy(p->code->mem, p->frame, sizeof(*f));
		if (!f) {
			fail(p, E_NO_MEMORY);
			return;
		}
		label->frame = f;
	}
	insn_before(p->code, p->before, label);
}

static struct insn *new_label(struct cond_place *p)
{
	struct insn *label = insn_label(p->code);

	if (!label)
		fail(p, E_NO_MEMORY);
	return label;
}

/* ---- values ------------------------------------------------------------------------------- */

static uint8_t kind_of(uint8_t type)
{
	static const char kinds[] = "IJFD";
	const char *at = type == 'L' || type == '[' ? NULL : strchr(kinds, type);

	return type == 'L' || type == '[' ? 4 : at ? (uint8_t)(at - kinds) : 0;
}

static bool is_static(const struct cond_place *p)
{
	return p->code->method->access & ACC_STATIC;
}

/* The type of an argument, from 1, and its local. */
static struct slice argument(const struct cond_place *p, int64_t number, unsigned *slot)
{
	struct desc_iter it = desc_args(member_desc(p->code->cls, p->code->method));

	*slot = is_static(p) ? 0 : 1;
	while (desc_next(&it)) {
		if (--number == 0)
			return it.type;
		*slot += desc_slots(it.type);
	}
	return (struct slice){ (const uint8_t *)"V", 1 }; /* cond_check has seen that it is there */
}

/* The field that the first step of `$this.name` names, when the class itself declares it. */
static const struct member *own_field(const struct cond_place *p, const struct value *v)
{
	const struct class *cls = p->code->cls;

	if (v->kind != VALUE_PATH || v->root != ROOT_THIS || !v->steps ||
	    v->steps->kind != STEP_FIELD)
		return NULL;
	for (uint32_t i = 0; i < cls->n_fields; i++)
		if (slice_eq(member_name(cls, &cls->fields[i]), v->steps->name) &&
		    !(cls->fields[i].access & ACC_STATIC) &&
		    desc_is_field(member_desc(cls, &cls->fields[i])))
			return &cls->fields[i];
	return NULL;
}

/* The type letter of what lies at hand without a step into another object. */
static uint8_t type_at_hand(const struct cond_place *p, const struct value *v)
{
	const struct member *field = own_field(p, v);
	unsigned slot;

	if (field)
		return member_desc(p->code->cls, field).p[0];
	if (v->root == ROOT_RETURN)
		return p->result.p[0];
	return v->root == ROOT_ARGUMENT ? argument(p, v->number, &slot).p[0] : 'L';
}

/* The letter of a basic type when the value is one at hand, else 0. */
static uint8_t basic_of(const struct cond_place *p, const struct value *v)
{
	static const char literals[] = { [VALUE_CHAR] = 'C',
					 [VALUE_INT] = 'I',
					 [VALUE_LONG] = 'J',
					 [VALUE_DOUBLE] = 'D',
					 [VALUE_BOOL] = 'Z' };
	uint8_t type;

	if (v->kind != VALUE_PATH)
		return v->kind < COUNT(literals) ? (uint8_t)literals[v->kind] : 0;
	if (v->steps && (v->steps->next || !own_field(p, v)))
		return 0;
	type = type_at_hand(p, v);
	return type == 'L' || type == '[' ? 0 : type;
}

/* What is at hand, in its own type. */
static void put_at_hand(struct cond_place *p, const struct value *v)
{
	const struct member *field = own_field(p, v);
	struct class *cls = p->code->cls;
	unsigned slot = 0;
	struct slice type;

	if (field) {
		put(p, insn_local(p->code, OP_ALOAD, 0));
		put_pool(p, OP_GETFIELD,
			 pool_add_ref(&cls->pool, CONST_FIELDREF, class_name(cls),
				      member_name(cls, field), member_desc(cls, field)));
	} else if (v->root == ROOT_ARGUMENT) {
		type = argument(p, v->number, &slot);
		put(p,
		    insn_local(p->code, (uint8_t)(OP_ILOAD + kind_of(type.p[0])), (uint16_t)slot));
	} else if (v->root == ROOT_RETURN) {
		put(p, insn_local(p->code, (uint8_t)(OP_ILOAD + kind_of(p->result.p[0])), p->kept));
	} else if (v->root == ROOT_CAPTURE) {
		put_given(p, p->numbers->slot(p->numbers->ctx, v->text));
		put_helper(p, "held", "(I)Ljava/lang/Object;");
	} else {
		put(p, insn_local(p->code, OP_ALOAD, 0));
	}
}

static void put_long(struct cond_place *p, int64_t v)
{
	if (v == 0 || v == 1)
		put_op(p, v ? OP_LCONST_1 : OP_LCONST_0);
	else
		put_pool(p, OP_LDC2_W, pool_add_wide(&p->code->cls->pool, CONST_LONG, (uint64_t)v));
}

static void put_double(struct cond_place *p, double v)
{
	uint64_t bits;

	memcpy(&bits, &v, sizeof(bits));
	put_pool(p, OP_LDC2_W, pool_add_wide(&p->code->cls->pool, CONST_DOUBLE, bits));
}

static void put_text(struct cond_place *p, struct slice text)
{
	struct slice java = cond_java_text(p->code->mem, text);

	if (!java.p)
		fail(p, E_NO_MEMORY);
	else
		put_pool(p, OP_LDC, pool_add_name(&p->code->cls->pool, CONST_STRING, java));
}

static void put_box(struct cond_place *p, uint8_t type)
{
	static const struct {
		char type;
		const char *owner, *desc;
	} boxes[] = {
		{ 'Z', "java/lang/Boolean", "(Z)Ljava/lang/Boolean;" },
		{ 'C', "java/lang/Character", "(C)Ljava/lang/Character;" },
		{ 'J', "java/lang/Long", "(J)Ljava/lang/Long;" },
		{ 'D', "java/lang/Double", "(D)Ljava/lang/Double;" },
		{ 'I', "java/lang/Integer", "(I)Ljava/lang/Integer;" }, /* the last, for the rest */
	};
	size_t i = 0;

	if (type == 'F') {
		put_op(p, OP_F2D);
		type = 'D';
	}
	while (i + 1 < COUNT(boxes) && boxes[i].type != (char)type)
		i++;
	if (slice_is(class_name(p->code->cls), boxes[i].owner))
		fail(p, E_CONDITION); /* it would call itself */
	put_call(p, boxes[i].owner, "valueOf", boxes[i].desc);
}

static void put_literal(struct cond_place *p, const struct value *v)
{
	switch (v->kind) {
	case VALUE_STRING:
		put_text(p, v->text);
		return;
	case VALUE_LONG:
		put_long(p, v->number);
		return;
	case VALUE_DOUBLE:
		put_double(p, v->real);
		return;
	case VALUE_NULL:
		put_op(p, OP_ACONST_NULL);
		return;
	default:
		put_int(p, (int32_t)v->number);
	}
}

static void put_site(struct cond_place *p, const struct cond_site *site)
{
	put_given(p, p->numbers->site(p->numbers->ctx, site));
}

/* The value as an Object. */
static void put_object(struct cond_place *p, const struct value *v)
{
	const struct step *s = v->steps;
	uint8_t type;

	if (v->kind != VALUE_PATH) {
		put_literal(p, v);
		if (basic_of(p, v))
			put_box(p, basic_of(p, v));
		return;
	}
	put_at_hand(p, v);
	type = type_at_hand(p, v);
	if (type != 'L' && type != '[')
		put_box(p, type);
	if (own_field(p, v))
		s = s->next;
	for (; s; s = s->next) {
		struct cond_site site = cond_site_of_step(s);

		put_site(p, &site);
		put_helper(p, "step", "(Ljava/lang/Object;I)Ljava/lang/Object;");
	}
}

/* A number at hand, as an int, long or double. */
static void put_number(struct cond_place *p, const struct value *v, uint8_t as)
{
	uint8_t type = basic_of(p, v);

	if (v->kind != VALUE_PATH && as == 'D') {
		put_double(p, v->kind == VALUE_DOUBLE ? v->real : (double)v->number);
		return;
	}
	if (v->kind != VALUE_PATH && as == 'J') {
		put_long(p, v->number);
		return;
	}
	if (v->kind != VALUE_PATH)
		put_literal(p, v);
	else
		put_at_hand(p, v);
	if (as == 'J' && type != 'J')
		put_op(p, OP_I2L);
	else if (as == 'D' && type == 'F')
		put_op(p, OP_F2D);
	else if (as == 'D' && type == 'J')
		put_op(p, OP_L2D);
	else if (as == 'D' && type != 'D')
		put_op(p, OP_I2D);
}

/* ---- tests -------------------------------------------------------------------------------- */

static enum cond_op turned(enum cond_op op)
{
	switch (op) {
	case COND_LT:
		return COND_GT;
	case COND_LE:
		return COND_GE;
	case COND_GT:
		return COND_LT;
	case COND_GE:
		return COND_LE;
	default:
		return op;
	}
}

/* The branch over the outcome of a comparison (or over two ints, from if_icmpeq on). */
static uint8_t branch_op(enum cond_op op, bool when, uint8_t eq)
{
	static const uint8_t order[] = { [COND_EQ - COND_EQ] = 0, [COND_NE - COND_EQ] = 1,
					 [COND_LT - COND_EQ] = 2, [COND_LE - COND_EQ] = 5,
					 [COND_GT - COND_EQ] = 4, [COND_GE - COND_EQ] = 3 };
	uint8_t at = order[op - COND_EQ]; /* eq ne lt ge gt le: opposites are neighbours */

	return (uint8_t)(eq + (when ? at : at ^ 1));
}

/* Compares two numbers at hand. */
static void put_comparison(struct cond_place *p, const struct cond *c, struct insn *to, bool when)
{
	uint8_t a = basic_of(p, c->left), b = basic_of(p, c->right);
	bool real = kind_of(a) >= 2 || kind_of(b) >= 2;
	uint8_t as = real ? 'D' : a == 'J' || b == 'J' ? 'J' : 'I';

	put_number(p, c->left, as);
	put_number(p, c->right, as);
	if (as == 'I') {
		put_branch(p, branch_op(c->op, when, OP_IF_ICMPEQ), to);
		return;
	}
	/* NaN makes every test but != false */
	put_op(p, as == 'J' ? OP_LCMP : c->op == COND_LT || c->op == COND_LE ? OP_DCMPG : OP_DCMPL);
	put_branch(p, branch_op(c->op, when, OP_IFEQ), to);
}

/* An object against a literal or another object. */
static void put_object_test(struct cond_place *p, const struct cond *c)
{
	const struct value *left = c->left, *right = c->right;
	enum cond_op op = c->op;

	if (left->kind != VALUE_PATH) { /* 3 < $1.size() */
		left = c->right;
		right = c->left;
		op = turned(op);
	}
	put_object(p, left);
	switch (right->kind) {
	case VALUE_NULL:
		break;
	case VALUE_STRING:
		put_text(p, right->text);
		break;
	case VALUE_CHAR:
	case VALUE_INT:
	case VALUE_LONG:
		if (op == COND_CONTAINS)
			put_object(p, right); /* of a collection: an Integer is no Long */
		else
			put_long(p, right->number);
		break;
	case VALUE_DOUBLE:
		if (op == COND_CONTAINS)
			put_object(p, right);
		else
			put_double(p, right->real);
		break;
	default:
		put_object(p, right);
	}
	put_int(p, (int32_t)op);
	put_id(p);
	if (right->kind == VALUE_NULL)
		put_helper(p, "none", "(Ljava/lang/Object;II)Z");
	else if (right->kind == VALUE_STRING)
		put_helper(p, "text", "(Ljava/lang/Object;Ljava/lang/String;II)Z");
	else if (right->kind == VALUE_PATH || right->kind == VALUE_BOOL || op == COND_CONTAINS)
		put_helper(p, "pair", "(Ljava/lang/Object;Ljava/lang/Object;II)Z");
	else if (right->kind == VALUE_DOUBLE)
		put_helper(p, "real", "(Ljava/lang/Object;DII)Z");
	else
		put_helper(p, "whole", "(Ljava/lang/Object;JII)Z");
}

static void put_site_test(struct cond_place *p, const struct cond *c)
{
	struct cond_site site = cond_site_of_test(c);

	put_object(p, c->left);
	put_site(p, &site);
	put_id(p);
	put_helper(p,
		   c->op == COND_MATCHES ? "match"
		   : c->op == COND_IN	 ? "in"
					 : "isA",
		   "(Ljava/lang/Object;II)Z");
}

static void put_test(struct cond_place *p, const struct cond *c, struct insn *to, bool when)
{
	if (c->op == COND_TRUTH && basic_of(p, c->left)) {
		put_at_hand(p, c->left);
	} else if (c->op == COND_TRUTH) {
		put_object(p, c->left);
		put_id(p);
		put_helper(p, "truth", "(Ljava/lang/Object;I)Z");
	} else if (c->op >= COND_EQ && c->op <= COND_GE && basic_of(p, c->left) &&
		   basic_of(p, c->right)) {
		put_comparison(p, c, to, when);
		return;
	} else if (c->op == COND_MATCHES || c->op == COND_IN || c->op == COND_INSTANCE) {
		put_site_test(p, c);
	} else {
		put_object_test(p, c);
	}
	put_branch(p, when ? OP_IFNE : OP_IFEQ, to);
}

/* Goes to `to` when the outcome is `when`, else falls through. */
static void put_cond(struct cond_place *p, const struct cond *c, struct insn *to, bool when)
{
	struct insn *out = NULL;

	if (p->rc < 0)
		return;
	if (c->op > COND_NOT) {
		put_test(p, c, to, when);
		return;
	}
	if (c->op == COND_NOT) {
		put_cond(p, c->children, to, !when);
		return;
	}
	/* One false child decides an `and`, one true an `or`. */
	if (when == (c->op == COND_AND) && !(out = new_label(p)))
		return;
	for (const struct cond *child = c->children; child; child = child->next) {
		if (out && child->next)
			put_cond(p, child, out, !when);
		else
			put_cond(p, child, to, when);
	}
	if (out)
		put_label(p, out);
}

int cond_put(struct cond_place *p, const struct cond *c, struct insn *unmet)
{
	if (c->op == COND_AND) {
		for (c = c->children; c; c = c->next)
			cond_put(p, c, unmet);
	} else if (cond_is_late(c) == (p->when == COND_EXIT)) {
		put_cond(p, c, unmet, false);
	}
	return p->rc;
}

int cond_put_value(struct cond_place *p, const struct value *v)
{
	put_object(p, v);
	return p->rc;
}

/* ---- text --------------------------------------------------------------------------------- */

struct slice cond_java_text(struct arena *mem, struct slice text)
{
	uint8_t *out = arena_alloc(mem, 2 * text.n + 1), *at = out;
	const uint8_t *p = text.p, *end = slice_end(text);

	if (!out)
		return (struct slice){ NULL, 0 };
	while (p < end) {
		if (*p == 0) { /* JVMS 4.4.7 */
			*at++ = 0xc0;
			*at++ = 0x80;
			p++;
		} else if (*p >= 0xf0 && end - p >= 4) {
			uint32_t code = (uint32_t)(p[0] & 7) << 18 | (uint32_t)(p[1] & 63) << 12 |
					(uint32_t)(p[2] & 63) << 6 | (uint32_t)(p[3] & 63);
			uint32_t pair[] = { 0xd800 + ((code - 0x10000) >> 10),
					    0xdc00 + (code & 0x3ff) };

			for (int i = 0; i < 2; i++)
				at += utf8_encode(pair[i], at);
			p += 4;
		} else {
			*at++ = *p++;
		}
	}
	return (struct slice){ out, (size_t)(at - out) };
}
