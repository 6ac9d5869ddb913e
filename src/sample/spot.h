/* SPDX-License-Identifier: Apache-2.0 */
/* spot.h - one frame of a stack as a signal handler notes it: what it is, and an address.
 *
 * Names are found later, elsewhere: a handler only writes numbers down. */
#ifndef SAMPLE_SPOT_H
#define SAMPLE_SPOT_H

#include <stdint.h>

enum spot_kind {
	SPOT_PC,     /* the instruction that was about to run */
	SPOT_RETURN, /* a return address: the call is before it */
	SPOT_METHOD, /* of an interpreted frame: its Method in the JVM */
	SPOT_LABEL,  /* a name: its number (agent/sampling/labels.h) */
	SPOT_KINDS
};

enum { SPOT_SHIFT = 56 };

static inline uint64_t spot(enum spot_kind kind, uint64_t address)
{
	return (uint64_t)kind << SPOT_SHIFT | (address & (((uint64_t)1 << SPOT_SHIFT) - 1));
}

static inline enum spot_kind spot_kind(uint64_t s)
{
	return (enum spot_kind)(s >> SPOT_SHIFT);
}

static inline uint64_t spot_address(uint64_t s)
{
	return s & (((uint64_t)1 << SPOT_SHIFT) - 1);
}

#endif
