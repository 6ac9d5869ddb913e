/* SPDX-License-Identifier: Apache-2.0 */
/* rules.c - builds sets of rules out of texts. */
#include "rule/rules.h"

#include "rule/parse.h"
#include "rule/text.h"

struct rules *rules_new(struct arena *mem)
{
	struct rules *rules = arena_zero(mem, sizeof(*rules));

	if (rules)
		rules->mem = mem;
	return rules;
}

/* Limits first, so that all later work is bounded. */
static int check_size(const struct rule_source *source, struct rule_errors *errors)
{
	const uint8_t *p = source->text.p, *end = slice_end(source->text);
	struct rule_pos at = { 1, 1 };
	int rc = 0;

	if (source->text.n > RULES_TEXT_MAX)
		return rule_error_add(errors, source, at, NULL, "the text is longer than %d MiB",
				      RULES_TEXT_MAX >> 20);
	for (; p < end; at.line++) {
		const uint8_t *nl = memchr(p, '\n', (size_t)(end - p));
		const uint8_t *stop = nl ? nl : end;

		if (stop - p > RULES_LINE_MAX)
			rc = rule_error_add(errors, source, at, "continue it on an indented line",
					    "the line is longer than %d bytes", RULES_LINE_MAX);
		p = nl ? nl + 1 : end;
	}
	return rc;
}

static int keep(struct rules *rules, struct rule *rule)
{
	if (rules->n == rules->room) {
		size_t room = rules->room ? 2 * rules->room : 16;
		struct rule **all = arena_alloc(rules->mem, room * sizeof(struct rule *));

		if (!all)
			return E_NO_MEMORY;
		if (rules->n)
			memcpy(all, rules->all, rules->n * sizeof(struct rule *));
		rules->all = all;
		rules->room = room;
	}
	rule->index = (uint32_t)rules->n;
	rules->all[rules->n++] = rule;
	return 0;
}

static int add_one(struct rules *rules, struct parse *p)
{
	const uint8_t *start = p->lex.p;
	struct rule_pos at = p->lex.at;
	struct rule *rule;
	int rc = parse_rule(p, &rule);

	if (rc < 0)
		return rc;
	if (p->lex.p - start > RULES_RULE_MAX)
		return rule_error_add(p->errors, p->source, at, NULL,
				      "the rule is longer than %d bytes", RULES_RULE_MAX);
	if (rules->n == RULES_MAX)
		return rule_error_add(p->errors, p->source, at, NULL, "more than %d rules",
				      RULES_MAX);
	return keep(rules, rule);
}

/* The first thing in a text must not be indented: there is no rule to continue. */
static int check_start(struct parse *p)
{
	struct token t = parse_peek(p, LEX_RULE);

	if (t.kind == TOK_END || t.at.column == 1)
		return 0;
	return parse_fail(p, t.at, "rules start in column 1",
			  "an indented line continues a rule, but there is none before it");
}

static int add_all(struct rules *rules, struct parse *p)
{
	int rc;

	lex_init(&p->lex, p->source->text);
	rc = check_start(p);
	for (; lex_next_rule(&p->lex); lex_skip_line(&p->lex)) {
		int one = add_one(rules, p);

		if (one == E_NO_MEMORY)
			return one;
		if (one < 0)
			rc = one;
		if (rules->n == RULES_MAX && one < 0)
			return rc;
	}
	return rc;
}

static struct rule_source *keep_source(struct arena *mem, struct slice text, const char *origin)
{
	struct rule_source *source = arena_alloc(mem, sizeof(*source));

	if (!source)
		return NULL;
	source->origin = arena_str(mem, slice_str(origin));
	source->text = arena_dup(mem, text);
	return source->origin && source->text.p ? source : NULL;
}

/* Some editors put a byte order mark before the text; an empty text may have no address. */
static struct slice without_mark(struct slice text)
{
	static const uint8_t mark[3] = { 0xef, 0xbb, 0xbf };
	struct slice prefix = { mark, sizeof(mark) };

	if (slice_starts(text, prefix))
		return (struct slice){ text.p + 3, text.n - 3 };
	return text.p ? text : slice_str("");
}

int rules_add(struct rules *rules, struct slice text, const char *origin,
	      struct rule_errors *errors)
{
	return rules_add_as(rules, text, origin, false, errors);
}

int rules_add_as(struct rules *rules, struct slice text, const char *origin, bool kept,
		 struct rule_errors *errors)
{
	struct rule_source given = { origin, without_mark(text) };
	struct parse p = { .mem = rules->mem, .errors = errors, .kept = kept };
	size_t before = rules->n;
	int rc;

	if (rules->index)
		return E_USAGE;
	rc = check_size(&given, errors);
	if (rc < 0)
		return rc;
	p.source = keep_source(rules->mem, given.text, origin);
	rc = p.source ? add_all(rules, &p) : E_NO_MEMORY;
	if (rc < 0)
		rules->n = before;
	return rc;
}
