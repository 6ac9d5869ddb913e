/* SPDX-License-Identifier: Apache-2.0 */
/* arena.h - memory that is taken piece by piece and given back in one call.
 *
 * One arena per weaving, per request, per connection.  Pieces are never freed one by one
 * and never move.  arena_alloc gives NULL when the heap is exhausted.  One thread at a
 * time. */
#ifndef BASE_ARENA_H
#define BASE_ARENA_H

#include "base/slice.h"

struct arena_chunk;

struct arena {
	uint8_t *at, *end;	    /* free part of the current chunk */
	struct arena_chunk *chunks; /* newest first */
	size_t total;		    /* bytes of all chunks, for limits and reports */
};

enum { ARENA_ALIGN = 8 };

void arena_init(struct arena *a);
void arena_release(struct arena *a); /* gives everything back; the arena is as after init */
void arena_reset(struct arena *a);   /* forgets all pieces, keeps the newest (largest) chunk */

void *arena_more(struct arena *a, size_t n); /* slow path of arena_alloc */

/* n bytes, uninitialised, aligned to ARENA_ALIGN. */
static inline void *arena_alloc(struct arena *a, size_t n)
{
	uint8_t *p = a->at;

	n = (n + ARENA_ALIGN - 1) & ~(size_t)(ARENA_ALIGN - 1);
	if (__builtin_expect(n > (size_t)(a->end - p), 0))
		return arena_more(a, n);
	a->at = p + n;
	return p;
}

/* As arena_alloc, filled with zero. */
static inline void *arena_zero(struct arena *a, size_t n)
{
	void *p = arena_alloc(a, n);

	return p ? memset(p, 0, n) : NULL;
}

/* Give back the tail of a piece of `had` bytes of which only `used` are needed; does nothing
 * unless it is the newest piece. */
static inline void arena_trim(struct arena *a, void *p, size_t had, size_t used)
{
	had = (had + ARENA_ALIGN - 1) & ~(size_t)(ARENA_ALIGN - 1);
	if ((uint8_t *)p + had == a->at)
		a->at = (uint8_t *)p + ((used + ARENA_ALIGN - 1) & ~(size_t)(ARENA_ALIGN - 1));
}

void *arena_copy(struct arena *a, const void *p, size_t n); /* NULL: out of memory */
struct slice arena_dup(struct arena *a, struct slice s);    /* .p NULL: out of memory */
char *arena_str(struct arena *a, struct slice s);	    /* with a NUL behind it */

#endif
