/* SPDX-License-Identifier: Apache-2.0 */
/* clock.h - the kernel's clocks, each as one number.  For what a hook measures see tick.h. */
#ifndef BASE_CLOCK_H
#define BASE_CLOCK_H

#include <stdint.h>
#include <time.h>

/* 0: there is no such clock, as that of a thread that has gone. */
static inline uint64_t clock_ns(clockid_t clock)
{
	struct timespec t = { 0, 0 };

	if (clock_gettime(clock, &t) != 0)
		return 0;
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* Never goes back, and nobody sets it. */
static inline uint64_t clock_steady_ns(void)
{
	return clock_ns(CLOCK_MONOTONIC);
}

static inline uint64_t clock_steady_ms(void)
{
	return clock_steady_ns() / 1000000;
}

/* Since 1970. */
static inline uint64_t clock_day_ns(void)
{
	return clock_ns(CLOCK_REALTIME);
}

static inline uint64_t clock_day_ms(void)
{
	return clock_day_ns() / 1000000;
}

#endif
