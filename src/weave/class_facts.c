/* SPDX-License-Identifier: Apache-2.0 */
/* class_facts.c - names, ancestors and annotations of a class and its methods. */
#include "weave/class_facts.h"

struct types {
	struct arena *mem;
	const struct pool *pool;
	struct slice *v;
	size_t n, cap;
	unsigned depth;
};

static bool add_type(struct types *t, struct slice desc)
{
	if (t->n == t->cap) {
		size_t cap = t->cap ? t->cap * 2 : 4;
		struct slice *v = arena_alloc(t->mem, cap * sizeof(*v));

		if (!v)
			return false;
		if (t->n)
			memcpy(v, t->v, t->n * sizeof(*v));
		t->v = v;
		t->cap = cap;
	}
	t->v[t->n++] = desc;
	return true;
}

static bool skip_annotation(struct types *t, struct reader *r);

/* element_value (JVMS 4.7.16.1), stepped over; nesting is limited as in attr.c. */
static bool skip_value(struct types *t, struct reader *r)
{
	unsigned n;
	bool ok = true;

	if (++t->depth > 200)
		return false;
	switch (rd_u8(r)) {
	case 'e':
		rd_take(r, 4);
		break;
	case '@':
		ok = skip_annotation(t, r);
		break;
	case '[':
		for (n = rd_u16(r); n && ok && !r->err; n--)
			ok = skip_value(t, r);
		break;
	default:
		rd_take(r, 2);
	}
	t->depth--;
	return ok && !r->err;
}

static bool skip_annotation(struct types *t, struct reader *r)
{
	rd_u16(r);
	for (unsigned n = rd_u16(r); n && !r->err; n--) {
		rd_u16(r);
		if (!skip_value(t, r))
			return false;
	}
	return !r->err;
}

static int annotations(const struct attrs *attrs, struct types *t)
{
	struct attr attr;

	for (const uint8_t *at = NULL; attrs_next(attrs, t->pool, &at, &attr);) {
		struct reader r = rd_init(attr.data);

		if (attr.kind != ATTR_RUNTIME_VISIBLE_ANNOTATIONS &&
		    attr.kind != ATTR_RUNTIME_INVISIBLE_ANNOTATIONS)
			continue;
		for (unsigned n = rd_u16(&r); n; n--) {
			struct reader type = r;

			if (!add_type(t, pool_utf8(t->pool, rd_u16(&type))))
				return E_NO_MEMORY;
			if (!skip_annotation(t, &r))
				return E_ATTRIBUTE;
		}
	}
	return 0;
}

int class_facts_of_class(const struct class *cls, struct arena *mem, struct rule_class *out)
{
	struct types types = { .mem = mem, .pool = &cls->pool };
	size_t n = class_n_interfaces(cls);
	struct slice *interfaces = arena_alloc(mem, n * sizeof(*interfaces));
	int rc = interfaces ? annotations(&cls->attrs, &types) : E_NO_MEMORY;

	if (rc < 0)
		return rc;
	for (unsigned i = 0; i < n; i++)
		interfaces[i] = class_interface(cls, i);
	out->name = class_name(cls);
	out->super = class_super(cls);
	out->interfaces = interfaces;
	out->interface_count = n;
	out->annotations = types.v;
	out->annotation_count = types.n;
	out->access = cls->access;
	return 0;
}

int class_facts_of_method(const struct class *cls, const struct member *m, struct arena *mem,
			  struct rule_method *out)
{
	struct types types = { .mem = mem, .pool = &cls->pool };
	int rc = m->code.p && m->attrs.n == 1 ? 0 : annotations(&m->attrs, &types);

	if (rc < 0)
		return rc;
	*out = (struct rule_method){ .name = member_name(cls, m),
				     .desc = member_desc(cls, m),
				     .access = m->access,
				     .annotations = types.v,
				     .annotation_count = types.n };
	return 0;
}
