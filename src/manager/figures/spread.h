/* SPDX-License-Identifier: Apache-2.0 */
/* spread.h - how long calls took, as counts in buckets that all agents share: eight to each power of
 * two of nanoseconds.
 *
 * Agents send histograms whose bounds depend on the clock of their machine (u64 least time, u32
 * count, of each bucket that is not empty).  What was added between two of them is laid over the
 * shared buckets, each count evenly over its bucket, so that spreads of many agents and times can
 * be added up and give percentiles.  Pure. */
#ifndef MANAGER_FIGURES_SPREAD_H
#define MANAGER_FIGURES_SPREAD_H

#include "base/buf.h"

enum { SPREAD_CELLS = 48 * 8 }; /* up to three days */

struct call_spread {
	uint64_t n;
	uint64_t counts[SPREAD_CELLS];
};

/* Adds what `now` has more than `before`, both as agents send them. */
void spread_add_raw(struct call_spread *s, struct slice before, struct slice now);

void spread_put(const struct call_spread *s, struct buf *out);	 /* a few bytes */
int spread_add(struct call_spread *s, struct slice packed);	 /* 0 or E_DAMAGED */
uint64_t spread_quantile(const struct call_spread *s, double q); /* ns; 0: nothing in it */
uint64_t spread_longest(const struct call_spread *s);		 /* end of the last bucket in use */
uint64_t spread_low(unsigned cell);				 /* ns */

#endif
