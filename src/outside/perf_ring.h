/* SPDX-License-Identifier: Apache-2.0 */
/* perf_ring.h - records out of the ring that the kernel writes perf events to.
 *
 * The kernel moves `head`, who reads moves `tail`; both only grow.  A record may go over the ring's end; it is
 * then put together in memory of its own.  Records that make no sense end the reading of all that is there. */
#ifndef OUTSIDE_PERF_RING_H
#define OUTSIDE_PERF_RING_H

#include "base/slice.h"

enum { PERF_RING_RECORD_MAX = 1 << 16 };

struct perf_ring {
	const uint8_t *bytes;
	uint64_t size; /* a power of two */
	uint64_t head, tail;
	uint64_t damaged; /* bytes that were no records */
	uint8_t *whole;	  /* PERF_RING_RECORD_MAX, for one that goes over the end */
};

struct perf_ring_record {
	uint32_t type; /* PERF_RECORD_* */
	uint16_t misc;
	struct slice payload; /* until the tail is told to the kernel, or the next one is taken */
};

bool perf_ring_take(struct perf_ring *r, struct perf_ring_record *out); /* false: no more */

#endif
