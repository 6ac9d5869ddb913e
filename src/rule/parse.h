/* SPDX-License-Identifier: Apache-2.0 */
/* parse.h - the parser's own header: its state, and what its files give each other.
 *
 * Only rules.c calls parse_rule.  Every function returns 0, E_NO_MEMORY, or E_SYNTAX after
 * one error was added; the caller then gives up that rule.  Out-parameters are written on
 * success only. */
#ifndef RULE_PARSE_H
#define RULE_PARSE_H

#include "rule/lex.h"
#include "rule/rule.h"

struct parse {
	struct lexer lex;
	struct arena *mem;
	const struct rule_source *source;
	struct rule_errors *errors;
	struct rule *rule; /* the one being read */
	unsigned depth;	   /* of nested conditions */
	unsigned tests;	   /* of this condition */
	bool kept;	   /* only what kept.h allows */
};

/* Reads the rule at which p->lex stands, to its end. */
int parse_rule(struct parse *p, struct rule **out);

enum target_form {
	TARGET_NEEDS_METHOD,  /* hook, capture, inside */
	TARGET_ALLOWS_METHOD, /* skip */
	TARGET_CLASS_ONLY,    /* ahead, at-load, live */
};
int parse_target(struct parse *p, enum target_form form, struct rule_target *out);
int parse_condition(struct parse *p, struct cond **out);
int parse_value(struct parse *p, struct value **out); /* path or literal */
int parse_path(struct parse *p, struct value **out);  /* a value of the program: $1.name */
int parse_literals(struct parse *p, const char *close, struct value **out); /* and takes close */
int parse_clauses(struct parse *p, struct rule *rule); /* of a hook, to the end of the rule */

/* Helpers for all of them. */
struct token parse_peek(const struct parse *p, enum lex_mode mode);
struct token parse_take(struct parse *p, enum lex_mode mode);
bool parse_accept(struct parse *p, enum lex_mode mode,
		  const char *text); /* take it if it is next */

int parse_fail(struct parse *p, struct rule_pos at, const char *hint, const char *fmt, ...)
	__attribute__((format(printf, 4, 5), cold));
/* "expected WHAT, found ..."; a bad token tells its own problem instead. */
int parse_expected(struct parse *p, struct token found, const char *what, const char *hint);
/* "WHAT 'word'" with the nearest word of the lists as a hint; lists end with NULL. */
int parse_unknown(struct parse *p, struct token found, const char *what, const char *const *words,
		  const char *const *more);
bool parse_in_list(struct slice word, const char *const *words);

/* Compile the word t; trouble is reported at its place in the word. */
int parse_pattern(struct parse *p, struct token t, enum pattern_kind kind, struct pattern *out);
int parse_trouble(struct parse *p, struct token t, const struct pattern_trouble *trouble);

/* A list of n items of `size` bytes with room for one more, zeroed; it may have moved. */
void *parse_grow(struct parse *p, void *list, size_t n, size_t size); /* NULL: out of memory */

bool parse_is_name(struct slice s); /* letters, digits and '_', no digit first */

extern const char *const parse_rule_words[];   /* hook, skip, ... */
extern const char *const parse_clause_words[]; /* light, timed, ... */

#endif
