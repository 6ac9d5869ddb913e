/* SPDX-License-Identifier: Apache-2.0 */
/* top_list.h - what `sonde top` is asked to show, and the rows that come of it. */
#ifndef CLI_TOP_TOP_LIST_H
#define CLI_TOP_TOP_LIST_H

#include "cli/hot/ranking.h"
#include "cli/hot/sampled.h"

enum top_page { TOP_FUNCTIONS, TOP_THREADS, TOP_FUNCTION, TOP_HELP };

enum { TOP_FILTER_MAX = 60, TOP_TRAIL_MAX = 32 };

struct top_look {
	enum top_page page, before; /* before: the page from which help was asked for */
	bool by_total, paused, typing;
	char filter[TOP_FILTER_MAX + 1]; /* of names; upper and lower case are the same */
	size_t cursor, first; /* rows: the one that is chosen, and the uppermost one that is seen */
	struct slice chosen;  /* the name of the function that the cursor was put on */
	uint32_t thread;      /* functions of this one alone; 0: of all */
	struct slice trail
		[TOP_TRAIL_MAX]; /* of TOP_FUNCTION, names: the last is the one that is shown */
	unsigned depth;
};

struct top_row {
	uint32_t id;   /* of a function: its place in the ranking; of a thread: its number */
	uint32_t leaf; /* of a thread: the function that it was in most */
	uint64_t value;
	bool is_callee; /* TOP_FUNCTION: it is called; else it calls */
};

struct top_list {
	struct top_row *v;
	size_t n;
	size_t function; /* TOP_FUNCTION: its place in the ranking; r->n: no samples are in it now */
};

/* Makes the rows anew; the cursor stays on its function or thread, unless that is the first row.  False:
 * out of memory, and there are none. */
bool top_list_build(struct top_list *l, struct top_look *look, const struct sampled *s,
		    const struct ranking *r);
void top_list_release(struct top_list *l);

#endif
