/* SPDX-License-Identifier: Apache-2.0 */
/* rule_target.c - tests a target against facts, the cheapest test first.
 *
 * Names are compared before ancestors are looked up, because looking up may mean reading
 * other classes. */
#include "rule/rule_target.h"

const struct target_modifier target_modifiers[] = {
	{ "public", 0x0001 },
	{ "private", 0x0002 },
	{ "protected", 0x0004 },
	{ "static", TARGET_STATIC },
	{ "final", 0x0010 },
	{ "synchronized", 0x0020 },
	{ "bridge", 0x0040 },
	{ "varargs", 0x0080 },
	{ "native", 0x0100 },
	{ "abstract", 0x0400 },
	{ "strictfp", 0x0800 },
	{ "synthetic", 0x1000 },
	{ NULL, 0 },
};

static bool has_ancestor(const struct kin *k, const struct rule_lineage *l)
{
	for (size_t i = 0; i < l->n; i++)
		if ((k->kind == KIN_EXTENDS || l->list[i].interface) &&
		    pattern_match(&k->name, l->list[i].name))
			return true;
	return false;
}

static bool has_annotation(const struct kin *k, const struct slice *list, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct slice d = list[i];

		if (d.n < 3 || d.p[0] != 'L' || d.p[d.n - 1] != ';')
			continue;
		if (pattern_match(&k->name, (struct slice){ d.p + 1, d.n - 2 }))
			return true;
	}
	return false;
}

static enum target_answer test_annotated(const struct kin *k, const struct rule_class *cls,
					 const struct rule_method *m)
{
	const struct rule_resolver *r = cls->resolver;

	if (has_annotation(k, cls->annotations, cls->annotation_count))
		return TARGET_HIT;
	if (m)
		return has_annotation(k, m->annotations, m->annotation_count) ? TARGET_HIT
									      : TARGET_NOT_KIN;
	if (r && r->mentions && k->descriptor.n && !r->mentions(r->ctx, k->descriptor))
		return TARGET_NOT_KIN;
	return TARGET_MAYBE;
}

static struct target_verdict test_kin(const struct rule_target *t, const struct rule_class *cls,
				      const struct rule_method *m, struct rule_lineage *room)
{
	struct target_verdict v = { .answer = TARGET_HIT };

	for (size_t i = 0; i < t->kin_count; i++) {
		const struct kin *k = &t->kin[i];
		enum target_answer a;

		if (k->kind == KIN_ANNOTATED)
			a = test_annotated(k, cls, m);
		else
			a = has_ancestor(k, facts_lineage(cls, room)) ? TARGET_HIT : TARGET_NOT_KIN;
		if (a == TARGET_NOT_KIN)
			return (struct target_verdict){ .answer = a, .kin = k };
		if (a == TARGET_MAYBE)
			v.answer = a;
	}
	return v;
}

/* Wildcards do not reach <init> and <clinit>: whoever wants those names them. */
static bool names_method(const struct rule_target *t, struct slice name)
{
	if (t->any_method)
		return true;
	if (name.n && name.p[0] == '<' && !t->method.exact)
		return false;
	return pattern_match(&t->method, name);
}

struct target_verdict rule_target_test_method(const struct rule_target *t,
					      const struct rule_method *m)
{
	uint16_t missing = t->access & (uint16_t)~m->access;
	uint16_t wrong = missing ? missing : t->access_not & m->access;

	if (!names_method(t, m->name))
		return (struct target_verdict){ .answer = TARGET_NOT_METHOD };
	if (!signature_match(&t->params, m->desc))
		return (struct target_verdict){ .answer = TARGET_NOT_PARAMS };
	if (t->has_returns && !signature_match_type(&t->returns, signature_returns(m->desc)))
		return (struct target_verdict){ .answer = TARGET_NOT_RETURNS };
	if (wrong)
		return (struct target_verdict){ .answer = TARGET_NOT_ACCESS,
						.flag = wrong & (uint16_t)-wrong };
	return (struct target_verdict){ .answer = TARGET_HIT };
}

struct target_verdict rule_target_test(const struct rule_target *t, const struct rule_class *cls,
				       const struct rule_method *method, struct rule_lineage *room)
{
	struct target_verdict v = { .answer = TARGET_HIT };

	if (!t->any_class && !pattern_match(&t->class, cls->name))
		return (struct target_verdict){ .answer = TARGET_NOT_CLASS };
	if (method)
		v = rule_target_test_method(t, method);
	return v.answer == TARGET_HIT ? test_kin(t, cls, method, room) : v;
}
