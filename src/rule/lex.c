/* SPDX-License-Identifier: Apache-2.0 */
/* lex.c - the lexer of the rule language.
 *
 * Lines: a rule starts in column 1; a line that starts with white space continues it, and
 * blank and comment lines in between do not matter.  A '#' starts a comment at the start
 * of a line or after white space only, so that `a.B#c` is an error and not half a rule. */
#include "rule/lex.h"

#include "base/utf8.h"
#include "rule/text.h"

void lex_init(struct lexer *lx, struct slice text)
{
	lx->start = lx->p = text.p;
	lx->end = slice_end(text);
	lx->at = (struct rule_pos){ 1, 1 };
}

static bool is_blank(uint8_t c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

static bool is_digit(uint8_t c)
{
	return c >= '0' && c <= '9';
}

static bool is_letter(uint8_t c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c >= 0x80;
}

/* One character, or one byte that is none. */
static void advance(struct lexer *lx)
{
	size_t n;

	if (*lx->p == '\n') {
		lx->p++;
		lx->at.line++;
		lx->at.column = 1;
		return;
	}
	n = utf8_size(lx->p, lx->end);
	lx->p += n ? n : 1;
	lx->at.column++;
}

static void skip_comment(struct lexer *lx)
{
	const uint8_t *nl = memchr(lx->p, '\n', (size_t)(lx->end - lx->p));
	const uint8_t *stop = nl ? nl : lx->end;

	lx->at.column += (uint32_t)(stop - lx->p); /* no message points into a comment */
	lx->p = stop;
}

void lex_skip_line(struct lexer *lx)
{
	skip_comment(lx);
	if (lx->p < lx->end)
		advance(lx);
}

bool lex_next_rule(struct lexer *lx)
{
	while (lx->p < lx->end) {
		if (lx->at.column == 1 && !is_blank(*lx->p) && *lx->p != '\n' && *lx->p != '#')
			return true;
		lex_skip_line(lx);
	}
	return false;
}

/* To the next token of this rule; false: there is none, and the lexer has not moved. */
static bool skip_space(struct lexer *lx)
{
	struct lexer at = *lx;

	while (at.p < at.end) {
		uint8_t c = *at.p;

		if (c == '#' && (at.p == at.start || is_blank(at.p[-1]) || at.p[-1] == '\n')) {
			skip_comment(&at);
		} else if (c == '\n') {
			advance(&at);
			if (at.p == at.end || (!is_blank(*at.p) && *at.p != '\n' && *at.p != '#'))
				return false;
		} else if (is_blank(c)) {
			advance(&at);
		} else {
			*lx = at;
			return true;
		}
	}
	return false;
}

static struct token bad(struct lexer *at, const char *problem, const char *hint)
{
	return (struct token){ .kind = TOK_BAD,
			       .at = at->at,
			       .text = { at->p, at->p < at->end ? 1 : 0 },
			       .problem = problem,
			       .hint = hint };
}

static bool in_word(uint8_t c, enum lex_mode mode)
{
	if (is_letter(c) || is_digit(c) || c == '$')
		return true;
	return mode == LEX_RULE &&
	       (c == '*' || c == '?' || c == '.' || c == '/' || c == '-' || c == '[' || c == ']');
}

static const char not_utf8[] = "the text is not valid UTF-8 here";

static struct token read_word(struct lexer *lx, enum lex_mode mode)
{
	struct token t = { .kind = TOK_WORD, .at = lx->at, .text = { lx->p, 0 } };

	while (lx->p < lx->end && in_word(*lx->p, mode)) {
		if (!utf8_size(lx->p, lx->end))
			return bad(lx, not_utf8, NULL);
		advance(lx);
	}
	t.text.n = (size_t)(lx->p - t.text.p);
	return t;
}

/* Is there a full escape sequence at p, behind the backslash?  Gives its length, or 0. */
static size_t escape_length(const uint8_t *p, const uint8_t *end, unsigned *code)
{
	static const char names[] = "ntr\"'\\", codes[] = "\n\t\r\"'\\";
	const char *found;
	unsigned v = 0;

	if (p == end)
		return 0;
	found = memchr(names, *p, sizeof(names) - 1);
	if (found) {
		*code = (unsigned)codes[found - names];
		return 1;
	}
	if (*p != 'u' || end - p < 5)
		return 0;
	for (int i = 1; i <= 4; i++) {
		uint8_t c = p[i];
		unsigned low = c | 0x20u;

		if (is_digit(c))
			v = v << 4 | (c - (unsigned)'0');
		else if (low >= 'a' && low <= 'f')
			v = v << 4 | (low - 'a' + 10);
		else
			return 0;
	}
	if (v >= 0xd800 && v <= 0xdfff)
		return 0;
	*code = v;
	return 5;
}

static struct token read_quoted(struct lexer *lx)
{
	uint8_t quote = *lx->p;
	struct token t = { .kind = quote == '"' ? TOK_STRING : TOK_CHAR, .at = lx->at };
	struct lexer open = *lx;
	size_t chars = 0, length;
	unsigned code;

	t.text.p = lx->p;
	advance(lx);
	for (; lx->p < lx->end && *lx->p != quote && *lx->p != '\n'; chars++) {
		length = utf8_size(lx->p, lx->end);
		if (!length)
			return bad(lx, not_utf8, NULL);
		if (length == 4 && quote == '\'')
			return bad(lx, "this character does not fit into a Java char",
				   "write text in double quotes");
		if (*lx->p != '\\') {
			advance(lx);
			continue;
		}
		length = escape_length(lx->p + 1, lx->end, &code);
		if (!length)
			return bad(lx, "unknown escape in a text",
				   "known are \\n \\t \\r \\\" \\' \\\\ and \\u0041");
		for (size_t i = 0; i <= length; i++)
			advance(lx);
	}
	if (lx->p == lx->end || *lx->p != quote)
		return bad(&open, "the quote is not closed on this line", NULL);
	advance(lx);
	if (quote == '\'' && chars != 1)
		return bad(&open, "single quotes hold exactly one character",
			   "write text in double quotes");
	t.text.n = (size_t)(lx->p - t.text.p);
	return t;
}

static bool digit_at(const struct lexer *lx, size_t i)
{
	return (size_t)(lx->end - lx->p) > i && is_digit(lx->p[i]);
}

/* Everything that can belong to a number; whether it is one, the parser decides. */
static struct token read_number(struct lexer *lx)
{
	struct token t = { .kind = TOK_NUMBER, .at = lx->at, .text = { lx->p, 0 } };
	bool hex = false;

	if (*lx->p == '-')
		advance(lx);
	while (lx->p < lx->end) {
		uint8_t c = *lx->p, before = lx->p > t.text.p ? lx->p[-1] : 0;
		bool exponent = (before == 'e' || before == 'E') && !hex;

		if (c == 'x' || c == 'X')
			hex = true;
		if (!is_digit(c) && !(is_letter(c) && c < 0x80) && !(c == '.' && digit_at(lx, 1)) &&
		    !((c == '-' || c == '+') && exponent))
			break;
		advance(lx);
	}
	t.text.n = (size_t)(lx->p - t.text.p);
	return t;
}

static struct token read_value(struct lexer *lx)
{
	struct token t = { .kind = TOK_VALUE, .at = lx->at, .text = { lx->p, 0 } };

	advance(lx);
	while (lx->p < lx->end && (is_letter(*lx->p) || is_digit(*lx->p))) {
		if (!utf8_size(lx->p, lx->end))
			return bad(lx, not_utf8, NULL);
		advance(lx);
	}
	t.text.n = (size_t)(lx->p - t.text.p);
	return t;
}

static struct token read_punct(struct lexer *lx, enum lex_mode mode)
{
	static const char *const rule_puncts[] = { "<init>", "<clinit>", "::", ">>", "&&", "||" };
	static const char *const cond_puncts[] = { "==", "!=", "<=", ">=", "&&", "||", ">>", "::" };
	const char *const *list = mode == LEX_RULE ? rule_puncts : cond_puncts;
	size_t n = mode == LEX_RULE ? COUNT(rule_puncts) : COUNT(cond_puncts), length = 1;
	struct token t = { .kind = TOK_PUNCT, .at = lx->at, .text = { lx->p, 0 } };

	if (!utf8_size(lx->p, lx->end))
		return bad(lx, not_utf8, NULL);
	for (size_t i = 0; i < n; i++) {
		size_t wide = strlen(list[i]);

		if ((size_t)(lx->end - lx->p) < wide || memcmp(lx->p, list[i], wide) != 0)
			continue;
		length = wide;
		if (wide > 2) /* <init>, <clinit> */
			t.kind = TOK_WORD;
		break;
	}
	for (size_t i = 0; i < length; i++)
		advance(lx);
	t.text.n = (size_t)(lx->p - t.text.p);
	return t;
}

struct token lex_read(struct lexer *lx, enum lex_mode mode)
{
	uint8_t c;

	if (!skip_space(lx))
		return (struct token){ .kind = TOK_END, .at = lx->at, .text = { lx->p, 0 } };
	c = *lx->p;
	if (c == '"' || (c == '\'' && mode == LEX_COND))
		return read_quoted(lx);
	if (mode == LEX_COND && c == '$')
		return read_value(lx);
	if (mode == LEX_COND && (is_digit(c) || (c == '-' && digit_at(lx, 1))))
		return read_number(lx);
	if (in_word(c, mode))
		return read_word(lx, mode);
	return read_punct(lx, mode);
}

int lex_unquote(struct arena *mem, struct token t, struct slice *out)
{
	const uint8_t *p = t.text.p + 1, *end = t.text.p + t.text.n - 1;
	uint8_t *to = arena_alloc(mem, t.text.n);
	uint8_t *start = to;
	unsigned code = 0;

	if (!to)
		return E_NO_MEMORY;
	while (p < end) {
		if (*p == '\\') {
			p += 1 + escape_length(p + 1, end, &code);
			to += utf8_encode(code, to);
		} else {
			*to++ = *p++;
		}
	}
	*out = (struct slice){ start, (size_t)(to - start) };
	return 0;
}
