/* SPDX-License-Identifier: Apache-2.0 */
/* tick.c - the counter's frequency.
 *
 * Where the processor does not tell it, counter and CLOCK_MONOTONIC_RAW are read together
 * at both ends of a sleep.  A reading is taken between two counter reads and the closest of
 * several pairs is kept, so that a preemption between them does no harm. */
#include "base/tick.h"

#include <time.h>

struct moment {
	uint64_t ticks, ns;
};

static struct moment moment_now(void)
{
	struct moment best = { 0 };
	uint64_t least = UINT64_MAX;

	for (int i = 0; i < 16; i++) {
		struct timespec ts;
		uint64_t before = tick_now(), after;

		clock_gettime(CLOCK_MONOTONIC_RAW, &ts);
		after = tick_now();
		if (after - before >= least)
			continue;
		least = after - before;
		best.ticks = before + least / 2;
		best.ns = (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
	}
	return best;
}

struct tick_scale tick_scale_of(uint64_t hz)
{
	struct tick_scale s = { hz ? hz : 1, 0 };

	s.mult = (uint64_t)(((unsigned __int128)1000000000u << 32) / s.hz);
	return s;
}

struct tick_scale tick_scale_measure(unsigned ms)
{
	struct timespec pause = { ms / 1000, (long)(ms % 1000) * 1000000 };
	uint64_t hz = tick_arch_hz();
	struct moment from, to;

	if (hz)
		return tick_scale_of(hz);
	from = moment_now();
	nanosleep(&pause, NULL);
	to = moment_now();
	if (to.ns == from.ns)
		return tick_scale_of(1000000000u);
	hz = (uint64_t)((unsigned __int128)(to.ticks - from.ticks) * 1000000000u /
			(to.ns - from.ns));
	return tick_scale_of(hz);
}
