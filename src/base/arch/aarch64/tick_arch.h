/* SPDX-License-Identifier: Apache-2.0 */
/* tick_arch.h - the raw counter of aarch64: the virtual counter, without the ISB that
 * would serialise it (it triples the cost and makes compensation worse). */
#ifndef BASE_TICK_ARCH_H
#define BASE_TICK_ARCH_H

#include <stdint.h>

static inline uint64_t tick_arch_now(void)
{
	uint64_t now;

	__asm__ volatile("mrs %0, cntvct_el0" : "=r"(now));
	return now;
}

/* Nothing: the only way is an ISB, which costs more than what it would tell apart. */
static inline void tick_arch_settle(void)
{
}

/* The counter's frequency as the processor tells it; 0: it does not, measure. */
static inline uint64_t tick_arch_hz(void)
{
	uint64_t hz;

	__asm__ volatile("mrs %0, cntfrq_el0" : "=r"(hz));
	return hz;
}

#endif
