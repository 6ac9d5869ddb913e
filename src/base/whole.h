/* SPDX-License-Identifier: Apache-2.0 */
/* whole.h - sums and conversions of figures of foreign origin: they stop at the largest
 * number where plain C would wrap around, or be undefined. */
#ifndef BASE_WHOLE_H
#define BASE_WHOLE_H

#include <stdint.h>

static inline uint64_t whole_add(uint64_t a, uint64_t b)
{
	return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

/* Cut off, not rounded; 0 for what is negative or no number. */
static inline uint64_t whole_of(double v)
{
	return !(v > 0) ? 0 : v >= 0x1p64 ? UINT64_MAX : (uint64_t)v;
}

#endif
