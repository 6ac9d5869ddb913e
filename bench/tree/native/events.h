/* SPDX-License-Identifier: Apache-2.0 */
/* events.h - the file of one thread's events: numbers of 7 bits a byte, the lowest first.
 *
 * An event is ticks since the one before << 2 | kind; EVENT_ENTER is followed by the method. */
#ifndef BENCH_TREE_EVENTS_H
#define BENCH_TREE_EVENTS_H

#include <stddef.h>
#include <stdint.h>

enum {
	EVENT_ENTER,
	EVENT_EXIT,	  /* of the innermost call */
	EVENT_THROWN,	  /* the same by exception */
	EVENT_LOST,	  /* the innermost call is over, and its exit was never told */
	EVENT_BYTES = 16, /* at most */
};

static inline uint8_t *events_put(uint8_t *at, uint64_t value)
{
	for (; value >= 0x80; value >>= 7)
		*at++ = (uint8_t)(value | 0x80);
	*at++ = (uint8_t)value;
	return at;
}

static inline const uint8_t *events_get(const uint8_t *at, uint64_t *value)
{
	unsigned shift = 0;

	for (*value = 0; *at & 0x80; shift += 7)
		*value |= (uint64_t)(*at++ & 0x7f) << shift;
	*value |= (uint64_t)*at++ << shift;
	return at;
}

#endif
