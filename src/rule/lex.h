/* SPDX-License-Identifier: Apache-2.0 */
/* lex.h - cuts rule text into tokens.
 *
 * There are two modes, because `a.b*` is one word in a pattern and four tokens in a
 * condition; the parser always knows which it wants.  A token is a function of position
 * and mode alone, so looking ahead is reading with a copy of the lexer.  Tokens are views
 * of the text. */
#ifndef RULE_LEX_H
#define RULE_LEX_H

#include "base/arena.h"
#include "rule/error.h"

struct lexer {
	const uint8_t *start, *p, *end;
	struct rule_pos at; /* of p */
};

enum lex_mode { LEX_RULE, LEX_COND };

enum token_kind {
	TOK_END,    /* the rule ends here; stays where the last token ended */
	TOK_WORD,   /* keyword, name or pattern; in LEX_COND an identifier */
	TOK_VALUE,  /* $1, $this, $name; LEX_COND only */
	TOK_NUMBER, /* LEX_COND only */
	TOK_STRING, /* with its quotes */
	TOK_CHAR,   /* with its quotes; LEX_COND only */
	TOK_PUNCT,  /* operator or bracket, or a character that belongs to nothing */
	TOK_BAD,    /* problem says why */
};

struct token {
	enum token_kind kind;
	struct rule_pos at;
	struct slice text;
	const char *problem, *hint; /* TOK_BAD only */
};

void lex_init(struct lexer *lx, struct slice text);

/* Go to the next line that starts a rule, beginning with the one where the lexer stands
 * if it stands in column 1.  False: there is none. */
bool lex_next_rule(struct lexer *lx);
void lex_skip_line(struct lexer *lx);

struct token lex_read(struct lexer *lx, enum lex_mode mode);

static inline struct token lex_peek(const struct lexer *lx, enum lex_mode mode)
{
	struct lexer ahead = *lx;

	return lex_read(&ahead, mode);
}

static inline bool token_is(struct token t, const char *text)
{
	return (t.kind == TOK_WORD || t.kind == TOK_PUNCT) && slice_is(t.text, text);
}

/* The text between the quotes of a TOK_STRING or TOK_CHAR, escapes resolved. */
int lex_unquote(struct arena *mem, struct token t, struct slice *out);

#endif
