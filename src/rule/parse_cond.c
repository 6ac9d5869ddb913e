/* SPDX-License-Identifier: Apache-2.0 */
/* parse_cond.c - reads conditions over data.
 *
 *	condition = and ("or" and)*
 *	and       = unary ("and" unary)*
 *	unary     = "not" unary | "(" condition ")" | test
 *	test      = value [("==" | "!=" | "<" | "<=" | ">" | ">=" | "contains" | "startsWith"
 *	            | "endsWith" | "matches") value | "in" "(" literals ")" | "instanceof" class]
 *
 * Values are in parse_value.c.  Depth and size are limited, so that neither this recursion nor one
 * over the tree can run away. */
#include "rule/parse.h"

static const struct {
	const char *text;
	enum cond_op op;
} operators[] = {
	{ "==", COND_EQ },
	{ "!=", COND_NE },
	{ "<", COND_LT },
	{ "<=", COND_LE },
	{ ">", COND_GT },
	{ ">=", COND_GE },
	{ "contains", COND_CONTAINS },
	{ "startsWith", COND_STARTS },
	{ "endsWith", COND_ENDS },
	{ "matches", COND_MATCHES },
	{ "in", COND_IN },
	{ "instanceof", COND_INSTANCE },
	{ "and", COND_AND },
	{ "or", COND_OR },
	{ "not", COND_NOT },
	{ "", COND_TRUTH },
};

const char *cond_op_text(enum cond_op op)
{
	size_t i = 0;

	while (operators[i].op != op)
		i++;
	return operators[i].text;
}

static int parse_or(struct parse *p, struct cond **out);

static struct cond *new_cond(struct parse *p, enum cond_op op, struct rule_pos at)
{
	struct cond *c = arena_zero(p->mem, sizeof(*c));

	if (c) {
		c->op = op;
		c->at = at;
	}
	return c;
}

static int parse_instance(struct parse *p, struct cond *c)
{
	struct token t = parse_take(p, LEX_RULE);
	struct pattern name;
	int rc;

	if (t.kind != TOK_WORD)
		return parse_expected(p, t, "a class after 'instanceof'", NULL);
	rc = parse_pattern(p, t, PATTERN_CLASS, &name);
	if (rc < 0)
		return rc;
	if (!name.exact)
		return parse_fail(p, t.at, NULL, "'instanceof' needs one class, not a pattern");
	c->type = name.literal;
	return 0;
}

static bool is_order(enum cond_op op)
{
	return op >= COND_LT && op <= COND_GE;
}

/* Comparisons that can never hold, whatever the program does. */
static int check_sides(struct parse *p, const struct cond *c)
{
	const struct value *sides[] = { c->left, c->right };

	if (c->left->kind != VALUE_PATH && c->right->kind != VALUE_PATH)
		return parse_fail(p, c->left->at, "values of the program start with '$'",
				  "both sides are constants");
	for (size_t i = 0; i < 2; i++) {
		enum value_kind k = sides[i]->kind;

		if (is_order(c->op) && (k == VALUE_STRING || k == VALUE_BOOL || k == VALUE_NULL))
			return parse_fail(p, sides[i]->at, NULL, "'%s' compares numbers",
					  cond_op_text(c->op));
	}
	if ((c->op == COND_STARTS || c->op == COND_ENDS) && c->right->kind != VALUE_STRING &&
	    c->right->kind != VALUE_PATH)
		return parse_fail(p, c->right->at, NULL, "'%s' needs a text in double quotes",
				  cond_op_text(c->op));
	if (c->op == COND_MATCHES && c->right->kind != VALUE_STRING)
		return parse_fail(p, c->right->at, NULL,
				  "'matches' needs a regular expression in double quotes");
	if (c->op >= COND_CONTAINS && c->left->kind != VALUE_PATH)
		return parse_fail(p, c->left->at, NULL, "a value of the program stands before '%s'",
				  cond_op_text(c->op));
	return 0;
}

static int parse_right(struct parse *p, struct cond *c)
{
	struct token t;
	int rc;

	if (c->op != COND_IN && c->op != COND_INSTANCE) {
		rc = parse_value(p, &c->right);
		return rc < 0 ? rc : check_sides(p, c);
	}
	if (c->left->kind != VALUE_PATH)
		return parse_fail(p, c->left->at, NULL, "a value of the program stands before '%s'",
				  cond_op_text(c->op));
	if (c->op == COND_INSTANCE)
		return parse_instance(p, c);
	t = parse_take(p, LEX_COND);
	if (!token_is(t, "("))
		return parse_expected(p, t, "'(' and a list of literals after 'in'", NULL);
	return parse_literals(p, ")", &c->right);
}

/* What people write who think of Java. */
static const char *hint_operator(struct token t)
{
	if (token_is(t, "="))
		return "write '==' to compare";
	return NULL;
}

static bool find_operator(struct token t, enum cond_op *op)
{
	for (size_t i = 0; i < COUNT(operators); i++) {
		if (operators[i].op >= COND_EQ && token_is(t, operators[i].text)) {
			*op = operators[i].op;
			return true;
		}
	}
	return false;
}

static int parse_test(struct parse *p, struct cond **out)
{
	static const char *const words[] = { "contains", "startsWith", "endsWith",
					     "matches",	 "in",	       "instanceof",
					     "and",	 "or",	       NULL };
	struct cond *c = new_cond(p, COND_TRUTH, parse_peek(p, LEX_COND).at);
	struct token t;
	int rc;

	if (!c)
		return E_NO_MEMORY;
	if (++p->tests > COND_TESTS_MAX)
		return parse_fail(p, c->at, NULL, "more than %d tests in a condition",
				  COND_TESTS_MAX);
	rc = parse_value(p, &c->left);
	if (rc < 0)
		return rc;
	t = parse_peek(p, LEX_COND);
	if (find_operator(t, &c->op)) {
		parse_take(p, LEX_COND);
		c->at = t.at;
		rc = parse_right(p, c);
	} else if (hint_operator(t)) {
		rc = parse_expected(p, t, "an operator", hint_operator(t));
	} else if (t.kind == TOK_WORD && !parse_in_list(t.text, words) &&
		   !parse_in_list(t.text, parse_clause_words) &&
		   !parse_in_list(t.text, parse_rule_words)) {
		rc = parse_unknown(p, t, "operator", words, parse_clause_words);
	} else if (c->left->kind != VALUE_PATH) {
		rc = parse_expected(p, t, "an operator such as '=='", NULL);
	}
	if (rc == 0)
		*out = c;
	return rc;
}

static int parse_group(struct parse *p, struct cond **out)
{
	struct token t;
	int rc = parse_or(p, out);

	if (rc < 0)
		return rc;
	t = parse_take(p, LEX_COND);
	return token_is(t, ")") ? 0 : parse_expected(p, t, "'and', 'or' or ')'", NULL);
}

static int parse_unary(struct parse *p, struct cond **out)
{
	struct token t = parse_peek(p, LEX_COND);
	bool not = token_is(t, "not"), group = token_is(t, "(");
	struct cond *c;
	int rc;

	if (token_is(t, "!"))
		return parse_expected(p, t, "a test", "write 'not'");
	if (!not &&!group)
		return parse_test(p, out);
	if (p->depth == COND_DEPTH_MAX)
		return parse_fail(p, t.at, NULL, "the condition is nested more than %d deep",
				  COND_DEPTH_MAX);
	parse_take(p, LEX_COND);
	p->depth++;
	if (group) {
		rc = parse_group(p, out);
	} else {
		c = new_cond(p, COND_NOT, t.at);
		rc = c ? parse_unary(p, &c->children) : E_NO_MEMORY;
		if (rc == 0)
			*out = c;
	}
	p->depth--;
	return rc;
}

/* part (word part)*; one part alone stays as it is. */
static int parse_chain(struct parse *p, enum cond_op op,
		       int (*part)(struct parse *p, struct cond **out), struct cond **out)
{
	struct cond *chain = NULL, *first, **link;
	struct token t;
	int rc = part(p, &first);

	if (rc < 0)
		return rc;
	link = &first->next;
	while (t = parse_peek(p, LEX_COND), token_is(t, cond_op_text(op))) {
		if (!chain)
			chain = new_cond(p, op, t.at);
		if (!chain)
			return E_NO_MEMORY;
		parse_take(p, LEX_COND);
		rc = part(p, link);
		if (rc < 0)
			return rc;
		link = &(*link)->next;
	}
	if (chain)
		chain->children = first;
	*out = chain ? chain : first;
	return 0;
}

static int parse_and(struct parse *p, struct cond **out)
{
	return parse_chain(p, COND_AND, parse_unary, out);
}

static int parse_or(struct parse *p, struct cond **out)
{
	return parse_chain(p, COND_OR, parse_and, out);
}

int parse_condition(struct parse *p, struct cond **out)
{
	p->depth = p->tests = 0;
	return parse_or(p, out);
}
