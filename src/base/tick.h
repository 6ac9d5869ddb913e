/* SPDX-License-Identifier: Apache-2.0 */
/* tick.h - the cheapest clock of the machine, and how its ticks become nanoseconds.
 *
 * tick_now() is one unserialised counter read.  Ticks are kept as they are while measuring
 * and converted afterwards.  A tick_scale is a plain value; make one per process. */
#ifndef BASE_TICK_H
#define BASE_TICK_H

#include "tick_arch.h"

static inline uint64_t tick_now(void)
{
	return tick_arch_now();
}

/* Lets what is under way finish, so that a tick_now() after it does not come too early: processors
 * read the counter while hundreds of instructions before it still wait for their operands. */
static inline void tick_settle(void)
{
	tick_arch_settle();
}

struct tick_scale {
	uint64_t hz;   /* ticks a second */
	uint64_t mult; /* nanoseconds per tick, as a fraction of 2^32 */
};

/* Known frequency: exact and at once.  Otherwise measured against CLOCK_MONOTONIC_RAW for
 * about `ms` milliseconds of sleep. */
struct tick_scale tick_scale_measure(unsigned ms);
struct tick_scale tick_scale_of(uint64_t hz);

static inline uint64_t tick_to_ns(struct tick_scale s, uint64_t ticks)
{
	return (uint64_t)(((unsigned __int128)ticks * s.mult) >> 32);
}

#endif
