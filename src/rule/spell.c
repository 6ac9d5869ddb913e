/* SPDX-License-Identifier: Apache-2.0 */
/* spell.c - see the lexer (lex.c) for what a word is, and pattern.c for what a name is. */
#include "rule/spell.h"

#include "base/utf8.h"
#include "rule/pattern.h"
#include "rule/signature.h"
#include "rule/rule_target.h"
#include "rule/text.h"

enum { SPELL_MAX = PATTERN_MAX - 16, TYPE_MAX = 200 };

static bool is_plain(uint8_t c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '_' || c == '$' || c == '-';
}

/* Bytes of the character at p if it may stand in a word; 0: it may not. */
static size_t plain_at(const uint8_t *p, const uint8_t *end)
{
	if (*p < 0x80)
		return is_plain(*p);
	return utf8_size(p, end);
}

static bool is_dot(uint8_t c)
{
	return c == '.' || c == '/';
}

/* A dot between two parts of a class's name. */
static bool joins(struct slice s, size_t i)
{
	return is_dot(s.p[i]) && i && i + 1 < s.n && !is_dot(s.p[i - 1]);
}

static void put_name(struct buf *out, struct slice s, bool dots)
{
	const uint8_t *end = slice_end(s);
	size_t start = out->n;

	for (size_t i = 0, n; i < s.n; i += n) {
		n = plain_at(s.p + i, end);
		if (out->n - start > SPELL_MAX) {
			buf_text(out, dots ? "**" : "*");
			return;
		}
		if (n) {
			buf_bytes(out, s.p + i, n);
			continue;
		}
		n = 1;
		if (dots && joins(s, i)) {
			buf_u8(out, '.');
			continue;
		}
		while (i + n < s.n && s.p[i] >= 0x80 && utf8_is_inner(s.p[i + n]))
			n++;
		buf_u8(out, '?');
	}
	if (out->n == start)
		buf_u8(out, '?');
}

void spell_class(struct buf *out, struct slice class)
{
	static const char *const words[] = { "implements", "extends", "annotated" };

	for (size_t i = 0; i < COUNT(words); i++)
		if (slice_is(class, words[i])) { /* these begin something else */
			buf_printf(out, "?%s", words[i] + 1);
			return;
		}
	put_name(out, class, true);
}

static void put_method(struct buf *out, struct slice method)
{
	if (slice_is(method, "<init>") || slice_is(method, "<clinit>"))
		buf_put(out, method);
	else if (slice_is(method, "new")) /* would be a constructor */
		buf_text(out, "ne?");
	else
		put_name(out, method, false);
}

/* Can a type be written as it is?  A class of the name `int` cannot. */
static bool is_spelled(struct slice type)
{
	size_t dims = 0;
	struct slice name;

	while (dims < type.n && type.p[dims] == '[')
		dims++;
	if (dims == type.n || dims > 255 || type.n > TYPE_MAX)
		return false;
	if (type.p[dims] != 'L')
		return true;
	name = (struct slice){ type.p + dims + 1, type.n - dims - 2 };
	for (size_t i = 0, n; i < name.n; i += n) {
		n = plain_at(name.p + i, name.p + name.n);
		if (!n && !(joins(name, i) && name.p[i] == '/'))
			return false;
		n = n ? n : 1;
	}
	return name.n && !signature_is_primitive(name);
}

/* Is it a list of parameters that a rule can have? */
static bool is_list(struct slice desc)
{
	struct slice d = { desc.p + 1, desc.n - 1 };
	size_t count = 0;

	if (!signature_returns(desc).n)
		return false;
	for (; d.p[0] != ')'; count++) {
		struct slice type = signature_first(d);

		if (type.p[type.n - 1] == 'V')
			return false;
		d = (struct slice){ d.p + type.n, d.n - type.n };
	}
	return count <= PARAMS_MAX;
}

static void put_params(struct buf *out, struct slice desc)
{
	struct slice d = { desc.p + 1, desc.n - 1 };

	buf_u8(out, '(');
	for (size_t i = 0; d.p[0] != ')'; i++) {
		struct slice type = signature_first(d);

		buf_text(out, i ? ", " : "");
		if (is_spelled(type))
			signature_print_first(type, out);
		else
			buf_u8(out, '*');
		d = (struct slice){ d.p + type.n, d.n - type.n };
	}
	buf_u8(out, ')');
}

void spell_target(struct buf *out, struct slice class, struct slice method, struct slice desc)
{
	spell_class(out, class);
	buf_text(out, "::");
	put_method(out, method);
	if (desc.n && is_list(desc))
		put_params(out, desc);
}

static bool is_control(uint8_t c)
{
	return c < ' ' || c == 127;
}

void spell_line(struct buf *out, struct slice text)
{
	for (size_t i = 0; i < text.n; i++)
		buf_u8(out, is_control(text.p[i]) ? '?' : text.p[i]);
}

bool spell_is_line(struct slice text)
{
	for (size_t i = 0; i < text.n; i++)
		if (is_control(text.p[i]))
			return false;
	return true;
}
