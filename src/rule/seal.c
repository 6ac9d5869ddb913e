/* SPDX-License-Identifier: Apache-2.0 */
/* seal.c - makes a set of rules ready for use, and checks what no rule can check by itself.
 *
 * Names are looked up when the set is sealed, so a template or a captured value may be
 * defined behind its use, or in another file. */
#include "base/map.h"
#include "rule/index.h"
#include "rule/parse.h"
#include "rule/print.h"
#include "rule/rules.h"
#include "rule/text.h"

/* What rules can name of each other: the first rule of each name. */
struct names {
	struct map templates, captures;
};

static const struct rule *find(const struct map *m, struct slice name)
{
	uintptr_t *at = map_get(m, name);

	return at ? (const struct rule *)*at : NULL;
}

/* From the last rule to the first, so that what stays in the maps is the first. */
static int collect(const struct rules *rules, struct names *names)
{
	for (size_t i = rules->n; i-- > 0;) {
		struct rule *rule = rules->all[i];
		uintptr_t *at;

		if (rule->kind == RULE_TEMPLATE)
			at = map_put(&names->templates, rule->template.name, NULL);
		else if (rule->kind == RULE_CAPTURE)
			at = map_put(&names->captures, rule->capture.name, NULL);
		else
			continue;
		if (!at)
			return E_NO_MEMORY;
		if (rule->kind == RULE_CAPTURE)
			rule->capture.also = (const struct rule *)*at;
		*at = (uintptr_t)rule;
	}
	return 0;
}

static int fail_template(const struct rules *rules, const struct rule *rule,
			 struct rule_errors *errors)
{
	struct text_guess guess = text_guess(rule->hook.template);
	char hint[96];

	for (size_t i = 0; rule_templates[i]; i++)
		text_guess_try(&guess, slice_str(rule_templates[i]));
	for (size_t i = 0; i < rules->n && errors->n < RULE_ERRORS_MAX; i++)
		if (rules->all[i]->kind == RULE_TEMPLATE)
			text_guess_try(&guess, rules->all[i]->template.name);
	text_guess_hint(&guess, "", hint, sizeof(hint));
	return rule_error_add(errors, rule->source, rule->template_at, hint, "unknown template %s",
			      text_quote(rule->hook.template).s);
}

static int fail_capture(const struct rules *rules, const struct rule *rule,
			const struct rule_use *use, struct rule_errors *errors)
{
	struct slice shown = { use->name.p - 1, use->name.n + 1 }; /* with its '$' */
	struct text_guess guess = text_guess(use->name);
	char hint[96];

	text_guess_try(&guess, slice_str("this"));
	text_guess_try(&guess, slice_str("return"));
	for (size_t i = 0; i < rules->n && errors->n < RULE_ERRORS_MAX; i++)
		if (rules->all[i]->kind == RULE_CAPTURE)
			text_guess_try(&guess, rules->all[i]->capture.name);
	text_guess_hint(&guess, "$", hint, sizeof(hint));
	return rule_error_add(errors, rule->source, use->at,
			      guess.best.p ? hint
					   : "a rule that starts with 'capture' gives a name",
			      "no rule captures %s", text_quote(shown).s);
}

static int check_hook(const struct rules *rules, const struct names *names, struct rule *rule,
		      struct rule_errors *errors)
{
	struct slice name = rule->hook.template;
	int rc = 0;

	if (name.n && !parse_in_list(name, rule_templates)) {
		rule->hook.template_rule = find(&names->templates, name);
		if (!rule->hook.template_rule)
			rc = fail_template(rules, rule, errors);
	}
	for (struct rule_use *use = rule->captures; use; use = use->next) {
		use->capture = find(&names->captures, use->name);
		if (!use->capture)
			rc = fail_capture(rules, rule, use, errors);
	}
	return rc;
}

/* A condition may ask for what other rules capture; a capture itself may not. */
static int check_capture(const struct rule *rule, struct rule_errors *errors)
{
	if (!rule->captures)
		return 0;
	return rule_error_add(errors, rule->source, rule->captures->at, NULL,
			      "a captured value cannot be made from another one");
}

static int check_template(const struct names *names, const struct rule *rule,
			  struct rule_errors *errors)
{
	const struct rule *first = find(&names->templates, rule->template.name);

	if (first == rule)
		return 0;
	return rule_error_add(
		errors, rule->source, rule->at, NULL, "template %s is defined already, at %s:%u",
		text_quote(rule->template.name).s, first->source->origin, first->at.line);
}

static int check_names(const struct rules *rules, const struct names *names,
		       struct rule_errors *errors)
{
	int rc = 0;

	for (size_t i = 0; i < rules->n; i++) {
		struct rule *rule = rules->all[i];
		int one = 0;

		if (rule->kind == RULE_HOOK)
			one = check_hook(rules, names, rule, errors);
		else if (rule->kind == RULE_CAPTURE)
			one = check_capture(rule, errors);
		else if (rule->kind == RULE_TEMPLATE)
			one = check_template(names, rule, errors);
		if (one < 0)
			rc = one;
	}
	return rc;
}

/* From the last rule to the first: of those that weave the same, the last decides. */
static int mark_repeated(struct rules *rules)
{
	size_t *ends = arena_alloc(rules->mem, (rules->n + 1) * sizeof(*ends));
	struct map seen;
	struct buf text;
	int rc = ends ? 0 : E_NO_MEMORY;

	map_init(&seen);
	buf_init(&text);
	for (size_t i = 0; i < rules->n && ends; i++) {
		rule_print_weave(rules->all[i], &text);
		ends[i] = text.n;
	}
	if (text.err)
		rc = text.err;
	for (size_t i = rules->n; i-- > 0 && rc == 0;) {
		size_t start = i ? ends[i - 1] : 0;
		struct slice line = { text.p + start, ends[i] - start };
		struct rule *rule = rules->all[i];
		bool fresh;

		if (rule->kind != RULE_HOOK && rule->kind != RULE_SKIP)
			continue;
		if (!map_put(&seen, line, &fresh))
			rc = E_NO_MEMORY;
		else
			rule->repeated = !fresh;
	}
	buf_release(&text);
	map_release(&seen);
	return rc;
}

int rules_seal(struct rules *rules, struct rule_errors *errors)
{
	struct names names;
	int rc;

	if (rules->index)
		return E_USAGE;
	map_init(&names.templates);
	map_init(&names.captures);
	rc = collect(rules, &names);
	if (rc == 0)
		rc = check_names(rules, &names, errors);
	if (rc == 0)
		rc = mark_repeated(rules);
	if (rc == 0)
		rc = rule_index_build(rules);
	map_release(&names.templates);
	map_release(&names.captures);
	return rc;
}

int rules_parse(struct arena *mem, struct slice text, const char *origin, struct rules **out,
		struct rule_errors *errors)
{
	struct rules *rules = rules_new(mem);
	int rc;

	if (!rules)
		return E_NO_MEMORY;
	rc = rules_add(rules, text, origin, errors);
	if (rc == 0)
		rc = rules_seal(rules, errors);
	if (rc == 0)
		*out = rules;
	return rc;
}
