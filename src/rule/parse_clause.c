/* SPDX-License-Identifier: Apache-2.0 */
/* parse_clause.c - reads what follows the target of a hook, in any order.
 *
 *	clause   = "light" | ("timed" | "full") ["1/" N]
 *	         | ["directly"] "inside" target ((">" | ">>") target)*
 *	         | "across" "threads"
 *	         | "if" condition | "template" NAME
 *	         | "metered" | "slow" TIME | "for" TIME | "good" TIME | "calls" N
 *
 * Each may stand once, `inside` several times. */
#include "rule/parse.h"
#include "rule/text.h"

enum clause {
	CLAUSE_LIGHT,
	CLAUSE_TIMED,
	CLAUSE_FULL,
	CLAUSE_INSIDE,
	CLAUSE_DIRECTLY,
	CLAUSE_IF,
	CLAUSE_TEMPLATE,
	CLAUSE_SLOW,
	CLAUSE_FOR,
	CLAUSE_GOOD,
	CLAUSE_CALLS,
	CLAUSE_METERED,
	CLAUSE_ACROSS,
	CLAUSE_COUNT
};

const char *const parse_clause_words[CLAUSE_COUNT + 1] = {
	[CLAUSE_LIGHT] = "light",	[CLAUSE_TIMED] = "timed",
	[CLAUSE_FULL] = "full",		[CLAUSE_INSIDE] = "inside",
	[CLAUSE_DIRECTLY] = "directly", [CLAUSE_IF] = "if",
	[CLAUSE_TEMPLATE] = "template", [CLAUSE_SLOW] = "slow",
	[CLAUSE_FOR] = "for",		[CLAUSE_GOOD] = "good",
	[CLAUSE_CALLS] = "calls",	[CLAUSE_METERED] = "metered",
	[CLAUSE_ACROSS] = "across",
};

static const char *const target_words[] = { "implements", "extends", "annotated",
					    "returns",	  "only",    NULL };

enum { SAMPLE_MAX = 1000000 };

/* A whole number from the start of s; gives the digits read, 0 for none or too many. */
static size_t read_digits(struct slice s, uint64_t *out)
{
	uint64_t v = 0;
	size_t i = 0;

	for (; i < s.n && s.p[i] >= '0' && s.p[i] <= '9'; i++) {
		if (i == 18) /* what follows would not fit into 63 bits */
			return 0;
		v = v * 10 + (s.p[i] - (unsigned)'0');
	}
	*out = v;
	return i;
}

static bool is_digit(uint8_t c)
{
	return c >= '0' && c <= '9';
}

/* `1/100` behind `timed` or `full`, when there is one. */
static int parse_sample(struct parse *p, struct rule *rule)
{
	struct token t = parse_peek(p, LEX_RULE);
	struct slice n;
	uint64_t v;

	if (t.kind != TOK_WORD || !is_digit(t.text.p[0]))
		return 0;
	parse_take(p, LEX_RULE);
	n = (struct slice){ t.text.p + 2, t.text.n - 2 };
	if (t.text.n < 3 || memcmp(t.text.p, "1/", 2) != 0 || read_digits(n, &v) != n.n)
		return parse_fail(p, t.at, "write '1/100' to time one call in a hundred",
				  "%s is not a share of the calls", text_quote(t.text).s);
	if (v < 1 || v > SAMPLE_MAX)
		return parse_fail(p, t.at, NULL, "one call in %s: the number goes from 1 to %d",
				  text_quote(n).s, SAMPLE_MAX);
	rule->hook.one_in = (uint32_t)v;
	return 0;
}

static int parse_level(struct parse *p, struct rule *rule, enum rule_level level)
{
	struct token t;

	rule->hook.level = level;
	if (level != LEVEL_LIGHT)
		return parse_sample(p, rule);
	t = parse_peek(p, LEX_RULE);
	if (t.kind == TOK_WORD && is_digit(t.text.p[0]))
		return parse_fail(p, t.at, NULL,
				  "'light' counts every call: there is no share of them");
	return 0;
}

static int parse_time(struct parse *p, const char *after, uint64_t *out)
{
	static const char *const words[] = { "ns", "us", "ms", "s", "m", "h", NULL };
	static const uint64_t ns[] = { 1, 1000, 1000000, 1000000000, 60000000000u, 3600000000000u };
	static const uint64_t longest = 366 * 24 * 3600000000000u;
	struct token t = parse_take(p, LEX_RULE), unit = t;
	uint64_t v = 0;
	size_t n;

	if (t.kind != TOK_WORD || !is_digit(t.text.p[0]))
		return parse_expected(p, t, after, NULL);
	n = read_digits(t.text, &v);
	unit.text = (struct slice){ t.text.p + n, t.text.n - n };
	unit.at.column += (uint32_t)n;
	if (n && !unit.text.n)
		return parse_fail(p, t.at, "write for example 200ms, 10s, 5m or 1h",
				  "the time %s has no unit", text_quote(t.text).s);
	for (size_t i = 0; words[i]; i++) {
		if (!slice_is(unit.text, words[i]))
			continue;
		if (v == 0)
			return parse_fail(p, t.at, NULL, "the time must be longer than zero");
		if (v > longest / ns[i])
			return parse_fail(p, t.at, NULL, "the time is longer than 366 days");
		*out = v * ns[i];
		return 0;
	}
	if (!n)
		return parse_fail(p, t.at, NULL, "the time is longer than 366 days");
	return parse_fail(p, unit.at, "there are ns, us, ms, s, m and h", "unknown unit of time %s",
			  text_quote(unit.text).s);
}

static int parse_count(struct parse *p, uint64_t *out)
{
	struct token t = parse_take(p, LEX_RULE);
	uint64_t v;

	if (t.kind != TOK_WORD || !is_digit(t.text.p[0]))
		return parse_expected(p, t, "a number after 'calls'", NULL);
	if (read_digits(t.text, &v) != t.text.n)
		return parse_fail(p, t.at, NULL, "%s is not a number of calls",
				  text_quote(t.text).s);
	if (v == 0)
		return parse_fail(p, t.at, NULL, "the number of calls must be more than zero");
	*out = v;
	return 0;
}

static int parse_template_name(struct parse *p, struct rule *rule)
{
	struct token t = parse_take(p, LEX_RULE);

	if (t.kind != TOK_WORD || parse_in_list(t.text, parse_clause_words))
		return parse_expected(p, t, "the name of a template", NULL);
	rule->hook.template = t.text; /* rules_seal looks it up */
	rule->template_at = t.at;
	return 0;
}

static int parse_context(struct parse *p, bool direct, struct context *out)
{
	struct context made = { 0 };

	for (;;) {
		struct token t = parse_peek(p, LEX_RULE);
		struct context_step *step;
		int rc;

		if (made.n == CONTEXT_STEPS_MAX)
			return parse_fail(p, t.at, NULL, "more than %d methods in a sequence",
					  CONTEXT_STEPS_MAX);
		made.steps = parse_grow(p, made.steps, made.n, sizeof(*step));
		if (!made.steps)
			return E_NO_MEMORY;
		step = &made.steps[made.n++];
		rc = parse_target(p, TARGET_NEEDS_METHOD, &step->target);
		if (rc < 0)
			return rc;
		step->direct = parse_accept(p, LEX_RULE, ">");
		if (step->direct || parse_accept(p, LEX_RULE, ">>"))
			continue;
		step->direct = direct;
		*out = made;
		return 0;
	}
}

static int parse_inside(struct parse *p, struct rule *rule, struct token word)
{
	struct rule_hook *h = &rule->hook;
	bool direct = token_is(word, "directly");
	struct context *list;
	int rc;

	if (direct) {
		struct token t = parse_take(p, LEX_RULE);

		if (!token_is(t, "inside"))
			return parse_expected(p, t, "'inside' after 'directly'", NULL);
	}
	if (h->context_count == CONTEXT_MAX)
		return parse_fail(p, word.at, NULL, "more than %d sequences in one rule",
				  CONTEXT_MAX);
	list = parse_grow(p, h->contexts, h->context_count, sizeof(*list));
	if (!list)
		return E_NO_MEMORY;
	h->contexts = list;
	rc = parse_context(p, direct, &list[h->context_count]);
	if (rc == 0)
		h->context_count++;
	return rc;
}

static int parse_across(struct parse *p, struct rule *rule)
{
	struct token t = parse_take(p, LEX_RULE);

	if (!token_is(t, "threads"))
		return parse_expected(p, t, "'threads' after 'across'", NULL);
	rule->hook.across = true;
	return 0;
}

/* Behind a condition: what is neither a clause nor the end was meant to belong to it. */
static int parse_if(struct parse *p, struct rule *rule)
{
	static const char *const joins[] = { "and", "or", NULL };
	int rc = parse_condition(p, &rule->hook.condition);
	struct token t;

	if (rc < 0)
		return rc;
	t = parse_peek(p, LEX_COND);
	if (t.kind == TOK_END || parse_in_list(t.text, parse_clause_words))
		return 0;
	if (token_is(t, "&&") || token_is(t, "||"))
		return parse_expected(p, t, "'and', 'or' or the next clause",
				      token_is(t, "&&") ? "write 'and'" : "write 'or'");
	if (t.kind == TOK_WORD && !parse_in_list(t.text, parse_rule_words))
		return parse_unknown(p, t, "word", parse_clause_words, joins);
	return parse_expected(p, t, "'and', 'or' or the next clause", NULL);
}

static int parse_one(struct parse *p, struct rule *rule, enum clause which, struct token word)
{
	struct rule_hook *h = &rule->hook;

	switch (which) {
	case CLAUSE_LIGHT:
		return parse_level(p, rule, LEVEL_LIGHT);
	case CLAUSE_TIMED:
		return parse_level(p, rule, LEVEL_TIMED);
	case CLAUSE_FULL:
		return parse_level(p, rule, LEVEL_FULL);
	case CLAUSE_IF:
		return parse_if(p, rule);
	case CLAUSE_TEMPLATE:
		return parse_template_name(p, rule);
	case CLAUSE_SLOW:
		return parse_time(p, "a time after 'slow'", &h->slow_ns);
	case CLAUSE_FOR:
		return parse_time(p, "a time after 'for'", &h->for_ns);
	case CLAUSE_GOOD:
		return parse_time(p, "a time after 'good'", &h->good_ns);
	case CLAUSE_CALLS:
		return parse_count(p, &h->calls);
	case CLAUSE_METERED:
		h->metered = true;
		return 0;
	case CLAUSE_ACROSS:
		return parse_across(p, rule);
	default:
		return parse_inside(p, rule, word);
	}
}

static int fail_clause(struct parse *p, struct token t)
{
	if (t.kind != TOK_WORD)
		return parse_expected(p, t, "a clause such as 'timed' or the end of the rule",
				      token_is(t, "#") ? "a comment needs a blank before its '#'"
						       : NULL);
	if (parse_in_list(t.text, parse_rule_words) || is_digit(t.text.p[0]))
		return parse_expected(p, t, "a clause such as 'timed' or the end of the rule",
				      NULL);
	if (token_is(t, "and") || token_is(t, "or"))
		return parse_expected(p, t, "a clause such as 'timed' or the end of the rule",
				      "'and' and 'or' belong to an 'if'");
	if (parse_in_list(t.text, target_words))
		return parse_fail(p, t.at, "it belongs to the method before the clauses",
				  "%s cannot stand here", text_quote(t.text).s);
	return parse_unknown(p, t, "word", parse_clause_words, target_words);
}

/* The three levels exclude each other and share a mark. */
static unsigned mark_of(enum clause c)
{
	return c <= CLAUSE_FULL ? 1u : 1u << c;
}

int parse_clauses(struct parse *p, struct rule *rule)
{
	struct rule_pos across = { 0 };
	unsigned seen = 0;

	rule->hook.level = LEVEL_TIMED;
	for (;;) {
		struct token t = parse_peek(p, LEX_RULE);
		int which = 0, rc;

		if (t.kind == TOK_END && rule->hook.across && !rule->hook.context_count)
			return parse_fail(p, across, "it says where an 'inside' holds, too",
					  "'across threads' without 'inside'");
		if (t.kind == TOK_END)
			return 0;
		while (which < CLAUSE_COUNT && !token_is(t, parse_clause_words[which]))
			which++;
		if (which == CLAUSE_COUNT)
			return fail_clause(p, t);
		if (seen & mark_of((enum clause)which) &
		    ~(1u << CLAUSE_INSIDE | 1u << CLAUSE_DIRECTLY))
			return parse_fail(p, t.at, NULL, "the rule has %s already",
					  which <= CLAUSE_FULL ? "a level" : text_quote(t.text).s);
		seen |= mark_of((enum clause)which);
		across = which == CLAUSE_ACROSS ? t.at : across;
		parse_take(p, LEX_RULE);
		rc = parse_one(p, rule, (enum clause)which, t);
		if (rc < 0)
			return rc;
	}
}
