/* SPDX-License-Identifier: Apache-2.0 */
/* stats.h - a figure with the interval that holds it with 95 %, from windows of time.
 *
 * Calls come in bursts and machines are busy, so calls are not independent; windows of a second
 * nearly are.  What is asked for is always a ratio of two sums (time a call, share of a time), and
 * its spread is taken from how the windows differ. */
#ifndef PLAN_STATS_H
#define PLAN_STATS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct estimated {
	double value, margin; /* the truth is within value +- margin; margin < 0: not known */
};

/* sum(up) / sum(down) over n windows; value 0 and margin -1 when the sum below is 0.  A single
 * window with something in it has no margin. */
struct estimated stats_ratio(const double *up, const double *down, size_t n);

double stats_student(size_t freedom); /* Student's t for 95 %, by degrees of freedom from 1 */

/* a is clearly above b: the intervals do not meet. */
bool stats_is_above(struct estimated a, struct estimated b);

/* Times of calls in buckets: `low` is the least time of each, ascending. */
struct spread {
	double median;		     /* ns */
	double slow_calls;	     /* share of the calls that are slow */
	double slow_time;	     /* ... and of the time that they take */
	double slow_mean, fast_mean; /* ns */
};
/* Slow are calls from `limit` ns on. */
struct spread stats_spread(const uint64_t *low, const uint32_t *count, size_t n, double limit);
double stats_quantile(const uint64_t *low, const uint32_t *count, size_t n, double q); /* ns */

#endif
