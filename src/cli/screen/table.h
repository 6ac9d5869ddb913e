/* SPDX-License-Identifier: Apache-2.0 */
/* table.h - columns for people: as wide as they must be, fewer of them when there is less room.
 *
 *	table_init(&t, columns, COUNT(columns));
 *	for each row: table_cell(&t, ...) for each column, from left to right
 *	table_layout(&t, width);  table_head(&t, out);  table_row(&t, i, out) ...;  table_release(&t);
 *
 * The last column is not part of the table: whoever prints a row writes behind it what is of any
 * length (table_rest says how much room there is).  Errors are the buf's (sticky). */
#ifndef CLI_SCREEN_TABLE_H
#define CLI_SCREEN_TABLE_H

#include "base/buf.h"

enum { TABLE_COLUMNS_MAX = 32 };

struct table_column {
	const char *head;
	/* When there is too little room, the column with the highest number goes first; 0 stays.
	 * Columns without any figure but 0 go before all others. */
	unsigned rank;
	bool left;     /* flush left; figures are flush right */
	bool optional; /* not shown without any figure but 0, however much room there is */
};

struct table {
	const struct table_column *columns;
	unsigned n;
	struct buf text;  /* of all cells, each with a NUL behind it */
	struct buf cells; /* size_t: where each begins in text */
	size_t n_cells;
	/* of the layout */
	unsigned width[TABLE_COLUMNS_MAX]; /* 0: not shown */
	unsigned rest;			   /* for what stands behind the columns */
};

void table_init(struct table *t, const struct table_column *columns, unsigned n);
void table_release(struct table *t);

/* The next cell; "-" when text is empty. */
void table_cell(struct table *t, const char *text);

/* width: of the terminal, 0: without limit.  At least `rest` characters are kept for the end of a
 * row. */
void table_layout(struct table *t, unsigned width, unsigned rest);
unsigned table_rest(const struct table *t); /* UINT_MAX: without limit */

void table_head(const struct table *t, struct buf *out); /* without line end, as is a row */
void table_row(const struct table *t, size_t row, struct buf *out);

#endif
