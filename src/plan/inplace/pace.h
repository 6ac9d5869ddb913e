/* SPDX-License-Identifier: Apache-2.0 */
/* pace.h - how fast a program is with hooks and without, as a few of its methods that are counted
 * show.
 *
 * Marks are methods that are called moderately often: often enough to mean something within a
 * second, and so rarely that counting them costs nothing.  How often they are called in a window of
 * a second or so is the program's pace.  Plain values; no JVM, no clock. */
#ifndef PLAN_PACE_H
#define PLAN_PACE_H

#include "plan/stats/stats.h"

enum { PACE_MARKS = 8, PACE_WINDOWS = 512 };

struct pace_method {
	uint32_t id;
	double rate; /* calls a second */
	double time; /* in its calls, or in those around them; in any unit */
};

/* The ids of the best marks; none: no method is called moderately often.  Where there are such,
 * they are called where the program spends much of its time: what comes by a clock of its own says
 * nothing about its pace. */
size_t pace_choose(const struct pace_method *methods, size_t n, uint32_t ids[PACE_MARKS]);

struct pace {
	size_t n;
	double calls[PACE_WINDOWS], ns[PACE_WINDOWS];
	double compilers[PACE_WINDOWS]; /* ns that these have run meanwhile */
};

/* One window; passed over when it is full. */
void pace_add(struct pace *p, double calls, double ns, double compilers);

/* A program whose byte code has changed is slow until it is compiled again.  None of the last
 * windows is faster than all before, there are enough, and compilers did little in them: a program
 * whose windows differ anyway seems to be steady while it still becomes faster. */
bool pace_is_steady(const struct pace *p);

/* The pace is known to a hundredth. */
bool pace_is_sure(const struct pace *p);

/* The pace with hooks as a share of that without; margin < 0: not known. */
struct estimated pace_speed(const struct pace *hooked, const struct pace *bare);

#endif
