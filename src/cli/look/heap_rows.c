/* SPDX-License-Identifier: Apache-2.0 */
/* heap_rows.c - a row of the JVM's is "   1:   2345   678901  [B (java.base@17.0.15)". */
#include "cli/look/heap_rows.h"

#include <stdio.h>

#include "classfile/desc.h"
#include "cli/client/client.h"
#include "cli/screen/cli.h"
#include "cli/screen/figures.h"
#include "cli/screen/table.h"
#include "cli/screen/term.h"
#include "jvm/proc.h"

static void skip_blanks(struct slice *s)
{
	while (s->n && *s->p == ' ')
		s->p++, s->n--;
}

/* False also for more digits than fit. */
static bool take_number(struct slice *s, uint64_t *out)
{
	enum { DIGITS = 19 };
	size_t n = 0;

	skip_blanks(s);
	*out = 0;
	while (n < s->n && n <= DIGITS && s->p[n] >= '0' && s->p[n] <= '9')
		*out = *out * 10 + (uint64_t)(s->p[n++] - '0');
	s->p += n;
	s->n -= n;
	return n > 0 && n <= DIGITS;
}

/* The module stands behind the name, if it has one. */
static struct slice without_module(struct slice name)
{
	if (!name.n || name.p[name.n - 1] != ')')
		return name;
	for (size_t i = name.n - 1; i > 1; i--)
		if (name.p[i] == '(' && name.p[i - 1] == ' ')
			return (struct slice){ name.p, i - 1 };
	return name;
}

static bool read_row(struct slice line, struct heap_row *row)
{
	uint64_t rank;

	if (!take_number(&line, &rank) || !line.n || *line.p != ':')
		return false;
	line.p++, line.n--;
	if (!take_number(&line, &row->objects) || !take_number(&line, &row->bytes))
		return false;
	skip_blanks(&line);
	row->class = without_module(line);
	return row->class.n > 0;
}

int heap_rows_read(struct heap_rows *h, struct slice text)
{
	struct slice line;

	*h = (struct heap_rows){ 0 };
	while (proc_line(&text, &line)) {
		struct heap_row row;

		if (!read_row(line, &row))
			continue;
		buf_bytes(&h->rows, &row, sizeof(row));
		h->objects += row.objects;
		h->bytes += row.bytes;
	}
	h->n = h->rows.n / sizeof(struct heap_row);
	return h->rows.err;
}

void heap_rows_release(struct heap_rows *h)
{
	buf_release(&h->rows);
}

const struct heap_row *heap_row_at(const struct heap_rows *h, size_t i)
{
	return (const struct heap_row *)(const void *)h->rows.p + i;
}

/* "byte[]" of "[B", "java.lang.String[]" of "[Ljava.lang.String;". */
static void put_class(struct buf *out, struct slice name)
{
	unsigned dimensions = 0;

	while (name.n > 1 && *name.p == '[')
		name.p++, name.n--, dimensions++;
	if (dimensions && *name.p == 'L' && name.p[name.n - 1] == ';')
		client_show_line(out, (struct slice){ name.p + 1, name.n - 2 });
	else if (dimensions && name.n == 1 && desc_primitive(*name.p))
		buf_text(out, desc_primitive(*name.p));
	else
		client_show_line(out, name);
	while (dimensions--)
		buf_text(out, "[]");
}

static bool is_meant(const struct heap_row *row, const char *part)
{
	struct slice want = slice_str(part ? part : "");

	for (size_t i = 0; i + want.n <= row->class.n; i++)
		if (memcmp(row->class.p + i, want.p, want.n) == 0)
			return true;
	return false;
}

static const struct table_column columns[] = {
	{ .head = "bytes" },
	{ .head = "share", .rank = 1 },
	{ .head = "objects" },
	{ .head = "each", .rank = 2 },
};

static void add_cells(const struct heap_rows *h, struct table *t, const struct heap_row *row)
{
	char text[FIGURE_MAX];

	table_cell(t, figure_bytes(text, row->bytes));
	table_cell(t, figure_share(text, h->bytes ? (double)row->bytes / (double)h->bytes : 0));
	table_cell(t, figure_count(text, row->objects));
	table_cell(t, figure_bytes(text, row->objects ? row->bytes / row->objects : 0));
}

void heap_rows_show(const struct heap_rows *h, const char *part, size_t top, struct buf *out)
{
	char bytes[FIGURE_MAX], count[FIGURE_MAX];
	size_t shown = 0, meant = 0;
	struct table t;

	table_init(&t, columns, COUNT(columns));
	for (size_t i = 0; i < h->n; i++) {
		const struct heap_row *row = heap_row_at(h, i);

		if (!is_meant(row, part))
			continue;
		meant++;
		if (!top || shown < top) {
			shown++;
			add_cells(h, &t, row);
		}
	}
	table_layout(&t, term_columns(), 30);
	if (shown) {
		table_head(&t, out);
		buf_text(out, "class\n");
	}
	for (size_t i = 0, k = 0; k < shown; i++) {
		const struct heap_row *row = heap_row_at(h, i);

		if (!is_meant(row, part))
			continue;
		table_row(&t, k++, out);
		put_class(out, row->class);
		buf_u8(out, '\n');
	}
	if (shown < meant)
		buf_printf(out, "and %zu more class%s: --top 0 shows all\n", meant - shown,
			   meant - shown == 1 ? "" : "es");
	buf_printf(out, "\n%s in %s object%s of %zu class%s\n", figure_bytes(bytes, h->bytes),
		   figure_count(count, h->objects), h->objects == 1 ? "" : "s", h->n,
		   h->n == 1 ? "" : "es");
	table_release(&t);
}

void heap_rows_json(const struct heap_rows *h, const char *part, size_t top, struct buf *out)
{
	struct json j = json_to(out);
	size_t shown = 0;

	json_open(&j, '{');
	json_put_u64(&j, "bytes", h->bytes);
	json_put_u64(&j, "objects", h->objects);
	json_put_u64(&j, "all_classes", h->n);
	json_put_open(&j, "classes", '[');
	for (size_t i = 0; i < h->n && (!top || shown < top); i++) {
		const struct heap_row *row = heap_row_at(h, i);

		if (!is_meant(row, part))
			continue;
		shown++;
		json_open(&j, '{');
		json_put_str(&j, "class", row->class);
		json_put_u64(&j, "objects", row->objects);
		json_put_u64(&j, "bytes", row->bytes);
		json_close(&j, '}');
	}
	json_close(&j, ']');
	json_close(&j, '}');
	buf_u8(out, '\n');
}
