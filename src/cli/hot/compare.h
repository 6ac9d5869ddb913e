/* SPDX-License-Identifier: Apache-2.0 */
/* compare.h - which functions have more, and which less, of the time than in another profile.
 *
 * Shares are compared, not values: the two may have been taken for different times. */
#ifndef CLI_HOT_COMPARE_H
#define CLI_HOT_COMPARE_H

#include "cli/hot/hot_show.h"

struct compared {
	struct slice name;
	uint32_t kind;
	double now, before; /* shares of self */
	double total_now, total_before;
};

/* By how much they differ in self, most first; *n of them.  NULL: out of memory.  To be given back by
 * mem_free; names are those of the rankings. */
struct compared *compare_rankings(const struct ranking *now, const struct ranking *before,
				  size_t *n);

/* The first rows for people (as many as v->top), or all as JSON. */
void compare_show(const struct hot_view *v, const struct compared *c, size_t n, struct buf *out);
void compare_json(const struct compared *c, size_t n, struct buf *out);

#endif
