/* SPDX-License-Identifier: Apache-2.0 */
/* parse.c - reads one rule: dispatch by its first word, and the small kinds of rules.
 *
 *	rule     = "hook" target clause* | "skip" target | place target
 *	         | "template" NAME "from" STRING ["method" NAME]
 *	         | "capture" NAME "=" path "at" target
 *	place    = "ahead" | "at-load" | "live"
 *
 * Targets are in parse_target.c, clauses in parse_clause.c, conditions and paths in
 * parse_cond.c.  A rule with an error is given up at its first one: what follows is often
 * only a consequence. */
#include "rule/parse.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/utf8.h"
#include "rule/text.h"

const char *const parse_rule_words[] = { "hook",  "skip",    "template", "capture",
					 "ahead", "at-load", "live",	 NULL };

const char *const rule_templates[] = { "catch-all", "arguments", "web",	 "database",
				       "socket",    "messaging", "file", NULL };

const char *rule_level_text(enum rule_level level)
{
	static const char *const words[] = { "light", "timed", "full" };

	return words[level];
}

const char *rule_place_text(enum rule_place place)
{
	static const char *const words[] = { "ahead", "at-load", "live" };

	return words[place];
}

struct token parse_peek(const struct parse *p, enum lex_mode mode)
{
	return lex_peek(&p->lex, mode);
}

struct token parse_take(struct parse *p, enum lex_mode mode)
{
	return lex_read(&p->lex, mode);
}

bool parse_accept(struct parse *p, enum lex_mode mode, const char *text)
{
	struct lexer ahead = p->lex;

	if (!token_is(lex_read(&ahead, mode), text))
		return false;
	p->lex = ahead;
	return true;
}

int parse_fail(struct parse *p, struct rule_pos at, const char *hint, const char *fmt, ...)
{
	char text[sizeof(p->errors->list[0].text)];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	return rule_error_add(p->errors, p->source, at, hint, "%s", text);
}

/* A word that starts rules, met in the middle of one: most likely the line is indented. */
static bool starts_rule(struct token t)
{
	return t.kind == TOK_WORD && !slice_is(t.text, "template") &&
	       parse_in_list(t.text, parse_rule_words);
}

static int fail_misplaced(struct parse *p, struct token t)
{
	return parse_fail(p, t.at, "an indented line continues the rule before it",
			  "%s starts a new rule and must stand in column 1", text_quote(t.text).s);
}

/* "'from' and ..." was expected, `form` was found. */
static void hint_quoted(const char *what, struct token found, char *hint, size_t cap)
{
	struct text_guess guess = text_guess(found.text);
	const char *end = what[0] == '\'' ? strchr(what + 1, '\'') : NULL;

	if (end && found.kind == TOK_WORD)
		text_guess_try(&guess, (struct slice){ (const uint8_t *)what + 1,
						       (size_t)(end - what - 1) });
	text_guess_hint(&guess, "", hint, cap);
}

int parse_expected(struct parse *p, struct token found, const char *what, const char *hint)
{
	char guess[96];

	if (found.kind == TOK_BAD)
		return parse_fail(p, found.at, found.hint, "%s", found.problem);
	if (found.kind == TOK_END)
		return parse_fail(p, found.at, hint, "expected %s, found the end of the rule",
				  what);
	if (starts_rule(found) && found.at.line != p->rule->at.line)
		return fail_misplaced(p, found);
	if (found.text.p[0] < 0x20 || found.text.p[0] == 0x7f)
		return parse_fail(p, found.at, hint, "expected %s, found the byte 0x%02x", what,
				  found.text.p[0]);
	hint_quoted(what, found, guess, sizeof(guess));
	return parse_fail(p, found.at, hint ? hint : guess, "expected %s, found %s", what,
			  text_quote(found.text).s);
}

bool parse_in_list(struct slice word, const char *const *words)
{
	for (size_t i = 0; words[i]; i++)
		if (slice_is(word, words[i]))
			return true;
	return false;
}

int parse_unknown(struct parse *p, struct token found, const char *what, const char *const *words,
		  const char *const *more)
{
	struct text_guess guess = text_guess(found.text);
	char hint[96];

	for (size_t i = 0; words[i]; i++)
		text_guess_try(&guess, slice_str(words[i]));
	for (size_t i = 0; more && more[i]; i++)
		text_guess_try(&guess, slice_str(more[i]));
	text_guess_hint(&guess, "", hint, sizeof(hint));
	return parse_fail(p, found.at, hint, "unknown %s %s", what, text_quote(found.text).s);
}

int parse_trouble(struct parse *p, struct token t, const struct pattern_trouble *trouble)
{
	struct rule_pos at = t.at;

	for (size_t i = 0; i < trouble->offset && i < t.text.n; i++)
		at.column += !utf8_is_inner(t.text.p[i]);
	return parse_fail(p, at, trouble->hint, "%s", trouble->text);
}

int parse_pattern(struct parse *p, struct token t, enum pattern_kind kind, struct pattern *out)
{
	struct pattern_trouble trouble;
	int rc = pattern_compile(p->mem, t.text, kind, out, &trouble);

	return rc == E_SYNTAX ? parse_trouble(p, t, &trouble) : rc;
}

/* Grows at 0, 1, 2, 4, 8, ...: the old list stays behind in the arena. */
void *parse_grow(struct parse *p, void *list, size_t n, size_t size)
{
	void *to;

	if (n && (n & (n - 1)))
		return list;
	to = arena_zero(p->mem, (n ? 2 * n : 1) * size);
	if (to && n)
		memcpy(to, list, n * size);
	return to;
}

bool parse_is_name(struct slice s)
{
	if (!s.n || (s.p[0] >= '0' && s.p[0] <= '9'))
		return false;
	for (size_t i = 0; i < s.n; i++) {
		uint8_t c = s.p[i], low = c | 0x20;

		if (!(low >= 'a' && low <= 'z') && !(c >= '0' && c <= '9') && c != '_' && c < 0x80)
			return false;
	}
	return true;
}

static int parse_hook(struct parse *p, struct rule *rule)
{
	int rc = parse_target(p, TARGET_NEEDS_METHOD, &rule->target);

	rule->kind = RULE_HOOK;
	return rc < 0 ? rc : parse_clauses(p, rule);
}

static int parse_skip(struct parse *p, struct rule *rule)
{
	rule->kind = RULE_SKIP;
	return parse_target(p, TARGET_ALLOWS_METHOD, &rule->target);
}

static int parse_place(struct parse *p, struct rule *rule, enum rule_place place)
{
	rule->kind = RULE_PLACE;
	rule->place = place;
	return parse_target(p, TARGET_CLASS_ONLY, &rule->target);
}

static bool is_template_name(struct slice s)
{
	for (size_t i = 0; i < s.n; i++)
		if (memchr("*?./[]$", s.p[i], 7))
			return false;
	return s.n > 0 && s.p[0] != '<';
}

static int parse_template(struct parse *p, struct rule *rule)
{
	struct token t = parse_take(p, LEX_RULE);
	struct pattern method;
	int rc;

	rule->kind = RULE_TEMPLATE;
	if (t.kind != TOK_WORD)
		return parse_expected(p, t, "a name for the template", NULL);
	if (!is_template_name(t.text))
		return parse_fail(p, t.at, "names consist of letters, digits, '_' and '-'",
				  "%s cannot be the name of a template", text_quote(t.text).s);
	if (parse_in_list(t.text, rule_templates))
		return parse_fail(p, t.at, "choose another name",
				  "%s is one of Sonde's own templates", text_quote(t.text).s);
	rule->template.name = t.text;
	t = parse_take(p, LEX_RULE);
	if (!token_is(t, "from"))
		return parse_expected(p, t, "'from' and the path of a class file", NULL);
	t = parse_take(p, LEX_RULE);
	if (t.kind != TOK_STRING)
		return parse_expected(p, t, "the path of a class file in double quotes", NULL);
	rc = lex_unquote(p->mem, t, &rule->template.path);
	if (rc < 0)
		return rc;
	if (!rule->template.path.n || memchr(rule->template.path.p, 0, rule->template.path.n))
		return parse_fail(p, t.at, NULL, "this cannot be the path of a file");
	if (!parse_accept(p, LEX_RULE, "method"))
		return 0;
	t = parse_take(p, LEX_RULE);
	if (t.kind != TOK_WORD)
		return parse_expected(p, t, "the name of the template's method", NULL);
	rc = parse_pattern(p, t, PATTERN_METHOD, &method);
	if (rc < 0)
		return rc;
	if (!method.exact || method.text.p[0] == '<')
		return parse_fail(p, t.at, NULL, "the template's method must be named in full");
	rule->template.method = method.text;
	return 0;
}

static int parse_capture(struct parse *p, struct rule *rule)
{
	struct token t = parse_take(p, LEX_RULE);
	int rc;

	rule->kind = RULE_CAPTURE;
	if (t.kind != TOK_WORD)
		return parse_expected(p, t, "a name for the captured value", NULL);
	if (!parse_is_name(t.text))
		return parse_fail(p, t.at,
				  t.text.p[0] == '$' ? "its name is written without '$' here"
						     : "names consist of letters, digits and '_'",
				  "%s cannot be the name of a captured value",
				  text_quote(t.text).s);
	if (slice_is(t.text, "this") || slice_is(t.text, "return"))
		return parse_fail(p, t.at, "choose another name", "%s has a meaning of its own",
				  text_quote(t.text).s);
	rule->capture.name = t.text;
	t = parse_take(p, LEX_RULE);
	if (!token_is(t, "="))
		return parse_expected(p, t, "'=' and a value such as $1.getName()", NULL);
	rc = parse_path(p, &rule->capture.value);
	if (rc < 0)
		return rc;
	if (rule->capture.value->root == ROOT_RETURN)
		return parse_fail(p, rule->capture.value->at, NULL,
				  "'$return' is not known yet when a value is captured");
	t = parse_take(p, LEX_COND);
	if (!token_is(t, "at"))
		return parse_expected(p, t, "'at' and the method where the value is captured",
				      NULL);
	return parse_target(p, TARGET_NEEDS_METHOD, &rule->target);
}

static int parse_by_word(struct parse *p, struct rule *rule, struct token t)
{
	if (token_is(t, "hook"))
		return parse_hook(p, rule);
	if (p->kept)
		return parse_fail(p, t.at, "others belong into a rule file",
				  "only rules that start with 'hook' are kept");
	if (token_is(t, "skip"))
		return parse_skip(p, rule);
	if (token_is(t, "template"))
		return parse_template(p, rule);
	if (token_is(t, "capture"))
		return parse_capture(p, rule);
	if (token_is(t, "ahead"))
		return parse_place(p, rule, PLACE_AHEAD);
	if (token_is(t, "at-load"))
		return parse_place(p, rule, PLACE_LOAD);
	if (token_is(t, "live"))
		return parse_place(p, rule, PLACE_LIVE);
	if (t.kind == TOK_WORD && memchr(t.text.p, '.', t.text.n))
		return parse_fail(p, t.at, "to hook it, write 'hook' before it",
				  "a rule starts with a word such as 'hook', found %s",
				  text_quote(t.text).s);
	if (t.kind == TOK_WORD)
		return parse_unknown(p, t, "kind of rule", parse_rule_words, NULL);
	return parse_expected(p, t, "a rule", "a rule starts with a word such as 'hook' or 'skip'");
}

/* Values that the target of the rule itself shows not to exist. */
static int check_value(struct parse *p, const struct rule *rule, const struct value *v)
{
	const struct params *params = &rule->target.params;

	if (!v || v->kind != VALUE_PATH)
		return 0;
	if (v->root == ROOT_THIS && rule->target.access & TARGET_STATIC)
		return parse_fail(p, v->at, NULL, "a static method has no '$this'");
	if (v->root == ROOT_ARGUMENT && params->given && !params->open &&
	    (size_t)v->number > params->n)
		return parse_fail(p, v->at, NULL,
				  "there is no '$%d': the method has %zu parameter%s",
				  (int)v->number, params->n, params->n == 1 ? "" : "s");
	return 0;
}

static int check_condition(struct parse *p, const struct rule *rule, const struct cond *c)
{
	int rc = check_value(p, rule, c->left);

	if (rc == 0)
		rc = check_value(p, rule, c->right);
	for (const struct cond *child = c->children; child && rc == 0; child = child->next)
		rc = check_condition(p, rule, child);
	return rc;
}

static int check_rule(struct parse *p, const struct rule *rule)
{
	if (rule->kind == RULE_HOOK && rule->hook.condition)
		return check_condition(p, rule, rule->hook.condition);
	if (rule->kind == RULE_CAPTURE)
		return check_value(p, rule, rule->capture.value);
	return 0;
}

int parse_rule(struct parse *p, struct rule **out)
{
	struct rule *rule = arena_zero(p->mem, sizeof(*rule));
	struct token t = parse_take(p, LEX_RULE);
	int rc;

	if (!rule)
		return E_NO_MEMORY;
	rule->at = t.at;
	rule->source = p->source;
	p->rule = rule;
	rc = parse_by_word(p, rule, t);
	if (rc < 0)
		return rc;
	t = parse_peek(p, LEX_RULE);
	if (t.kind != TOK_END)
		return parse_expected(p, t, "the end of the rule", NULL);
	rc = check_rule(p, rule);
	if (rc == 0)
		*out = rule;
	return rc;
}
