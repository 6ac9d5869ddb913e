/* SPDX-License-Identifier: Apache-2.0 */
/* error.c - collects errors and prints each with its source line and a caret.
 *
 * Of a long line only a window around the column is kept.  Tabs and control characters
 * become blanks there, bytes that are not UTF-8 become '?', so that one character is one
 * column and the caret stands right. */
#include "rule/error.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/utf8.h"
#include "rule/text.h"

enum { WINDOW = 96, WINDOW_BEFORE = 48 };

static struct slice line_of(struct slice text, uint32_t line)
{
	const uint8_t *p = text.p, *end = slice_end(text), *stop;

	for (uint32_t i = 1; i < line && p < end; i++) {
		const uint8_t *nl = memchr(p, '\n', (size_t)(end - p));

		p = nl ? nl + 1 : end;
	}
	stop = p < end ? memchr(p, '\n', (size_t)(end - p)) : NULL;
	if (!stop)
		stop = end;
	if (stop > p && stop[-1] == '\r')
		stop--;
	return (struct slice){ p, (size_t)(stop - p) };
}

/* Copies the window; the caret is counted in characters. */
static void excerpt(struct rule_error *e, struct slice line, uint32_t column)
{
	const uint8_t *p = line.p, *end = slice_end(line);
	uint32_t from = column > WINDOW_BEFORE && line.n > WINDOW ? column - WINDOW_BEFORE : 1;
	size_t at = 0;

	for (uint32_t c = 1; p < end && at + 4 < sizeof(e->source); c++) {
		size_t n = utf8_size(p, end);
		size_t step = n ? n : 1;

		if (c >= from) {
			if (n && *p >= 0x20 && *p != 0x7f)
				memcpy(e->source + at, p, n);
			else
				e->source[at] = n ? ' ' : '?';
			at += step;
		}
		p += step;
	}
	e->source[at] = '\0';
	e->caret = (int)(column - from);
}

int rule_error_add(struct rule_errors *errors, const struct rule_source *source, struct rule_pos at,
		   const char *hint, const char *fmt, ...)
{
	struct rule_error *e;
	size_t n = strlen(source->origin);
	va_list ap;

	if (errors->n == RULE_ERRORS_MAX) {
		errors->more++;
		return E_SYNTAX;
	}
	e = &errors->list[errors->n++];
	e->line = (int)at.line;
	e->column = (int)at.column;
	snprintf(e->origin, sizeof(e->origin), "%s",
		 source->origin + (n < sizeof(e->origin) ? 0 : n - sizeof(e->origin) + 1));
	snprintf(e->hint, sizeof(e->hint), "%s", hint ? hint : "");
	va_start(ap, fmt);
	vsnprintf(e->text, sizeof(e->text), fmt, ap);
	va_end(ap);
	excerpt(e, line_of(source->text, at.line), at.column);
	return E_SYNTAX;
}

void rule_error_print(const struct rule_error *e, struct buf *out)
{
	buf_printf(out, "%s:%d:%d: %s", e->origin, e->line, e->column, e->text);
	if (e->hint[0])
		buf_printf(out, "%s %s", strncmp(e->hint, "did you", 7) == 0 ? "," : ";", e->hint);
	buf_printf(out, "\n  %s\n  %*s^\n", e->source, e->caret, "");
}

void rule_errors_print(const struct rule_errors *errors, struct buf *out)
{
	for (size_t i = 0; i < errors->n; i++)
		rule_error_print(&errors->list[i], out);
	if (errors->more)
		buf_printf(out, "... and %zu more\n", errors->more);
}
