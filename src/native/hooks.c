/* SPDX-License-Identifier: Apache-2.0 */
/* hooks.c - matches rules with the functions of all modules, and hooks what they want.
 *
 * Each request's rules are a set of their own, kept until the last of them leaves.  Of two rules that
 * want the same function the later one decides about its level; when it leaves, so does the hook. */
#include "native/hooks.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/tick.h"
#include "native/totals.h"
#include "native/objects.h"
#include "native/site.h"
#include "rule/match.h"
#include "rule/native_rule.h"
#include "rule/print.h"
#include "wire/wire.h"

enum { ENTRIES_MAX = 256, REASONS_MAX = 64, MANY = 4000 };

struct set {
	struct arena mem;
	struct rules *rules;
	unsigned used; /* rules in force */
};

struct entry {
	uint32_t number; /* 0: free */
	const struct rule *rule;
	struct set *set;
	char *origin;
	uint64_t since;
	uint32_t holder; /* the client that it leaves with; 0: it stays */
};

static struct {
	struct entry all[ENTRIES_MAX];
	uint32_t last; /* number given */
	struct {
		const char *why;
		uint64_t count;
		char example[200];
	} left[REASONS_MAX];
	size_t n_left;
} hooks;

/* ---- rules -------------------------------------------------------------------------------- */

static void drop_set(struct set *s)
{
	if (s->used)
		return;
	arena_release(&s->mem);
	mem_free(s);
}

static void drop_entry(struct entry *e)
{
	struct set *s = e->set;

	mem_free(e->origin);
	*e = (struct entry){ 0 };
	s->used--;
	drop_set(s);
}

static struct entry *add_entry(struct set *s, const struct rule *r, const struct hooks_request *by)
{
	for (size_t i = 0; i < ENTRIES_MAX; i++) {
		struct entry *e = &hooks.all[i];

		if (e->number)
			continue;
		e->origin = mem_alloc(by->origin.n + 1);
		if (!e->origin)
			return NULL;
		memcpy(e->origin, by->origin.p, by->origin.n);
		e->origin[by->origin.n] = '\0';
		e->holder = by->flags & HOOK_HELD ? by->client : 0;
		e->number = ++hooks.last;
		e->rule = r;
		e->set = s;
		e->since = tick_now();
		s->used++;
		return e;
	}
	return NULL;
}

/* ---- functions ---------------------------------------------------------------------------- */

static void leave(const char *why, const char *module, struct slice name)
{
	size_t i = 0;

	while (i < hooks.n_left && strcmp(hooks.left[i].why, why) != 0)
		i++;
	if (i == REASONS_MAX)
		return;
	if (i == hooks.n_left) {
		hooks.n_left++;
		hooks.left[i].why = why;
		hooks.left[i].count = 0;
		snprintf(hooks.left[i].example, sizeof(hooks.left[i].example), "%s.%.*s", module,
			 SLICE_FMT(name));
	}
	hooks.left[i].count++;
}

typedef void visit(void *ctx, const struct object *in, const struct function *f,
		   const struct rule *by);

/* A function may be named by its address in the file, as "0x5d80": the only way to those without a
 * name.  Patterns mean the addresses of those alone, and only where they say so, as "0x*". */
static const struct rule *match_address(const struct rules *rules, const struct rule_class *cls,
					const struct function *f)
{
	char text[24];
	struct rule_method m = { .desc = slice_str("()V") };
	const struct rule *by;

	snprintf(text, sizeof(text), "0x%llx", (unsigned long long)f->addr);
	m.name = slice_str(text);
	by = rules_match_method(rules, cls, &m);
	if (!by || by->target.any_method)
		return NULL;
	return by->target.method.exact || (!f->name.n &&
					   slice_starts(by->target.method.literal, slice_str("0x")))
		       ? by
		       : NULL;
}

static const struct rule *match_function(const struct rules *rules, const struct rule_class *cls,
					 const struct function *f)
{
	struct rule_method m = { .name = f->name, .desc = slice_str("()V") };
	const struct rule *by = f->name.n ? rules_match_method(rules, cls, &m) : NULL;

	return by ? by : match_address(rules, cls, f);
}

static void match_module(struct object *in, const struct rules *rules, visit *found, void *ctx)
{
	char name[256];
	struct rule_class cls = { .name = { (const uint8_t *)name, 0 } };
	uint64_t before = 0;

	cls.name.n = (size_t)snprintf(name, sizeof(name), "%s", in->name);
	if (cls.name.n >= sizeof(name))
		return;
	for (char *p = name; *p; p++)
		*p = *p == '.' ? '/' : *p;
	if (!rules_class_may_match(rules, &cls) || object_open(in) < 0)
		return;
	for (size_t i = 0; i < in->functions.n; i++) {
		const struct function *f = &in->functions.f[i];
		const struct rule *by;

		if (f->is_plt || f->addr == before)
			continue;
		by = match_function(rules, &cls, f);
		if (!by)
			continue;
		before = f->addr; /* its other names are the same function */
		found(ctx, in, f, by);
	}
}

static void match(struct objects *all, const struct rules *rules, visit *found, void *ctx)
{
	for (size_t i = 0; i < all->n; i++)
		match_module(&all->all[i], rules, found, ctx);
}

static void count_one(void *ctx, const struct object *in, const struct function *f,
		      const struct rule *by)
{
	(void)in, (void)f, (void)by;
	++*(size_t *)ctx;
}

struct putting {
	const struct entry *first; /* of the set: its rules have numbers one after the other */
	size_t hooked;
};

static void hook_one(void *ctx, const struct object *in, const struct function *f,
		     const struct rule *by)
{
	struct putting *p = ctx;
	const char *why = in->why;
	char name[512];
	struct site_function s = { in->bias + f->addr, f->size, name, in->name };
	uint32_t number = 0;

	if (f->name.n)
		snprintf(name, sizeof(name), "%.*s", SLICE_FMT(f->name));
	else
		snprintf(name, sizeof(name), "0x%llx", (unsigned long long)f->addr);
	if (f->is_chooser && !why)
		why = "it only chooses the function that is meant (STT_GNU_IFUNC)";
	if (!why && !object_holds(in, f))
		why = "its symbol leads out of the code";
	if (!why && object_is_inner(in, f))
		why = "it is a part of a function, which is not called";
	if (!why)
		number = site_hook(&s, by->hook.level == LEVEL_LIGHT ? SITE_COUNT : SITE_TIMED,
				   &why);
	if (!number) {
		leave(why, in->name, slice_str(name));
		return;
	}
	if (site_info(number)->rule == 0)
		totals_restart(number);
	site_set_rule(number, p->first->number + by->index);
	if (site_info(number)->only)
		leave(site_info(number)->only, in->name, slice_str(name));
	p->hooked++;
}

/* ---- requests ----------------------------------------------------------------------------- */

static void answer(struct hooks_answer *out, unsigned status, const char *text)
{
	out->status = status;
	buf_text(&out->text, text);
}

/* The answer where functions were looked for, and none was found, or too many rules are there. */
static void answer_none(struct hooks_answer *out, const struct hooks_request *r, bool found)
{
	if (found) {
		answer(out, 3, "too many rules");
		return;
	}
	out->status = 1;
	buf_printf(&out->text, "no function matches: %.*s", SLICE_FMT(r->rules));
	while (out->text.n && out->text.p[out->text.n - 1] == '\n')
		out->text.n--;
}

static struct set *parse(struct slice text, struct hooks_answer *out)
{
	struct set *s = mem_alloc(sizeof(*s));
	struct rule_errors *errors = mem_alloc(sizeof(*errors));
	const char *why = NULL;

	if (!s || !errors) {
		mem_free(s);
		mem_free(errors);
		answer(out, 3, "out of memory");
		return NULL;
	}
	memset(errors, 0, sizeof(*errors));
	s->used = 0;
	arena_init(&s->mem);
	if (rules_parse(&s->mem, text, "rules", &s->rules, errors) < 0) {
		rule_errors_print(errors, &out->text);
		out->status = 2;
	}
	for (size_t i = 0; !out->status && !why && i < s->rules->n; i++)
		why = native_rule_wrong(s->rules->all[i]);
	if (why)
		answer(out, 2, why);
	mem_free(errors);
	if (!out->status)
		return s;
	drop_set(s);
	return NULL;
}

/* All rules of the set get numbers one after the other; NULL: there are too many. */
static struct entry *enter_set(struct set *s, const struct hooks_request *by)
{
	struct entry *first = NULL;

	for (size_t i = 0; i < s->rules->n; i++) {
		struct entry *e = add_entry(s, s->rules->all[i], by);

		if (!e) {
			for (size_t k = 0; k < ENTRIES_MAX; k++)
				if (hooks.all[k].set == s)
					drop_entry(&hooks.all[k]);
			return NULL;
		}
		first = first ? first : e;
	}
	return first;
}

/* Takes out what this rule has hooked; how many functions' bytes could not be put back. */
static unsigned remove_rule(uint32_t number)
{
	unsigned stuck = 0;

	for (uint32_t i = 1; i < site_end(); i++) {
		if (site_info(i)->rule != number)
			continue;
		stuck += !site_unhook(i);
		site_set_rule(i, 0);
	}
	return stuck;
}

/* Rules of a client with a number below that one. */
static unsigned remove_held(uint32_t client, uint32_t before)
{
	unsigned stuck = 0;

	for (size_t i = 0; i < ENTRIES_MAX; i++) {
		struct entry *e = &hooks.all[i];

		if (!e->number || !client || e->holder != client || e->number >= before)
			continue;
		stuck += remove_rule(e->number);
		drop_entry(e);
	}
	return stuck;
}

unsigned hooks_let_go(uint32_t client)
{
	return remove_held(client, UINT32_MAX);
}

static void add_to(struct objects *all, struct set *s, const struct hooks_request *r,
		   struct hooks_answer *out)
{
	struct putting p = { 0 };
	size_t n = 0;

	match(all, s->rules, count_one, &n);
	if (r->flags & HOOK_DRY || (n > MANY && !(r->flags & HOOK_YES))) {
		out->status = r->flags & HOOK_DRY ? 0 : 3;
		buf_printf(&out->text, "%zu functions would be hooked%s", n,
			   r->flags & HOOK_DRY ? "" : ": say --yes if that is meant");
		drop_set(s);
		return;
	}
	p.first = n ? enter_set(s, r) : NULL;
	if (!p.first) {
		answer_none(out, r, n > 0);
		drop_set(s);
		return;
	}
	match(all, s->rules, hook_one, &p);
	if (r->flags & HOOK_INSTEAD)
		(void)remove_held(r->client, p.first->number);
	buf_printf(&out->text, "%zu function%s hooked", p.hooked, p.hooked == 1 ? "" : "s");
	out->status = p.hooked ? 0 : 1;
}

void hooks_add(const struct hooks_request *r, struct hooks_answer *out)
{
	bool none = !r->rules.n && r->flags & HOOK_HELD && r->flags & HOOK_INSTEAD;
	struct objects all = { 0 };
	struct set *s = none ? NULL : parse(r->rules, out);

	hooks.n_left = 0;
	if (none && hooks_let_go(r->client))
		answer(out, 3, "some functions' bytes could not be put back");
	if (!s)
		return;
	if (objects_read(&all) < 0) {
		answer(out, 3, "out of memory");
		drop_set(s);
	} else {
		add_to(&all, s, r, out);
	}
	objects_release(&all);
}

static bool is_meant(const struct entry *e, struct slice pattern)
{
	struct buf text = { 0 };
	char number[16];
	bool same;

	snprintf(number, sizeof(number), "#%u", e->number);
	rule_target_print(&e->rule->target, &text);
	same = slice_is(pattern, "all") || slice_is(pattern, number) ||
	       slice_eq(pattern, buf_slice(&text));
	buf_release(&text);
	return same;
}

void hooks_remove(struct slice pattern, struct hooks_answer *out)
{
	unsigned stuck = 0, n = 0;

	for (size_t i = 0; i < ENTRIES_MAX; i++) {
		struct entry *e = &hooks.all[i];

		if (!e->number || !is_meant(e, pattern))
			continue;
		stuck += remove_rule(e->number);
		drop_entry(e);
		n++;
	}
	out->status = stuck ? 3 : n ? 0 : 1;
	buf_printf(&out->text, "%u rule%s taken out", n, n == 1 ? "" : "s");
	if (stuck)
		buf_printf(&out->text, "; %u functions' bytes could not be put back", stuck);
}

unsigned hooks_remove_all(void)
{
	struct hooks_answer out = { 0 };
	unsigned stuck = 0;

	hooks_remove(slice_str("all"), &out);
	buf_release(&out.text);
	for (uint32_t i = 1; i < site_end(); i++)
		stuck += !site_unhook(i);
	return stuck;
}

/* ---- what is in force --------------------------------------------------------------------- */

void hooks_put_rules(struct buf *out)
{
	for (size_t i = 0; i < ENTRIES_MAX; i++) {
		const struct entry *e = &hooks.all[i];
		struct wire_rule m = { .number = e->number };
		struct buf text = { 0 };

		if (!e->number)
			continue;
		rule_print(e->rule, &text);
		m.text = (struct slice){ text.p, text.n ? text.n - 1 : 0 };
		m.origin = slice_str(e->origin);
		m.age_ns = totals_ns(tick_now() - e->since);
		m.flags = e->holder ? RULE_HELD : 0;
		for (uint32_t k = 1; k < site_end(); k++) {
			m.methods += site_info(k)->rule == e->number;
			m.calls += site_info(k)->rule == e->number ? totals_calls(k) : 0;
		}
		m.classes = m.methods != 0;
		wire_put_rule(out, &m);
		buf_release(&text);
	}
}

void hooks_put_left(struct buf *out)
{
	for (size_t i = 0; i < hooks.n_left; i++)
		wire_put_left(out,
			      &(struct wire_left){ .reason = slice_str(hooks.left[i].why),
						   .count = hooks.left[i].count,
						   .example = slice_str(hooks.left[i].example) });
}

uint64_t hooks_rules(void)
{
	uint64_t n = 0;

	for (size_t i = 0; i < ENTRIES_MAX; i++)
		n += hooks.all[i].number != 0;
	return n;
}
