/* SPDX-License-Identifier: Apache-2.0 */
/* verb_help.c - the table of a verb as text for a terminal, and as a man page. */
#include <stdio.h>

#include "base/version.h"
#include "cli/screen/method_name.h"
#include "cli/screen/verb.h"

enum { LABEL_MAX = 22 };

/* ---- wrapping ---- */

struct lines {
	struct buf *out;
	size_t indent, width, at; /* at: columns used in this line; 0: nothing stands there yet */
};

static void put_word(struct lines *l, struct slice word)
{
	size_t n = method_name_width(word);

	if (l->at > l->indent && l->at + 1 + n > l->width) {
		buf_u8(l->out, '\n');
		l->at = 0;
	}
	if (!l->at) {
		buf_printf(l->out, "%*s", (int)l->indent, "");
		l->at = l->indent;
	} else if (l->at > l->indent) {
		buf_u8(l->out, ' ');
		l->at++;
	}
	buf_put(l->out, word);
	l->at += n;
}

static void end_line(struct lines *l)
{
	if (l->at)
		buf_u8(l->out, '\n');
	l->at = 0;
}

static void put_words(struct lines *l, struct slice line)
{
	while (line.n) {
		size_t n = 0;

		while (n < line.n && line.p[n] != ' ')
			n++;
		if (n)
			put_word(l, (struct slice){ line.p, n });
		n += n < line.n;
		line = (struct slice){ line.p + n, line.n - n };
	}
}

static struct slice next_line(struct slice *rest)
{
	const uint8_t *end = rest->n ? memchr(rest->p, '\n', rest->n) : NULL;
	struct slice line = { rest->p, end ? (size_t)(end - rest->p) : rest->n };
	size_t n = line.n + (end != NULL);

	*rest = (struct slice){ rest->p + n, rest->n - n };
	return line;
}

/* Paragraphs; lines that begin with a blank stay as they are. */
static void put_text(struct lines *l, const char *text)
{
	struct slice rest = slice_str(text);

	while (rest.n) {
		struct slice line = next_line(&rest);

		if (line.n && line.p[0] != ' ') {
			put_words(l, line);
			continue;
		}
		end_line(l);
		buf_put(l->out, line);
		buf_u8(l->out, '\n');
	}
	end_line(l);
}

/* ---- for a terminal ---- */

static void put_label(const struct verb_option *o, struct buf *out)
{
	struct slice name = verb_option_long(o), value = verb_option_value(o);
	char letter = verb_option_letter(o);

	if (letter)
		buf_printf(out, "-%c%s", letter, name.n ? ", " : "");
	if (name.n)
		buf_printf(out, "--%.*s", SLICE_FMT(name));
	if (verb_option_may_lack(o))
		buf_printf(out, name.n ? "[=%.*s]" : "[%.*s]", SLICE_FMT(value));
	else if (value.n)
		buf_printf(out, " %.*s", SLICE_FMT(value));
}

static const struct verb_option help_option = { .name = "help", .help = "this text" };

static void put_option(const struct verb_option *o, size_t column, size_t width, struct buf *out)
{
	struct lines l = { out, column, width, 0 };
	size_t before = out->n, used;

	buf_text(out, "  ");
	put_label(o, out);
	used = out->n - before;
	if (used + 2 > column)
		buf_u8(out, '\n');
	else
		buf_printf(out, "%*s", (int)(column - used), ""), l.at = column;
	put_text(&l, o->help);
}

static size_t option_column(const struct verb *v)
{
	struct buf label = { 0 };
	size_t most = 6;

	for (size_t i = 0; i < v->n; i++) {
		buf_clear(&label);
		put_label(&v->options[i], &label);
		if (label.n > most && label.n <= LABEL_MAX)
			most = label.n;
	}
	buf_release(&label);
	return most + 4;
}

void verb_help(const struct verb *v, const char *name, unsigned width, struct buf *out)
{
	struct slice usage = slice_str(v->usage);
	struct slice examples = slice_str(v->examples ? v->examples : "");
	struct lines l = { out, 0, width, 0 };
	size_t column = option_column(v);

	for (const char *word = "usage:"; word; word = usage.n ? "      " : NULL) {
		struct slice line = next_line(&usage);

		buf_printf(out, "%s %s%s%.*s\n", word, name, line.n ? " " : "", SLICE_FMT(line));
	}
	buf_u8(out, '\n');
	put_text(&l, v->about);
	buf_u8(out, '\n');
	for (size_t i = 0; i < v->n; i++)
		put_option(&v->options[i], column, width, out);
	put_option(&help_option, column, width, out);
	if (v->more) {
		buf_u8(out, '\n');
		put_text(&l, v->more);
	}
	buf_text(out, "\nExit status:");
	l.at = 12;
	put_text(&l, v->status);
	buf_text(out, examples.n ? "\nExamples:\n" : "");
	while (examples.n) {
		struct slice line = next_line(&examples);

		buf_printf(out, "  %.*s\n", SLICE_FMT(line));
	}
}

/* ---- as a man page ---- */

static void put_roff(struct buf *out, struct slice text)
{
	if (text.n && (text.p[0] == '.' || text.p[0] == '\''))
		buf_text(out, "\\&");
	for (size_t i = 0; i < text.n; i++) {
		if (text.p[i] == '\\')
			buf_text(out, "\\e");
		else if (text.p[i] == '-')
			buf_text(out, "\\-");
		else
			buf_u8(out, text.p[i]);
	}
}

static void put_roff_text(struct buf *out, const char *text)
{
	struct slice rest = slice_str(text);

	while (rest.n) {
		struct slice line = next_line(&rest);
		bool as_is = line.n && line.p[0] == ' ';

		buf_text(out, as_is ? ".nf\n" : line.n ? "" : ".PP");
		put_roff(out, line);
		buf_text(out, as_is ? "\n.fi\n" : "\n");
	}
}

static void put_roff_option(const struct verb_option *o, struct buf *out)
{
	struct buf label = { 0 };

	put_label(o, &label);
	buf_text(out, ".TP\n.B ");
	put_roff(out, buf_slice(&label));
	buf_u8(out, '\n');
	put_roff_text(out, o->help);
	buf_release(&label);
}

static void put_roff_head(const char *name, const char *line, struct buf *out)
{
	buf_text(out, ".TH ");
	for (const char *p = name; *p; p++)
		buf_u8(out, *p == ' ' ? '-' : (unsigned)(*p >= 'a' && *p <= 'z' ? *p - 32 : *p));
	buf_text(out, " 1 \"\" \"sonde " SONDE_VERSION "\" \"Sonde\"\n.SH NAME\n");
	for (const char *p = name; *p; p++)
		buf_u8(out, *p == ' ' ? '-' : (unsigned)*p);
	buf_text(out, " \\- ");
	put_roff(out, slice_str(line));
}

void verb_roff(const struct verb *v, const char *name, const char *line, struct buf *out)
{
	struct slice usage = slice_str(v->usage);
	struct slice examples = slice_str(v->examples ? v->examples : "");

	put_roff_head(name, line, out);
	buf_text(out, "\n.SH SYNOPSIS\n.nf\n");
	do {
		buf_printf(out, "\\fB%s\\fR ", name);
		put_roff(out, next_line(&usage));
		buf_u8(out, '\n');
	} while (usage.n);
	buf_text(out, ".fi\n.SH DESCRIPTION\n");
	put_roff_text(out, v->about);
	if (v->more) {
		buf_text(out, ".PP\n");
		put_roff_text(out, v->more);
	}
	buf_text(out, ".SH OPTIONS\n");
	for (size_t i = 0; i < v->n; i++)
		put_roff_option(&v->options[i], out);
	put_roff_option(&help_option, out);
	buf_text(out, ".SH EXIT STATUS\n");
	put_roff_text(out, v->status);
	buf_text(out, examples.n ? ".SH EXAMPLES\n.nf\n" : "");
	while (examples.n) {
		put_roff(out, next_line(&examples));
		buf_u8(out, '\n');
	}
	buf_text(out, v->examples ? ".fi\n" : "");
}
