/* SPDX-License-Identifier: Apache-2.0 */
/* layout.c - values over as many lines as they need. */
#include "cli/screen/layout.h"

#include "cli/screen/method_name.h"

enum { STEP = 2, NESTED_MAX = 64, FLAT = 40 };

static bool opens(uint8_t c)
{
	return c == '{' || c == '[' || c == '(';
}

static bool closes(uint8_t c)
{
	return c == '}' || c == ']' || c == ')';
}

/* Behind the quoted text that begins at `at`. */
static size_t behind_quoted(struct slice s, size_t at)
{
	uint8_t quote = s.p[at++];

	while (at < s.n && s.p[at] != quote)
		at += s.p[at] == '\\' ? 2 : 1;
	return at < s.n ? at + 1 : s.n;
}

/* Behind the bracket that closes the one at `at`, or the end. */
static size_t behind_brackets(struct slice s, size_t at)
{
	unsigned depth = 0;

	while (at < s.n) {
		if (s.p[at] == '"' || s.p[at] == '\'') {
			at = behind_quoted(s, at);
			continue;
		}
		depth += opens(s.p[at]);
		depth -= closes(s.p[at]) && depth;
		at++;
		if (depth == 0)
			break;
	}
	return at;
}

bool layout_next(struct slice *list, struct slice *value)
{
	struct slice s = *list;
	size_t at = 0;

	while (s.n && s.p[0] == ' ')
		s.p++, s.n--;
	if (!s.n)
		return false;
	while (at < s.n && s.p[at] != ',') {
		if (s.p[at] == '"' || s.p[at] == '\'')
			at = behind_quoted(s, at);
		else
			at = opens(s.p[at]) ? behind_brackets(s, at) : at + 1;
	}
	*value = (struct slice){ s.p, at };
	at += at < s.n; /* the comma */
	*list = (struct slice){ s.p + at, s.n - at };
	return true;
}

struct slice layout_inside(struct slice value)
{
	bool closed;

	if (!value.n || !opens(value.p[0]) || behind_brackets(value, 0) < value.n)
		return value;
	closed = value.n > 1 && closes(value.p[value.n - 1]);
	return (struct slice){ value.p + 1, value.n - 1 - closed };
}

/* The longest pair of brackets in s, from its opening to behind its closing one; false: none that
 * holds anything. */
static bool longest_brackets(struct slice s, size_t *from, size_t *to)
{
	size_t at = 0;

	*from = *to = 0;
	while (at < s.n) {
		if (s.p[at] == '"' || s.p[at] == '\'') {
			at = behind_quoted(s, at);
		} else if (opens(s.p[at])) {
			size_t end = behind_brackets(s, at);

			if (end - at > *to - *from) {
				*from = at;
				*to = end;
			}
			at = end;
		} else {
			at++;
		}
	}
	return *to - *from > 2;
}

struct layout {
	struct buf *out;
	unsigned width;
	unsigned nested;
};

/* Are all values of the list so short that several fit into a line? */
static bool is_flat(struct slice list)
{
	struct slice one;

	while (layout_next(&list, &one))
		if (method_name_width(one) > FLAT || memchr(one.p, '=', one.n))
			return false;
	return true;
}

/* Short values, as many in a line as it takes. */
static void put_flat(struct layout *l, struct slice list, unsigned indent)
{
	size_t column = SIZE_MAX;
	struct slice one;
	bool first = true;

	while (layout_next(&list, &one)) {
		size_t n = method_name_width(one) + 1; /* a comma may follow */

		if (column == SIZE_MAX || column + 1 + n > l->width) {
			buf_printf(l->out, "%s\n%*s", first ? "" : ",", (int)indent, "");
			column = indent;
		} else {
			buf_text(l->out, ", ");
			column++;
		}
		buf_put(l->out, one);
		column += n;
		first = false;
	}
}

static void put(struct layout *l, struct slice value, unsigned indent)
{
	size_t from, to;
	struct slice inside, one;
	bool first = true;

	if (indent + method_name_width(value) <= l->width || l->nested == NESTED_MAX ||
	    !longest_brackets(value, &from, &to)) {
		buf_put(l->out, value);
		return;
	}
	l->nested++;
	inside = layout_inside((struct slice){ value.p + from, to - from });
	buf_bytes(l->out, value.p, from + 1);
	if (is_flat(inside)) {
		put_flat(l, inside, indent + STEP);
		inside.n = 0;
	}
	while (layout_next(&inside, &one)) {
		buf_printf(l->out, "%s\n%*s", first ? "" : ",", (int)indent + STEP, "");
		put(l, one, indent + STEP);
		first = false;
	}
	if (closes(value.p[to - 1])) {
		buf_printf(l->out, "\n%*s", (int)indent, "");
		put(l, (struct slice){ value.p + to - 1, value.n - to + 1 }, indent);
	}
	l->nested--;
}

void layout_put(struct buf *out, struct slice value, unsigned indent, unsigned width)
{
	struct layout l = { out, width, 0 };

	put(&l, value, indent);
	buf_u8(out, '\n');
}
