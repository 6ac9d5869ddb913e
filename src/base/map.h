/* SPDX-License-Identifier: Apache-2.0 */
/* map.h - a hash map from bytes to a pointer-sized value.
 *
 * Keys are borrowed: they must outlive the map.  Open addressing, linear probing, at most
 * three quarters full.  The hash is seeded per process, so that crafted input cannot make it
 * slow; therefore the order of map_next must never reach any output.  One thread at a
 * time. */
#ifndef BASE_MAP_H
#define BASE_MAP_H

#include "base/slice.h"

struct map_slot {
	struct slice key; /* .p NULL: free */
	uint64_t hash;
	uintptr_t value;
};

struct map {
	struct map_slot *slots;
	size_t n, cap; /* cap is 0 or a power of two */
};

void map_init(struct map *m); /* no allocation; all zero is the same */
void map_release(struct map *m);

uint64_t hash_bytes(const void *p, size_t n);

/* The value's place, or NULL.  Valid until the next map_put. */
uintptr_t *map_get(const struct map *m, struct slice key);

/* The value's place for key, made (with value 0) when it was not there; `*fresh` tells, and
 * may be NULL.  NULL: out of memory, the map is unchanged. */
uintptr_t *map_put(struct map *m, struct slice key, bool *fresh);

/* Walk: start with NULL; NULL again after the last. */
struct map_slot *map_next(const struct map *m, struct map_slot *from);

#endif
