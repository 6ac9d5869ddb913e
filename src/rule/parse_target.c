/* SPDX-License-Identifier: Apache-2.0 */
/* parse_target.c - reads which methods a rule is about.
 *
 *	target   = [class] kin* ["::" method ["(" types ")"]] ["returns" type] ["only" modifier+]
 *	kin      = ("implements" | "extends" | "annotated" ["@"]) class
 *	types    = [type ("," type)*], of which the last may be ".."
 *	modifier = ["not"] ("public" | "static" | ...) */
#include <stdio.h>

#include "rule/parse.h"
#include "rule/text.h"

enum { KIN_MAX = 16 };

static const char *const kin_words[] = { "implements", "extends", "annotated", NULL };

static int kin_of(struct token t)
{
	for (int i = 0; kin_words[i]; i++)
		if (token_is(t, kin_words[i]))
			return i;
	return -1;
}

static int describe(struct parse *p, struct kin *k)
{
	struct slice name = k->name.literal;
	uint8_t *d;

	if (k->kind != KIN_ANNOTATED || !k->name.exact)
		return 0;
	d = arena_alloc(p->mem, name.n + 2);
	if (!d)
		return E_NO_MEMORY;
	d[0] = 'L';
	memcpy(d + 1, name.p, name.n);
	d[name.n + 1] = ';';
	k->descriptor = (struct slice){ d, name.n + 2 };
	return 0;
}

static int parse_kin(struct parse *p, struct kin *out)
{
	struct token word = parse_take(p, LEX_RULE), t;
	char what[64];
	int rc;

	*out = (struct kin){ .kind = (enum kin_kind)kin_of(word) };
	if (out->kind == KIN_ANNOTATED)
		parse_accept(p, LEX_RULE, "@");
	t = parse_take(p, LEX_RULE);
	if (t.kind != TOK_WORD || kin_of(t) >= 0) {
		snprintf(what, sizeof(what), "a class after '%.*s'", SLICE_FMT(word.text));
		return parse_expected(p, t, what, NULL);
	}
	rc = parse_pattern(p, t, PATTERN_CLASS, &out->name);
	return rc < 0 ? rc : describe(p, out);
}

static int parse_kins(struct parse *p, struct rule_target *out)
{
	struct token t;

	while (t = parse_peek(p, LEX_RULE), kin_of(t) >= 0) {
		struct kin *list;
		int rc;

		if (out->kin_count == KIN_MAX)
			return parse_fail(p, t.at, NULL, "more than %d tests of one class",
					  KIN_MAX);
		list = parse_grow(p, out->kin, out->kin_count, sizeof(*list));
		if (!list)
			return E_NO_MEMORY;
		out->kin = list;
		rc = parse_kin(p, &list[out->kin_count]);
		if (rc < 0)
			return rc;
		out->kin_count++;
	}
	return 0;
}

static int parse_class(struct parse *p, struct rule_target *out)
{
	struct token t = parse_peek(p, LEX_RULE);
	int rc;

	out->any_class = kin_of(t) >= 0;
	if (out->any_class)
		return parse_kins(p, out);
	if (t.kind != TOK_WORD)
		return parse_expected(p, t, "a class, or 'implements', 'extends' or 'annotated'",
				      NULL);
	if (p->rule->at.line != t.at.line && parse_in_list(t.text, parse_rule_words))
		return parse_expected(p, t, "a class", NULL);
	parse_take(p, LEX_RULE);
	rc = parse_pattern(p, t, PATTERN_CLASS, &out->class);
	return rc < 0 ? rc : parse_kins(p, out);
}

static int parse_type(struct parse *p, struct token t, struct type_pattern *out)
{
	struct pattern_trouble trouble;
	int rc = signature_compile_type(p->mem, t.text, out, &trouble);

	return rc == E_SYNTAX ? parse_trouble(p, t, &trouble) : rc;
}

static int parse_param(struct parse *p, struct type_pattern *out)
{
	struct token t = parse_take(p, LEX_RULE);
	int rc;

	if (t.kind != TOK_WORD)
		return parse_expected(p, t, "a type", NULL);
	rc = parse_type(p, t, out);
	if (rc == 0 && out->base == 'V')
		return parse_fail(p, t.at, "for no parameters, write '()'",
				  "a parameter cannot be void");
	return rc;
}

/* One type; *last when the list ends behind it. */
static int parse_list_item(struct parse *p, struct params *list, struct type_pattern *to,
			   bool *last)
{
	struct token t = parse_peek(p, LEX_RULE);
	int rc;

	if (token_is(t, "..")) {
		list->open = *last = true;
		parse_take(p, LEX_RULE);
		t = parse_take(p, LEX_RULE);
		return token_is(t, ")") ? 0 : parse_expected(p, t, "')': '..' stands last", NULL);
	}
	if (list->n == PARAMS_MAX)
		return parse_fail(p, t.at, NULL, "a method has at most %d parameters", PARAMS_MAX);
	rc = parse_param(p, to);
	if (rc < 0)
		return rc;
	list->n++;
	t = parse_take(p, LEX_RULE);
	*last = token_is(t, ")");
	if (*last || token_is(t, ","))
		return 0;
	return parse_expected(
		p, t, "',' or ')' after a type",
		token_is(t, "<") ? "leave type arguments out: a compiled method has none" : NULL);
}

/* Behind the '('. */
static int parse_params(struct parse *p, struct params *out)
{
	struct params made = { .given = true };
	bool last = parse_accept(p, LEX_RULE, ")");

	while (!last) {
		struct type_pattern *types = parse_grow(p, made.types, made.n, sizeof(*types));
		int rc;

		if (!types)
			return E_NO_MEMORY;
		made.types = types;
		rc = parse_list_item(p, &made, &types[made.n], &last);
		if (rc < 0)
			return rc;
	}
	*out = made;
	return 0;
}

/* `a.b.Cart.checkout` with a class-like last but one part: the dot should be '::'. */
static void hint_method(const struct pattern *class, char *hint, size_t cap)
{
	struct slice s = class->text;
	size_t dot = s.n, before;

	snprintf(hint, cap, "for all its methods, write '::*'");
	while (dot > 0 && s.p[dot - 1] != '.')
		dot--;
	for (before = dot ? dot - 1 : 0; before > 0 && s.p[before - 1] != '.';)
		before--;
	if (dot && s.p[before] >= 'A' && s.p[before] <= 'Z' && s.n < 80)
		snprintf(hint, cap, "did you mean '%.*s::%.*s'?", (int)dot - 1, (const char *)s.p,
			 (int)(s.n - dot), (const char *)s.p + dot);
}

/* Behind the '::'. */
static int parse_method(struct parse *p, struct rule_target *out)
{
	struct token t = parse_take(p, LEX_RULE);
	int rc;

	if (t.kind != TOK_WORD)
		return parse_expected(p, t, "a method name after '::'",
				      "for all methods, write '::*'");
	rc = parse_pattern(p, t, PATTERN_METHOD, &out->method);
	if (rc < 0)
		return rc;
	out->any_method = false;
	return parse_accept(p, LEX_RULE, "(") ? parse_params(p, &out->params) : 0;
}

static int parse_modifiers(struct parse *p, struct rule_target *out)
{
	const char *words[32];
	size_t n = 0;
	bool any = false;

	for (const struct target_modifier *m = target_modifiers; m->word; m++)
		words[n++] = m->word;
	words[n] = NULL;
	for (;; any = true) {
		struct lexer before = p->lex;
		bool not = parse_accept(p, LEX_RULE, "not");
		struct token t = parse_take(p, LEX_RULE);
		uint16_t flag = 0;

		for (const struct target_modifier *m = target_modifiers; m->word; m++)
			if (token_is(t, m->word))
				flag = m->flag;
		if (!flag && any && !not ) {
			p->lex = before;
			return 0;
		}
		if (!flag && t.kind == TOK_WORD)
			return parse_unknown(p, t, "modifier", words, NULL);
		if (!flag)
			return parse_expected(p, t, "a modifier such as 'public'", NULL);
		if ((not ? out->access : out->access_not) & flag)
			return parse_fail(p, t.at, NULL, "%s is both wanted and not wanted",
					  text_quote(t.text).s);
		if (not )
			out->access_not |= flag;
		else
			out->access |= flag;
	}
}

static int parse_filters(struct parse *p, struct rule_target *out)
{
	int rc = 0;

	if (parse_accept(p, LEX_RULE, "returns")) {
		struct token t = parse_take(p, LEX_RULE);

		if (t.kind != TOK_WORD)
			return parse_expected(p, t, "a type after 'returns'", NULL);
		rc = parse_type(p, t, &out->returns);
		out->has_returns = true;
	}
	if (rc == 0 && parse_accept(p, LEX_RULE, "only"))
		rc = parse_modifiers(p, out);
	return rc;
}

int parse_target(struct parse *p, enum target_form form, struct rule_target *out)
{
	struct rule_target made = { .any_method = true };
	char hint[128];
	struct token t;
	int rc;

	rc = parse_class(p, &made);
	if (rc < 0)
		return rc;
	t = parse_peek(p, LEX_RULE);
	if (form == TARGET_CLASS_ONLY) {
		if (token_is(t, "::"))
			return parse_fail(p, t.at, NULL,
					  "classes are woven as a whole: no method can stand here");
		*out = made;
		return 0;
	}
	if (token_is(t, "::")) {
		parse_take(p, LEX_RULE);
		rc = parse_method(p, &made);
	} else if (form == TARGET_NEEDS_METHOD) {
		hint_method(made.any_class ? &made.kin[made.kin_count - 1].name : &made.class, hint,
			    sizeof(hint));
		if (token_is(t, "#") || token_is(t, ":"))
			snprintf(hint, sizeof(hint), "write '::' before the method");
		return parse_expected(p, t, "'::' and a method", hint);
	}
	if (rc == 0)
		rc = parse_filters(p, &made);
	if (rc == 0)
		*out = made;
	return rc;
}
