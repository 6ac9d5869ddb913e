/* SPDX-License-Identifier: Apache-2.0 */
/* tick_arch.h - the raw counter of x86-64: the time-stamp counter, not serialised.
 * Serialising would triple the cost and make compensation worse. */
#ifndef BASE_TICK_ARCH_H
#define BASE_TICK_ARCH_H

#include <stdint.h>

static inline uint64_t tick_arch_now(void)
{
	return __builtin_ia32_rdtsc();
}

/* What comes after does not begin before all that was issued before has been executed.  Some 8 ns,
 * and whatever was still under way. */
static inline void tick_arch_settle(void)
{
	__asm__ volatile("lfence" ::: "memory"); /* the builtin wants vector registers */
}

/* The counter's frequency as the processor tells it; 0: it does not, measure. */
static inline uint64_t tick_arch_hz(void)
{
	return 0;
}

#endif
