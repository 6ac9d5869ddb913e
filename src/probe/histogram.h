/* SPDX-License-Identifier: Apache-2.0 */
/* histogram.h - log-linear buckets: four to each power of two, so a bucket is at most a quarter
 * wide.  Times are in ticks; histograms add by adding their counts. */
#ifndef PROBE_HISTOGRAM_H
#define PROBE_HISTOGRAM_H

#include "probe/probe.h"

/* Bucket of a time, 0 to PROBE_BUCKETS - 1; what is beyond the last is in the last. */
static inline unsigned histogram_bucket(uint64_t ticks)
{
	unsigned top, bucket;

	if (ticks < 4)
		return (unsigned)ticks;
	top = 63u - (unsigned)__builtin_clzll(ticks);
	bucket = 4 * (top - 1) + (unsigned)((ticks >> (top - 2)) & 3);
	return bucket < PROBE_BUCKETS ? bucket : PROBE_BUCKETS - 1;
}

uint64_t histogram_low(unsigned bucket); /* smallest time of the bucket */

/* The time below which the share q (0 to 1) of the counts lies, interpolated within its bucket
 * and kept between min and max; 0 when the histogram is empty. */
uint64_t histogram_quantile(const uint32_t *counts, double q, uint64_t min, uint64_t max);

#endif
