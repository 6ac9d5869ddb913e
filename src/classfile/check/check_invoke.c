/* SPDX-License-Identifier: Apache-2.0 */
/* check_invoke.c - instructions that name a field or a method (JVMS 4.10.1.8 and 4.10.1.9).
 *
 * Whether the member exists, is static, protected or final needs other classes; the JVM sees to
 * that later.  Here its descriptor is held against the stack. */
#include "classfile/check/check_priv.h"

enum { ARGS_MAX = 255 };

/* A Fieldref, Methodref ... taken apart, with the descriptor's pool index. */
struct named {
	ctype owner;
	struct slice name;
	uint16_t name_index, desc;
};

static int named_member(struct check *c, uint32_t tags, struct named *m)
{
	const struct pool *p = c->pool;
	uint16_t index = c->at->index, pair;

	if (!pool_is(p, index, tags))
		return check_fail(c, "constant %u has the wrong tag, %u, for class version %u",
				  index, pool_tag(p, index), c->cls->major);
	pair = pool_second(p, index);
	m->name_index = pool_first(p, pair);
	m->name = pool_utf8(p, m->name_index);
	m->desc = pool_second(p, pair);
	m->owner = CT_TOP;
	if (c->at->op == OP_INVOKEDYNAMIC)
		return 0;
	m->owner = ct_class(p, pool_first(p, index));
	if (m->owner == CT_TOP)
		return check_fail(c, "constant %u names no class", index);
	return 0;
}

/* Before this() or super(), fields that the class itself declares may be set. */
static int is_own_field(struct check *c, const struct named *m)
{
	const struct class *cls = c->cls;
	struct slice desc = pool_utf8(c->pool, m->desc);

	if (!ct_same_class(c->pool, m->owner, c->this_type))
		return 0;
	for (uint32_t i = 0; i < cls->n_fields; i++) {
		int rc = check_work(c, 1);

		if (rc < 0)
			return rc;
		if (slice_eq(member_name(cls, &cls->fields[i]), m->name) &&
		    slice_eq(member_desc(cls, &cls->fields[i]), desc))
			return 1;
	}
	return 0;
}

static int pop_owner(struct check *c, const struct named *m)
{
	int rc;

	if (ct_dims(m->owner))
		return check_fail(c, "an array has no fields");
	if (c->at->op == OP_PUTFIELD && c->depth && c->stack[c->depth - 1] == CT_UNINIT_THIS) {
		rc = is_own_field(c, m);
		if (rc < 0)
			return rc;
		if (rc) {
			c->depth--;
			return 0;
		}
	}
	return check_pop(c, m->owner);
}

/* The older verifier takes this for initialized even as the value that such a field gets. */
static int lend_this(struct check *c, const struct named *m)
{
	int rc = 0;

	if (c->depth && c->stack[c->depth - 1] == CT_UNINIT_THIS) {
		rc = is_own_field(c, m);
		if (rc > 0)
			c->stack[c->depth - 1] = c->this_type;
	}
	return rc < 0 ? rc : 0;
}

int check_field(struct check *c)
{
	bool get = c->at->op == OP_GETSTATIC || c->at->op == OP_GETFIELD;
	bool is_static = c->at->op == OP_GETSTATIC || c->at->op == OP_PUTSTATIC;
	struct named m;
	size_t at = 0;
	ctype t;
	int rc;

	rc = named_member(c, TAGS(CONST_FIELDREF), &m);
	if (rc < 0)
		return rc;
	t = ct_desc(c->pool, m.desc, &at);
	if (t == CT_TOP || at != pool_utf8(c->pool, m.desc).n)
		return check_fail(c, "field %.*s has a malformed descriptor",
				  m.name.n > 60 ? 60 : (int)m.name.n, (const char *)m.name.p);
	if (c->infer && c->at->op == OP_PUTFIELD)
		rc = lend_this(c, &m);
	if (rc == 0 && !get)
		rc = check_pop(c, t);
	if (rc == 0 && !is_static)
		rc = pop_owner(c, &m);
	if (rc == 0 && get)
		rc = check_push(c, t);
	return rc;
}

/* ---- methods ---- */

/* Everywhere on stack and in locals the object is now initialized. */
static int replace(struct check *c, ctype old, ctype now)
{
	int rc = check_work(c, c->depth + (c->local_uninit ? c->n_locals : 0));

	if (rc < 0)
		return rc;
	for (uint32_t i = 0; i < c->depth; i++)
		if (c->stack[i] == old)
			c->stack[i] = now;
	for (uint32_t i = 0; i < c->n_locals && c->local_uninit; i++) {
		if (c->locals[i] != old)
			continue;
		c->locals[i] = now;
		c->initialized = true;
		check_mark_dirty(c, i, i + 1);
	}
	return 0;
}

static int call_init(struct check *c, const struct named *m)
{
	char want[CT_TEXT], found[CT_TEXT];
	ctype t, now;
	int rc;

	rc = check_pop_any(c, &t);
	if (rc < 0)
		return rc;
	if (t == CT_UNINIT_THIS) {
		if (!ct_same_class(c->pool, m->owner, c->this_type) &&
		    (ct_dims(m->owner) ||
		     !slice_eq(ct_name(c->pool, m->owner), class_super(c->cls))))
			return check_fail(
				c,
				"<init> of %s is called on this, which is neither of that "
				"class nor directly below it",
				ct_text(c->pool, m->owner, want));
		/* No frame at the handler could stand for both before and after the call. */
		if (c->in_range && !c->infer)
			return check_fail(c,
					  "this() or super() is called where an exception handler "
					  "covers it");
		now = c->this_type;
		c->this_uninit = false;
	} else if (ct_kind(t) == CT_UNINIT) {
		now = ct_class(c->pool, ct_made_by(t)->index);
		if (!ct_same_class(c->pool, m->owner, now))
			return check_fail(c, "<init> of %s is called on %s",
					  ct_text(c->pool, m->owner, want),
					  ct_text(c->pool, t, found));
	} else {
		return check_fail(c, "<init> is called on %s, which is initialized",
				  ct_text(c->pool, t, found));
	}
	return replace(c, t, now);
}

static bool is_direct_interface(const struct class *cls, struct slice name)
{
	for (unsigned i = 0; i < class_n_interfaces(cls); i++)
		if (slice_eq(class_interface(cls, i), name))
			return true;
	return false;
}

/* super.f(), or a private method: of this class or one above it. */
static int check_special(struct check *c, const struct named *m)
{
	struct slice name;
	char owner[CT_TEXT];
	int rc;

	if (ct_same_class(c->pool, m->owner, c->this_type))
		return 0;
	if (ct_kind(m->owner) != CT_OBJECT || ct_dims(m->owner))
		return check_fail(c, "names a method of an array");
	name = ct_name(c->pool, m->owner);
	if (slice_eq(name, class_super(c->cls)))
		return 0;
	rc = check_work(c, class_n_interfaces(c->cls));
	if (rc < 0)
		return rc;
	if (is_direct_interface(c->cls, name))
		return 0;
	if (pool_tag(c->pool, c->at->index) == CONST_INTERFACE_METHODREF ||
	    !ct_assignable(c->cls, c->this_type, m->owner))
		return check_fail(c, "%s is not a direct superclass or interface",
				  ct_text(c->pool, m->owner, owner));
	return 0;
}

struct signature {
	ctype args[ARGS_MAX], result; /* result CT_TOP: void */
	uint32_t n, slots;
};

static int read_signature(struct check *c, uint16_t desc, struct signature *s)
{
	struct slice text = pool_utf8(c->pool, desc);
	size_t at = 1;

	s->n = s->slots = 0;
	s->result = CT_TOP;
	if (text.n < 3 || text.p[0] != '(')
		goto malformed;
	while (at < text.n && text.p[at] != ')') {
		ctype t = ct_desc(c->pool, desc, &at);

		if (t == CT_TOP)
			goto malformed;
		s->slots += t == CT_LONG || t == CT_DOUBLE ? 2 : 1;
		if (s->slots > ARGS_MAX)
			goto malformed;
		s->args[s->n++] = t;
	}
	if (++at >= text.n)
		goto malformed;
	if (text.p[at] == 'V') {
		at++;
	} else {
		s->result = ct_desc(c->pool, desc, &at);
		if (s->result == CT_TOP)
			goto malformed;
	}
	if (at == text.n)
		return 0;
malformed:
	return check_fail(c, "malformed descriptor %.*s", text.n > 60 ? 60 : (int)text.n,
			  (const char *)text.p);
}

uint32_t check_invoke_tags(const struct check *c)
{
	uint16_t major = c->cls->major;

	switch (c->at->op) {
	case OP_INVOKEVIRTUAL:
		return TAGS(CONST_METHODREF);
	case OP_INVOKEINTERFACE:
		return TAGS(CONST_INTERFACE_METHODREF);
	case OP_INVOKEDYNAMIC:
		return major >= 51 ? TAGS(CONST_INVOKE_DYNAMIC) : 0;
	default:
		return major >= 52 ? TAGS_METHOD : TAGS(CONST_METHODREF);
	}
}

/* The bytes behind the operands of invokeinterface and invokedynamic, as they were read. */
static bool padding_is_zero(const struct check *c)
{
	const uint8_t *p = c->code->bytes.p + c->at->old;

	if (!(c->at->flags & INSN_COPY) || c->at->op < OP_INVOKEINTERFACE)
		return true; /* they are written as zero */
	return p[4] == 0 && (c->at->op == OP_INVOKEINTERFACE || p[3] == 0);
}

int check_invoke(struct check *c)
{
	uint8_t op = c->at->op;
	struct signature s;
	struct named m;
	bool init = false;
	int rc;

	rc = named_member(c, check_invoke_tags(c), &m);
	if (rc < 0)
		return rc;
	rc = read_signature(c, m.desc, &s);
	if (rc < 0)
		return rc;
	if (!padding_is_zero(c))
		return check_fail(c, "the bytes behind its operands must be zero");
	if (m.name.n && m.name.p[0] == '<') {
		init = op == OP_INVOKESPECIAL && slice_is(m.name, "<init>");
		if (!init || s.result != CT_TOP)
			return check_fail(c, "must not call %.*s",
					  m.name.n > 60 ? 60 : (int)m.name.n,
					  (const char *)m.name.p);
	} else if (op == OP_INVOKESPECIAL) {
		rc = check_special(c, &m);
	} else if (op == OP_INVOKEINTERFACE && (uint8_t)c->at->arg != s.slots + 1) {
		return check_fail(c, "says %u argument slots, the descriptor %u",
				  (uint8_t)c->at->arg, s.slots + 1);
	}
	while (s.n && rc == 0)
		rc = check_pop(c, s.args[--s.n]);
	if (rc < 0)
		return rc;
	if (init)
		return call_init(c, &m);
	if (op == OP_INVOKESPECIAL)
		rc = check_pop(c, c->this_type);
	else if (op == OP_INVOKEVIRTUAL || op == OP_INVOKEINTERFACE)
		rc = check_pop(c, m.owner);
	if (rc == 0 && s.result != CT_TOP)
		rc = check_push(c, s.result);
	return rc;
}
