/* SPDX-License-Identifier: Apache-2.0 */
/* parse_value.c - reads values: literals, and paths into the data of the program.
 *
 *	value    = literal | path
 *	literal  = STRING | CHAR | NUMBER | "true" | "false" | "null"
 *	path     = ("$" N | "$this" | "$return" | "$" NAME) step*
 *	step     = "." NAME [["!"] "(" literals ")"] | "[" literal "]" */
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "rule/parse.h"
#include "rule/text.h"

/* In the C locale: the observed program may have set one that writes 1,5. */
static bool read_double(struct slice text, double *out)
{
	locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0), before;
	char copy[64], *end;

	if (text.n >= sizeof(copy) || !plain)
		return false;
	memcpy(copy, text.p, text.n);
	copy[text.n] = '\0';
	before = uselocale(plain);
	*out = strtod(copy, &end);
	uselocale(before);
	freelocale(plain);
	return *end == '\0' && isfinite(*out);
}

/* Digits of the given base up to the end; false: not a number, or more than 64 bits. */
static bool read_whole(struct slice s, unsigned base, uint64_t *out)
{
	uint64_t v = 0;

	for (size_t i = 0; i < s.n; i++) {
		uint8_t c = s.p[i], low = c | 0x20;
		unsigned digit = c >= '0' && c <= '9'	    ? c - (unsigned)'0'
				 : low >= 'a' && low <= 'f' ? low - (unsigned)'a' + 10
							    : 99;

		if (digit >= base || __builtin_mul_overflow(v, base, &v) ||
		    __builtin_add_overflow(v, digit, &v))
			return false;
	}
	*out = v;
	return s.n > 0;
}

static bool looks_real(struct slice s)
{
	return memchr(s.p, '.', s.n) || memchr(s.p, 'e', s.n) || memchr(s.p, 'E', s.n);
}

static int read_number(struct parse *p, struct token t, struct value *v)
{
	struct slice s = t.text;
	bool minus = s.p[0] == '-', wide;
	uint64_t whole, top;
	unsigned base = 10;

	if (minus)
		s = (struct slice){ s.p + 1, s.n - 1 };
	if (s.n > 2 && s.p[0] == '0' && (s.p[1] | 0x20) == 'x') {
		base = 16;
		s = (struct slice){ s.p + 2, s.n - 2 };
	} else if (looks_real(s)) {
		v->kind = VALUE_DOUBLE;
		v->text = t.text;
		if (read_double(t.text, &v->real))
			return 0;
		return parse_fail(p, t.at, NULL, "%s is not a number, or too large a one",
				  text_quote(t.text).s);
	}
	wide = s.n && (s.p[s.n - 1] | 0x20) == 'l';
	s.n -= wide;
	if (!read_whole(s, base, &whole))
		return parse_fail(p, t.at, NULL, "%s is not a number, or too large a one",
				  text_quote(t.text).s);
	top = (uint64_t)INT64_MAX + minus;
	if (whole > top)
		return parse_fail(p, t.at, NULL, "%s does not fit into a long",
				  text_quote(t.text).s);
	v->number = minus ? (int64_t)(0 - whole) : (int64_t)whole;
	v->kind = wide || v->number < INT32_MIN || v->number > INT32_MAX ? VALUE_LONG : VALUE_INT;
	return 0;
}

static void read_char(struct value *v)
{
	const uint8_t *c = v->text.p;

	if (v->text.n == 1)
		v->number = c[0];
	else if (v->text.n == 2)
		v->number = (c[0] & 0x1f) << 6 | (c[1] & 0x3f);
	else
		v->number = (c[0] & 0x0f) << 12 | (c[1] & 0x3f) << 6 | (c[2] & 0x3f);
}

static int parse_literal(struct parse *p, const char *what, struct value **out)
{
	struct token t = parse_take(p, LEX_COND);
	struct value *v = arena_zero(p->mem, sizeof(*v));
	char hint[96] = "";
	int rc = 0;

	if (!v)
		return E_NO_MEMORY;
	v->at = t.at;
	if (t.kind == TOK_STRING || t.kind == TOK_CHAR) {
		v->kind = t.kind == TOK_STRING ? VALUE_STRING : VALUE_CHAR;
		rc = lex_unquote(p->mem, t, &v->text);
		if (rc == 0 && v->kind == VALUE_CHAR)
			read_char(v);
	} else if (t.kind == TOK_NUMBER) {
		rc = read_number(p, t, v);
	} else if (token_is(t, "true") || token_is(t, "false")) {
		v->kind = VALUE_BOOL;
		v->number = token_is(t, "true");
	} else if (token_is(t, "null")) {
		v->kind = VALUE_NULL;
	} else {
		if (t.kind == TOK_WORD && t.text.n < 40 &&
		    !parse_in_list(t.text, parse_clause_words))
			snprintf(hint, sizeof(hint), "write text as \"%.*s\", an argument as $1",
				 SLICE_FMT(t.text));
		return parse_expected(p, t, what, hint);
	}
	if (rc == 0)
		*out = v;
	return rc;
}

/* Literals up to `close`, which is taken. */
int parse_literals(struct parse *p, const char *close, struct value **out)
{
	struct value *first = NULL, **link = &first;
	char what[64];
	struct token t;

	snprintf(what, sizeof(what), "',' or '%s'", close);
	for (size_t n = 0;; n++) {
		int rc;

		if (n == COND_LIST_MAX)
			return parse_fail(p, parse_peek(p, LEX_COND).at, NULL,
					  "more than %d values in a list", COND_LIST_MAX);
		rc = parse_literal(p, "a literal", link);
		if (rc < 0)
			return rc;
		link = &(*link)->next;
		t = parse_take(p, LEX_COND);
		if (token_is(t, close))
			break;
		if (!token_is(t, ","))
			return parse_expected(p, t, what, NULL);
	}
	*out = first;
	return 0;
}

static int note_capture(struct parse *p, const struct value *v)
{
	struct rule_use *use;

	for (use = p->rule->captures; use; use = use->next)
		if (slice_eq(use->name, v->text))
			return 0;
	use = arena_zero(p->mem, sizeof(*use));
	if (!use)
		return E_NO_MEMORY;
	use->name = v->text;
	use->at = v->at;
	use->next = p->rule->captures;
	p->rule->captures = use;
	return 0;
}

static int parse_root(struct parse *p, struct token t, struct value *v)
{
	struct slice name = { t.text.p + 1, t.text.n - 1 };
	uint64_t number;

	v->kind = VALUE_PATH;
	v->at = t.at;
	if (slice_is(name, "this")) {
		v->root = ROOT_THIS;
	} else if (slice_is(name, "return")) {
		v->root = ROOT_RETURN;
	} else if (name.n && name.p[0] >= '0' && name.p[0] <= '9') {
		v->root = ROOT_ARGUMENT;
		if (!read_whole(name, 10, &number) || number > PARAMS_MAX)
			return parse_fail(p, t.at, NULL, "%s is not an argument: $1 to $%d are",
					  text_quote(t.text).s, PARAMS_MAX);
		if (number == 0)
			return parse_fail(p, t.at, "the object itself is $this",
					  "arguments count from $1");
		v->number = (int64_t)number;
	} else if (parse_is_name(name)) {
		v->root = ROOT_CAPTURE;
		v->text = name;
		return note_capture(p, v);
	} else {
		return parse_fail(p, t.at, NULL,
				  "expected a number or a name after '$', as in $1 or $this");
	}
	return 0;
}

/* Behind a '.' or a '['. */
static int parse_step(struct parse *p, bool index, struct step *s)
{
	struct token t;
	int rc;

	if (index) {
		s->kind = STEP_INDEX;
		rc = parse_literal(p, "an index", &s->args);
		if (rc < 0)
			return rc;
		t = parse_take(p, LEX_COND);
		return token_is(t, "]") ? 0 : parse_expected(p, t, "']'", NULL);
	}
	t = parse_take(p, LEX_COND);
	if (t.kind != TOK_WORD)
		return parse_expected(p, t, "a field or method after '.'", NULL);
	s->name = t.text;
	s->kind = STEP_FIELD;
	s->trusted = parse_accept(p, LEX_COND, "!");
	if (!parse_accept(p, LEX_COND, "(")) {
		if (!s->trusted)
			return 0;
		return parse_expected(p, parse_take(p, LEX_COND), "'(' after '!'",
				      "only a method is called");
	}
	s->kind = STEP_CALL;
	if (s->trusted && p->kept)
		return parse_fail(p, t.at, "it belongs into a rule file",
				  "a rule that is kept calls nothing with '!'");
	return parse_accept(p, LEX_COND, ")") ? 0 : parse_literals(p, ")", &s->args);
}

static int parse_steps(struct parse *p, struct value *v)
{
	struct step **link = &v->steps;

	for (size_t n = 0;; n++) {
		struct token t = parse_peek(p, LEX_COND);
		bool index = token_is(t, "[");
		int rc;

		if (!index && !token_is(t, "."))
			return 0;
		if (n == COND_STEPS_MAX)
			return parse_fail(p, t.at, NULL, "more than %d steps in a path",
					  COND_STEPS_MAX);
		parse_take(p, LEX_COND);
		*link = arena_zero(p->mem, sizeof(**link));
		if (!*link)
			return E_NO_MEMORY;
		(*link)->at = t.at;
		rc = parse_step(p, index, *link);
		if (rc < 0)
			return rc;
		link = &(*link)->next;
	}
}

int parse_path(struct parse *p, struct value **out)
{
	struct token t = parse_take(p, LEX_COND);
	struct value *v;
	int rc;

	if (t.kind != TOK_VALUE)
		return parse_expected(p, t, "a value such as $1 or $this.name", NULL);
	v = arena_zero(p->mem, sizeof(*v));
	if (!v)
		return E_NO_MEMORY;
	rc = parse_root(p, t, v);
	if (rc == 0)
		rc = parse_steps(p, v);
	if (rc == 0)
		*out = v;
	return rc;
}

int parse_value(struct parse *p, struct value **out)
{
	if (parse_peek(p, LEX_COND).kind == TOK_VALUE)
		return parse_path(p, out);
	return parse_literal(p, "a value such as $1, 10 or \"text\"", out);
}
