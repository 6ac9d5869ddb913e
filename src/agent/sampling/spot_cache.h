/* SPDX-License-Identifier: Apache-2.0 */
/* spot_cache.h - what an address was found to be, for the next stacks that lead through it.
 *
 * Finding out takes some ten reads through the kernel, and most frames of a stack were seen in the stack
 * before.  Who asks decides whether an entry still holds.  One thread. */
#ifndef AGENT_SAMPLING_SPOT_CACHE_H
#define AGENT_SAMPLING_SPOT_CACHE_H

#include "base/arena.h"
#include "base/map.h"
#include "sample/heaps.h"

enum { SPOT_CACHE_MAX = 1 << 15 }; /* entries; when there are more, all are forgotten */

struct spot_known {
	uint64_t spot;
	struct blob blob; /* the piece of generated code that it lies in; at 0: in none */
	uint64_t method;  /* of that piece */
	uint32_t round;	  /* when that was found out ... */
	uint32_t checked; /* ... and seen to hold */
	uint32_t n, cap;
	const uint8_t *numbers; /* n bytes: of its places, as they are sent */
};

struct spot_cache { /* all zero is empty */
	struct arena mem;
	struct map map;
};

/* NULL: not known.  The entry may be changed. */
struct spot_known *spot_cache_get(const struct spot_cache *c, uint64_t spot);

/* Takes a copy, in the place of an older one.  Where memory is out nothing is kept. */
void spot_cache_put(struct spot_cache *c, const struct spot_known *what);

void spot_cache_clear(struct spot_cache *c);

#endif
