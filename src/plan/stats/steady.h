/* SPDX-License-Identifier: Apache-2.0 */
/* steady.h - a ratio of two sums over windows that a few disturbed windows do not move.
 *
 * Machines interrupt programs: a call of 50 ns that is interrupted once takes 50 us.  So windows
 * whose ratio is far out are left out of the value, if they are few: a tenth at each end.  Far out
 * is what is farther from the middle half of the windows than three times its width (Tukey), and
 * twice as long or half as long as that.  A shared processor is slower for a while now and then,
 * by a third for some kinds of work: that belongs to what calls take, however seldom it is.  Windows
 * that are far out may also be the program's own rare slow calls: then the plain ratio is right,
 * and it is reported, too.
 *
 * Few windows cannot tell which of them is far out; but the calls of one window can.  So whoever
 * adds a window may leave a single call out that is out of all proportion, and say how much it is.
 * If such calls are in more than a quarter of the windows, they are the program's own, and count;
 * but in no window for more than in most.
 *
 * Windows that lie close together are not independent: the program does the same just then, and the
 * machine is as fast.  So whoever adds windows says to which stretch of time they belong, and the
 * margin is from how stretches differ, with Student's t for their number; windows that were left
 * out are taken as the last ones that were not.
 *
 * A fixed number of windows is kept; when there are more, each two neighbours become one.  A plain
 * value; all zero is an empty one. */
#ifndef PLAN_STEADY_H
#define PLAN_STEADY_H

#include <stdbool.h>
#include <stdint.h>

#include "plan/stats/stats.h"

enum { STEADY_MAX = 64 };

struct steady {
	uint64_t windows;
	uint64_t longs;	  /* of these had a call out of all proportion */
	uint32_t n;	  /* kept */
	uint32_t each;	  /* windows in one that is kept, from 1 on */
	uint32_t in_last; /* ... and in the last one */
	double up, down;  /* of all */
	float ups[STEADY_MAX], downs[STEADY_MAX];
	float mores[STEADY_MAX]; /* what ups have more with such calls */
	uint32_t stretches[STEADY_MAX];
};

/* One window; one with nothing below counts as none.  Stretches are numbers that do not fall. */
void steady_add(struct steady *s, double up, double down, uint32_t stretch);

/* The window that was added last has so much more with a call that is out of all proportion. */
void steady_longest(struct steady *s, double more);

/* margin < 0: not known, since there are not two stretches. */
struct estimated steady_ratio(const struct steady *s);
/* The same without all calls that are out of all proportion, also where there are many. */
struct estimated steady_without(const struct steady *s);
bool steady_has_own(const struct steady *s); /* are there so many that they are the program's? */
double steady_plain(const struct steady *s); /* nothing left out; 0: there is nothing */

#endif
