/* SPDX-License-Identifier: Apache-2.0 */
/* histogram.c - from buckets back to times. */
#include "probe/histogram.h"

#define QUARTER(e, m) [(4 + m) << (e - 2)...((5 + m) << (e - 2)) - 1] = 4 * e + m
#define OCTAVE(e) QUARTER(e, 0), QUARTER(e, 1), QUARTER(e, 2), QUARTER(e, 3)

/* 0 and 1 are in bucket 0; 2 and 3 have no quarters. */
const uint8_t histogram_short[HISTOGRAM_SHORT] = {
	[2] = 4,   [3] = 6,   OCTAVE(2), OCTAVE(3), OCTAVE(4),
	OCTAVE(5), OCTAVE(6), OCTAVE(7), OCTAVE(8), OCTAVE(9),
};

uint64_t histogram_low(unsigned bucket)
{
	unsigned exponent = bucket / 4;
	uint64_t quarters = (uint64_t)(4 + bucket % 4) << exponent;

	return bucket == 0 ? 0 : (quarters + 3) / 4; /* there are no times between 2 and 3 */
}

static uint64_t between(uint64_t value, uint64_t min, uint64_t max)
{
	if (value < min)
		value = min;
	return value > max ? max : value;
}

uint64_t histogram_quantile(const uint32_t *counts, double q, uint64_t min, uint64_t max)
{
	double total = 0, want, before = 0;
	unsigned last = 0;

	for (unsigned i = 0; i < PROBE_BUCKETS; i++) {
		total += counts[i];
		if (counts[i])
			last = i;
	}
	if (total == 0)
		return 0;
	want = q * total;
	for (unsigned i = 0; i <= last; i++) {
		uint64_t low = histogram_low(i);
		uint64_t high = i + 1 < PROBE_BUCKETS ? histogram_low(i + 1) : max;

		if (counts[i] == 0 || before + counts[i] < want) {
			before += counts[i];
			continue;
		}
		/* The first and the last bucket in use end at min and max. */
		low = between(low, min, max);
		high = between(high, min, max);
		return low + (uint64_t)((want - before) / counts[i] * (double)(high - low));
	}
	return max;
}

double histogram_squares(unsigned bucket, double count)
{
	double low = (double)histogram_low(bucket), high = (double)histogram_low(bucket + 1);

	return count * (low * low + low * high + high * high) / 3;
}
