/* SPDX-License-Identifier: Apache-2.0 */
/* tally.h - a ratio of two sums over windows, with its interval, kept while windows come: as
 * stats_ratio, but nothing is stored of single windows.
 *
 * A plain value; all zero is an empty one. */
#ifndef PLAN_TALLY_H
#define PLAN_TALLY_H

#include "plan/stats/stats.h"

struct tally {
	uint64_t n; /* windows */
	double up, down;
	double up_up, up_down, down_down; /* sums of products */
};

/* One window; one with nothing below counts as none. */
void tally_add(struct tally *t, double up, double down);

/* up / down; margin < 0: not known. */
struct estimated tally_ratio(const struct tally *t);

#endif
