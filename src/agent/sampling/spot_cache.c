/* SPDX-License-Identifier: Apache-2.0 */
/* spot_cache.c - see spot_cache.h.  The key of an entry lies in the first one that its spot had. */
#include "agent/sampling/spot_cache.h"

static struct slice key_of(const uint64_t *spot)
{
	return (struct slice){ (const uint8_t *)spot, sizeof(*spot) };
}

struct spot_known *spot_cache_get(const struct spot_cache *c, uint64_t spot)
{
	uintptr_t *place = map_get(&c->map, key_of(&spot));

	return place ? (struct spot_known *)*place : NULL;
}

void spot_cache_put(struct spot_cache *c, const struct spot_known *what)
{
	struct spot_known *k = spot_cache_get(c, what->spot);
	uint8_t *numbers = k && what->n <= k->cap ? (uint8_t *)(uintptr_t)k->numbers : NULL;
	uint32_t cap = numbers ? k->cap : what->n;
	uintptr_t *place;

	if (!k && c->map.n >= SPOT_CACHE_MAX)
		spot_cache_clear(c);
	numbers = numbers ? numbers : arena_alloc(&c->mem, what->n);
	if (!numbers)
		return;
	if (!k) {
		k = arena_zero(&c->mem, sizeof(*k));
		if (!k)
			return;
		k->spot = what->spot;
		place = map_put(&c->map, key_of(&k->spot), NULL);
		if (!place)
			return;
		*place = (uintptr_t)k;
	}
	memcpy(numbers, what->numbers, what->n);
	*k = *what;
	k->numbers = numbers;
	k->cap = cap;
}

void spot_cache_clear(struct spot_cache *c)
{
	map_release(&c->map);
	arena_release(&c->mem);
}
