/* SPDX-License-Identifier: Apache-2.0 */
/* hot_show.h - hot spots as a table for people, and as JSON. */
#ifndef CLI_HOT_HOT_SHOW_H
#define CLI_HOT_HOT_SHOW_H

#include "cli/hot/ranking.h"
#include "cli/hot/sampled.h"

struct hot_view {
	const struct sampled *s;
	const struct ranking *r;
	double above; /* share of self from which on a function is shown; 0: the top ones */
	size_t top;
	bool by_total, lines; /* with callers and callees */
	unsigned width;	      /* 0: without limit */
	bool utf8;
};

/* How many functions are shown. */
size_t hot_show(const struct hot_view *v, struct buf *out);
void hot_json(const struct hot_view *v, struct buf *out);

/* "10.0 s, 9,812 samples of 14 threads (perf events), 0.1 % broken" */
bool hot_has_about(const struct sampled *s); /* of a file of stacks nothing is known */
void hot_put_about(const struct sampled *s, struct buf *out);

/* What ran most of a function's own samples: "C2". */
const char *hot_main_kind(const struct ranked *f);

/* A name for people: com.shop.Cart.total, memcpy; at most width columns (0: all of it). */
void hot_put_name(struct buf *out, uint32_t kind, struct slice name, unsigned width);

#endif
