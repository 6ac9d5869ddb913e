/* SPDX-License-Identifier: Apache-2.0 */
/* test_cli_table.c - columns, and which of them go when there is too little room. */
#include "cli/screen/table.h"

#include <limits.h>

#include "test.h"

static const struct table_column columns[] = {
	{ "calls", 0, false, false }, { "max", 1, false, false },  { "stalls", 2, false, false },
	{ "name", 3, true, false },   { "bytes", 4, false, true },
};

static void fill(struct table *t)
{
	table_init(t, columns, COUNT(columns));
	for (int row = 0; row < 2; row++) {
		table_cell(t, row ? "1,234,567" : "1");
		table_cell(t, row ? "" : "3 ms");
		table_cell(t, "0");
		table_cell(t, row ? "b" : "\303\244\303\244\303\244\303\244\303\244");
		table_cell(t, "0");
	}
}

static const char *row(const struct table *t, int i, struct buf *out)
{
	buf_clear(out);
	if (i < 0)
		table_head(t, out);
	else
		table_row(t, (size_t)i, out);
	buf_u8(out, '\0');
	return (const char *)out->p;
}

TEST(columns_are_as_wide_as_their_widest_cell)
{
	struct buf out = { 0 };
	struct table t;

	fill(&t);
	table_layout(&t, 0, 10);
	CHECK_STR(row(&t, -1, &out), "    calls   max  stalls  name   ", NULL);
	CHECK_STR(row(&t, 0, &out),
		  "        1  3 ms       0  \303\244\303\244\303\244\303\244\303\244  ", NULL);
	CHECK_STR(row(&t, 1, &out), "1,234,567     -       0  b      ", "no text is a dash");
	CHECK(table_rest(&t) == UINT_MAX);
	table_release(&t);
	buf_release(&out);
}

TEST(columns_without_figures_go_first_then_by_rank)
{
	struct buf out = { 0 };
	struct table t;

	fill(&t);
	table_layout(&t, 40, 10); /* 32 and 10 */
	CHECK_STR(row(&t, -1, &out), "    calls   max  name   ", NULL);
	CHECK_INT(table_rest(&t), 16, NULL);
	table_layout(&t, 30, 10);
	CHECK_STR(row(&t, -1, &out), "    calls   max  ", NULL);
	table_layout(&t, 5, 10);
	CHECK_STR(row(&t, -1, &out), "    calls  ", "rank 0 stays");
	CHECK_INT(table_rest(&t), 1, NULL);
	table_release(&t);
	buf_release(&out);
}

TEST(a_table_without_rows_has_its_head)
{
	struct buf out = { 0 };
	struct table t;

	table_init(&t, columns, COUNT(columns));
	table_layout(&t, 0, 10);
	CHECK_STR(row(&t, -1, &out), "calls  max  stalls  name  bytes  ", NULL);
	table_release(&t);
	buf_release(&out);
}
