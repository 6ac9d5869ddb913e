/* SPDX-License-Identifier: Apache-2.0 */
/* weave_hint.c - looks for the methods of a target; when there are none, for what comes near. */
#include "cli/classtools/weave_hint.h"

#include <stdio.h>

#include "classfile/show/show.h"
#include "cli/screen/cli.h"
#include "cli/screen/figures.h"
#include "rule/print.h"
#include "rule/text.h"
#include "weave/class_facts.h"

struct search {
	const struct weave_set *set;
	const struct rule_target *target;
	struct arena *mem;
	struct arena class_mem;
	struct hint *hint;
	struct text_guess whole, last; /* for the class's name, and for its last part */
	struct slice last_class;       /* whose last part `last` has found */
	struct text_guess method;
	struct rule_lineage lineage;
};

static struct slice last_part(struct slice name)
{
	size_t at = name.n;

	while (at && name.p[at - 1] != '/')
		at--;
	return (struct slice){ name.p + at, name.n - at };
}

/* As many parts of a name as the prefix has slashes. */
static struct slice same_depth(struct slice name, struct slice prefix)
{
	size_t slashes = 0, n = 0;

	for (size_t i = 0; i < prefix.n; i++)
		slashes += prefix.p[i] == '/';
	while (n < name.n && slashes)
		slashes -= name.p[n++] == '/';
	return (struct slice){ name.p, n };
}

/* The part of a pattern that names are compared with to find a near one. */
static void start_guess(struct search *s)
{
	const struct pattern *p = &s->target->class;

	s->whole = text_guess(p->exact ? p->literal : pattern_key(p));
	s->last = text_guess(last_part(p->exact ? p->literal : p->tail));
	s->method = text_guess(s->target->method.literal);
}

static void try_class(struct search *s, struct slice name)
{
	const struct pattern *p = &s->target->class;
	struct slice last = last_part(name);

	text_guess_try(&s->whole, p->exact ? name : same_depth(name, s->whole.word));
	if (p->exact || !p->literal.n) {
		text_guess_try(&s->last, last);
		if (s->last.best.p == last.p)
			s->last_class = name;
	}
}

/* Keeps a name to be shown, each once. */
static int add_other(struct search *s, const struct rule_method *m, bool with_params)
{
	struct hint *h = s->hint;
	struct buf text = { 0 };
	struct slice kept;
	int rc = 0;

	if (h->n_others == COUNT(h->others))
		return 0;
	buf_put(&text, m->name);
	if (with_params)
		signature_print(m->desc, &text);
	for (size_t i = 0; i < h->n_others; i++)
		if (slice_eq(h->others[i], buf_slice(&text)))
			goto done;
	kept = arena_dup(s->mem, buf_slice(&text));
	rc = text.err || !kept.p ? E_NO_MEMORY : 0;
	if (rc >= 0)
		h->others[h->n_others++] = kept;
done:
	buf_release(&text);
	return rc;
}

/* Something nearer than before was found: what was farther is not interesting any more. */
static int nearer(struct search *s, uint64_t *count, const struct rule_method *m)
{
	if (!(*count)++)
		s->hint->n_others = 0;
	return add_other(s, m, true);
}

static int try_method(struct search *s, const struct rule_method *m)
{
	struct slice best;

	text_guess_try(&s->method, m->name);
	if (s->method.best.p == m->name.p) {
		best = arena_dup(s->mem, m->name);
		if (!best.p)
			return E_NO_MEMORY;
		s->method.best = s->hint->near_method = best;
	}
	return add_other(s, m, false);
}

static int see_miss(struct search *s, const struct rule_method *m, struct target_verdict v)
{
	struct hint *h = s->hint;

	switch (v.answer) {
	case TARGET_NOT_METHOD:
		return h->named ? 0 : try_method(s, m);
	case TARGET_NOT_PARAMS:
		return h->right_params ? 0 : nearer(s, &h->named, m);
	default:
		if (v.kin)
			h->kin = v.kin;
		h->named += !h->named;
		return nearer(s, &h->right_params, m);
	}
}

static int see_class(struct search *s, const struct set_class *c, hint_hit *on_hit, void *ctx)
{
	struct rule_class facts;
	struct class *cls;
	int rc;

	arena_reset(&s->class_mem);
	if (class_read(&s->class_mem, c->bytes, &cls, NULL) < 0)
		return 0;
	s->hint->named_classes++;
	s->lineage.ready = false;
	rc = class_facts_of_class(cls, &s->class_mem, &facts);
	facts.resolver = &s->set->resolver;
	facts.lineage = &s->lineage;
	for (uint32_t i = 0; i < cls->n_methods && rc >= 0; i++) {
		struct target_verdict v;
		struct rule_method m;

		rc = class_facts_of_method(cls, &cls->methods[i], &s->class_mem, &m);
		if (rc < 0)
			break;
		v = rule_target_test(s->target, &facts, &m, &s->lineage);
		s->hint->hits += v.answer == TARGET_HIT;
		if (v.answer != TARGET_HIT)
			rc = see_miss(s, &m, v);
		else if (on_hit)
			rc = on_hit(ctx,
				    &(struct hint_found){ c, cls, &cls->methods[i], &facts, &m });
	}
	class_release(cls);
	return rc == E_ATTRIBUTE ? 0 : rc;
}

int hint_search(const struct weave_set *set, const struct rule_target *t, struct arena *mem,
		struct hint *out, hint_hit *on_hit, void *ctx)
{
	struct search *s = arena_zero(mem, sizeof(*s));
	int rc = 0;

	*out = (struct hint){ .classes = set->n, .methods = set->methods };
	if (!s)
		return E_NO_MEMORY;
	s->set = set;
	s->target = t;
	s->mem = mem;
	s->hint = out;
	arena_init(&s->class_mem);
	start_guess(s);
	for (size_t i = 0; i < set->n && rc >= 0; i++) {
		struct slice name = set->v[i].facts.name;

		if (!name.n)
			continue;
		if (t->any_class || pattern_match(&t->class, name))
			rc = see_class(s, &set->v[i], on_hit, ctx);
		else if (!out->named_classes)
			try_class(s, name);
	}
	arena_release(&s->class_mem);
	out->near_class = s->whole.best.p ? s->whole.best : s->last_class;
	return rc;
}

void hint_print_class(struct slice name, struct buf *out)
{
	while (name.n) {
		const uint8_t *slash = memchr(name.p, '/', name.n);
		size_t n = slash ? (size_t)(slash - name.p) : name.n;

		show_name(out, (struct slice){ name.p, n });
		buf_text(out, slash ? "." : "");
		n += slash != NULL;
		name = (struct slice){ name.p + n, name.n - n };
	}
}

static void print_others(const struct hint *h, const char *before, struct buf *out)
{
	buf_text(out, h->n_others ? before : "");
	for (size_t i = 0; i < h->n_others; i++) {
		buf_text(out, i ? ", " : "");
		show_name(out, h->others[i]);
	}
	buf_text(out, h->n_others == COUNT(h->others) ? " ..." : "");
}

void hint_print(const struct hint *h, const struct rule_target *t, struct buf *out)
{
	char classes[2 * FIGURE_MAX], methods[2 * FIGURE_MAX];

	buf_printf(out, "looked at %s with %s: ", figure_of(classes, h->classes, "class"),
		   figure_of(methods, h->methods, "method"));
	if (!h->named_classes) {
		buf_printf(out, "no class is named %.*s", SLICE_FMT(t->class.text));
		if (h->near_class.n) {
			buf_text(out, "; the nearest is ");
			hint_print_class(h->near_class, out);
		}
	} else if (!h->named) {
		buf_printf(out, "no method is named %.*s in the %s %s meant",
			   SLICE_FMT(t->method.text), cli_number(classes, h->named_classes),
			   h->named_classes == 1 ? "class" : "classes");
		if (h->near_method.n) {
			buf_text(out, "; the nearest is ");
			show_name(out, h->near_method);
		} else {
			print_others(h, "; there are ", out);
		}
		if (!h->near_method.n && h->n_others && h->others[0].p[0] == '<' &&
		    !t->method.exact)
			buf_text(out, " (wildcards reach neither constructors nor initialisers)");
	} else if (!h->right_params) {
		print_others(h, "the parameters are others: ", out);
	} else if (h->kin) {
		buf_printf(out, "no class %s %.*s",
			   h->kin->kind == KIN_IMPLEMENTS ? "implements"
			   : h->kin->kind == KIN_EXTENDS  ? "extends"
							  : "is annotated",
			   SLICE_FMT(h->kin->name.text));
		print_others(h, " among those of ", out);
	} else {
		print_others(h, "result or modifiers are others: ", out);
	}
}
