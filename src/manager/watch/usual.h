/* SPDX-License-Identifier: Apache-2.0 */
/* usual.h - what is usual for a figure, from what it was; and when it is not so any more.
 *
 * A figure is judged once in each window.  It is broken after USUAL_BAD windows in a row above its
 * limit, and good again after USUAL_GOOD in a row well below it: a figure that jumps about the limit
 * is told of once.  Pure. */
#ifndef MANAGER_WATCH_USUAL_H
#define MANAGER_WATCH_USUAL_H

#include <stdbool.h>
#include <stddef.h>

enum { USUAL_BAD = 2, USUAL_GOOD = 3, USUAL_LEAST = 10 };

enum usual_kind { USUAL_TIME, USUAL_ERRORS, USUAL_STALLS, USUAL_KINDS };

struct usual {
	double middle, limit;
	size_t n; /* of values it was made of; 0: not known */
};

/* Sorts v.  `factor`: how many times the usual is too much (> 1).  .n 0: there are too few. */
struct usual usual_of(enum usual_kind kind, double *v, size_t n, double factor);

enum usual_change { USUAL_SAME, USUAL_BREAKS, USUAL_GOOD_AGAIN };
struct judge {
	unsigned bad, good;
	bool broken;
};
enum usual_change usual_judge(struct judge *j, const struct usual *u, double v);

#endif
