/* SPDX-License-Identifier: Apache-2.0 */
/* decompiled.c - reads Procyon's layout: members of the class stand four blanks in, the brace that ends
 * one as well, and the line of the source is told before an expression, as SL or EL in a comment. */
#include "cli/look/decompiled.h"

#include <stdlib.h>
#include <string.h>

#include "cli/client/client.h"

enum { INDENT = 4, MARK_MAX = 16 /* of a mark with its number */ };

static struct slice next_line(struct slice *rest)
{
	const uint8_t *end = rest->n ? memchr(rest->p, '\n', rest->n) : NULL;
	struct slice line = { rest->p, end ? (size_t)(end - rest->p) : rest->n };
	size_t used = line.n + (end != NULL);

	*rest = (struct slice){ rest->n ? rest->p + used : rest->p, rest->n - used };
	if (line.n && line.p[line.n - 1] == '\r')
		line.n--;
	return line;
}

/* Is this a line number?  Its length then, else 0. */
static size_t mark_at(struct slice s, unsigned long *number)
{
	char text[MARK_MAX + 1] = { 0 };
	char *end;

	if (s.n < 2 || s.p[0] != '/' || s.p[1] != '*')
		return 0;
	memcpy(text, s.p, s.n < MARK_MAX ? s.n : MARK_MAX);
	if (strncmp(text, "/*SL:", 5) != 0 && strncmp(text, "/*EL:", 5) != 0)
		return 0;
	*number = strtoul(text + 5, &end, 10);
	return end > text + 5 && strncmp(end, "*/", 2) == 0 ? (size_t)(end - text) + 2 : 0;
}

static void put_line(struct slice line, struct buf *out)
{
	unsigned long number = 0, other;
	struct buf plain = { 0 };
	size_t at = 0, n;

	while (at < line.n) {
		n = mark_at((struct slice){ line.p + at, line.n - at }, number ? &other : &number);
		if (!n)
			buf_u8(&plain, line.p[at]);
		at += n ? n : 1;
	}
	if (number)
		buf_printf(out, "%6lu", number);
	else if (line.n)
		buf_printf(out, "%6s", "");
	if (line.n)
		buf_text(out, "  ");
	client_show_line(out, buf_slice(&plain));
	buf_u8(out, '\n');
	buf_release(&plain);
}

/* ---- the class ---- */

/* What it says of itself stands first, or behind imports. */
static bool is_of_procyon(struct slice line)
{
	return slice_starts(line, slice_str("//"));
}

bool decompiled_is_class(struct slice text)
{
	while (text.n) {
		struct slice line = next_line(&text);

		if (slice_is(line, "}") || slice_ends(line, "{}") || slice_ends(line, "{ }"))
			return true;
	}
	return false;
}

/* ---- one method ---- */

static bool is_member(struct slice line)
{
	return line.n > INDENT && memcmp(line.p, "    ", INDENT) == 0 && line.p[INDENT] != ' ';
}

/* "    final int NAME(", and nothing before it that only stands in an initial value. */
static bool is_head_of(struct slice line, struct slice name)
{
	for (size_t i = INDENT; name.n && i + name.n < line.n; i++) {
		if (line.p[i] == '=' || line.p[i] == '(' || line.p[i] == '"')
			return false;
		if ((i == INDENT || line.p[i - 1] == ' ') &&
		    memcmp(line.p + i, name.p, name.n) == 0 && line.p[i + name.n] == '(')
			return true;
	}
	return false;
}

struct wanted {
	struct slice names[2];
	bool is_static_init;
};

/* A constructor has the name of its class: b/C$D of D. */
static struct wanted wanted_of(const char *class, const char *method)
{
	const char *slash = strrchr(class, '/'), *simple = slash ? slash + 1 : class;
	const char *dollar = strrchr(simple, '$');
	struct wanted w = { .is_static_init = strcmp(method, "<clinit>") == 0 };

	if (strcmp(method, "<init>") == 0) {
		w.names[0] = slice_str(simple);
		w.names[1] = slice_str(dollar ? dollar + 1 + strspn(dollar + 1, "0123456789") : "");
	} else if (!w.is_static_init) {
		w.names[0] = slice_str(method);
	}
	return w;
}

static bool is_wanted(const struct wanted *w, struct slice line)
{
	if (!is_member(line))
		return false;
	return w->is_static_init ? slice_is(line, "    static {")
				 : is_head_of(line, w->names[0]) || is_head_of(line, w->names[1]);
}

/* From its first line, which was read, to its brace. */
static void put_method(struct slice line, struct slice *rest, struct buf *out)
{
	put_line(line, out);
	if (slice_ends(line, ";") || slice_ends(line, "}"))
		return;
	while (rest->n) {
		line = next_line(rest);
		put_line(line, out);
		if (slice_starts(line, slice_str("    }")))
			return;
	}
}

static bool show_method(struct slice text, const struct wanted *w, struct buf *out)
{
	struct buf notes = { 0 }; /* annotations that stand above */
	bool found = false;

	while (text.n) {
		struct slice line = next_line(&text);

		if (is_wanted(w, line)) {
			buf_text(out, found ? "\n" : "");
			found = true;
			buf_put(out, buf_slice(&notes));
			put_method(line, &text, out);
			buf_clear(&notes);
		} else if (is_member(line) && line.p[INDENT] == '@') {
			put_line(line, &notes);
		} else {
			buf_clear(&notes);
		}
	}
	buf_release(&notes);
	return found;
}

bool decompiled_show(struct slice text, const char *class, const char *method, struct buf *out)
{
	bool begun = false;

	if (method) {
		struct wanted w = wanted_of(class, method);

		return show_method(text, &w, out);
	}
	while (text.n) {
		struct slice line = next_line(&text);

		begun |= line.n && !is_of_procyon(line);
		if (begun && !is_of_procyon(line))
			put_line(line, out);
	}
	return true;
}
