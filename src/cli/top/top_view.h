/* SPDX-License-Identifier: Apache-2.0 */
/* top_view.h - a screen of `sonde top`, or a page of it. */
#ifndef CLI_TOP_TOP_VIEW_H
#define CLI_TOP_TOP_VIEW_H

#include "cli/top/lately.h"
#include "cli/top/top_list.h"

struct top_view {
	const struct sampled *s;
	const struct lately *lately;
	const struct ranking *r;
	const struct top_list *l;
	struct top_look *look; /* its first row follows the cursor */
	size_t most;	       /* rows of a page */
	bool is_jvm;
};

/* columns, rows: of the terminal; rows 0: a page without keys. */
void top_view_put(const struct top_view *v, struct buf *out, unsigned columns, unsigned rows);

/* Of a screen with so many rows, those that are for the list. */
size_t top_view_rows(unsigned rows);

#endif
