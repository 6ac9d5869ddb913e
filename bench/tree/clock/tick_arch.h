/* SPDX-License-Identifier: Apache-2.0 */
/* tick_arch.h - the counter of a program that is replayed: what it was when the event was
 * recorded. */
#ifndef BASE_TICK_ARCH_H
#define BASE_TICK_ARCH_H

#include <stdint.h>

extern uint64_t replay_tick;

static inline uint64_t tick_arch_now(void)
{
	return replay_tick;
}

static inline void tick_arch_settle(void)
{
}

static inline uint64_t tick_arch_hz(void)
{
	return 0;
}

#endif
