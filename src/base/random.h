/* SPDX-License-Identifier: Apache-2.0 */
/* random.h - numbers that look random, by a state of the caller's own: a program may depend on the
 * sequence of random().  Marsaglia's xorshift; not for secrets. */
#ifndef BASE_RANDOM_H
#define BASE_RANDOM_H

#include <stdint.h>

/* *state is not 0, and never becomes it. */
static inline uint64_t random_next(uint64_t *state)
{
	uint64_t x = *state;

	x ^= x << 13;
	x ^= x >> 7;
	x ^= x << 17;
	return *state = x;
}

/* A number from 0 to below - 1. */
static inline uint32_t random_below(uint64_t *state, uint32_t below)
{
	return (uint32_t)(((random_next(state) >> 32) * below) >> 32);
}

#endif
