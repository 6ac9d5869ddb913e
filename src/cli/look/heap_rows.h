/* SPDX-License-Identifier: Apache-2.0 */
/* heap_rows.h - the histogram of classes that a JVM prints, read and shown. */
#ifndef CLI_LOOK_HEAP_ROWS_H
#define CLI_LOOK_HEAP_ROWS_H

#include "base/buf.h"

struct heap_row {
	uint64_t objects, bytes;
	struct slice class; /* as the JVM has it: "[I", "com.shop.Cart"; a view of the text */
};

struct heap_rows {
	struct buf rows; /* struct heap_row, the largest first */
	size_t n;
	uint64_t objects, bytes; /* of all */
};

/* Reads what the JVM answers to "inspectheap"; lines that are no rows are passed over.  E_NO_MEMORY. */
int heap_rows_read(struct heap_rows *h, struct slice text);
void heap_rows_release(struct heap_rows *h);
const struct heap_row *heap_row_at(const struct heap_rows *h, size_t i);

/* At most `top` of those whose class contains `part`; 0: all; NULL: all. */
void heap_rows_show(const struct heap_rows *h, const char *part, size_t top, struct buf *out);
void heap_rows_json(const struct heap_rows *h, const char *part, size_t top, struct buf *out);

#endif
