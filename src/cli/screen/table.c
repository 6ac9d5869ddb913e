/* SPDX-License-Identifier: Apache-2.0 */
/* table.c - columns for people.
 *
 * Every column is as wide as its widest cell, with two spaces between columns.  When that is more
 * than the terminal has, columns are left out until it fits. */
#include "cli/screen/table.h"

#include <limits.h>

#include "cli/screen/method_name.h"

enum { GAP = 2 };

void table_init(struct table *t, const struct table_column *columns, unsigned n)
{
	*t = (struct table){ .columns = columns,
			     .n = n < TABLE_COLUMNS_MAX ? n : TABLE_COLUMNS_MAX };
}

void table_release(struct table *t)
{
	buf_release(&t->text);
	buf_release(&t->cells);
}

void table_cell(struct table *t, const char *text)
{
	size_t at = t->text.n;

	buf_text(&t->text, *text ? text : "-");
	buf_u8(&t->text, '\0');
	buf_bytes(&t->cells, &at, sizeof(at));
	t->n_cells++;
}

static const char *cell(const struct table *t, size_t row, unsigned column)
{
	size_t at;

	memcpy(&at, t->cells.p + (row * t->n + column) * sizeof(at), sizeof(at));
	return (const char *)t->text.p + at;
}

static unsigned width_of(const char *text)
{
	return (unsigned)method_name_width(slice_str(text));
}

/* Nothing to see there but 0 and -? */
static bool is_empty(const char *text)
{
	return strspn(text, "0-./ ") == strlen(text);
}

static unsigned total(const struct table *t)
{
	unsigned sum = 0;

	for (unsigned i = 0; i < t->n; i++)
		sum += t->width[i] ? t->width[i] + GAP : 0;
	return sum;
}

void table_layout(struct table *t, unsigned width, unsigned rest)
{
	size_t rows = t->text.err || t->cells.err ? 0 : t->n_cells / t->n;
	bool empty[TABLE_COLUMNS_MAX];

	for (unsigned i = 0; i < t->n; i++) {
		t->width[i] = width_of(t->columns[i].head);
		empty[i] = rows > 0;
		for (size_t r = 0; r < rows; r++) {
			const char *text = cell(t, r, i);
			unsigned w = width_of(text);

			t->width[i] = w > t->width[i] ? w : t->width[i];
			empty[i] &= is_empty(text);
		}
		if (empty[i] && t->columns[i].optional)
			t->width[i] = 0;
	}
	while (width && total(t) + rest > width) {
		unsigned worst = t->n, most = 0;

		for (unsigned i = 0; i < t->n; i++) {
			unsigned rank = t->columns[i].rank;

			rank += rank && empty[i] ? 1000 : 0;
			if (t->width[i] && rank > most) {
				most = rank;
				worst = i;
			}
		}
		if (worst == t->n)
			break;
		t->width[worst] = 0;
	}
	t->rest = width ? (total(t) < width ? width - total(t) : 1) : UINT_MAX;
}

unsigned table_rest(const struct table *t)
{
	return t->rest;
}

static void put(const struct table *t, unsigned column, const char *text, struct buf *out)
{
	unsigned w = width_of(text), pad = t->width[column] > w ? t->width[column] - w : 0;
	bool left = t->columns[column].left;

	buf_printf(out, "%*s%s%*s", left ? 0 : (int)pad, "", text, (left ? (int)pad : 0) + GAP, "");
}

void table_head(const struct table *t, struct buf *out)
{
	for (unsigned i = 0; i < t->n; i++)
		if (t->width[i])
			put(t, i, t->columns[i].head, out);
}

void table_row(const struct table *t, size_t row, struct buf *out)
{
	if (t->text.err || t->cells.err) {
		out->err = out->err ? out->err : t->text.err ? t->text.err : t->cells.err;
		return;
	}
	for (unsigned i = 0; i < t->n; i++)
		if (t->width[i])
			put(t, i, cell(t, row, i), out);
}
