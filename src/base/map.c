/* SPDX-License-Identifier: Apache-2.0 */
/* map.c - open addressing with linear probing over slots that keep their hash. */
#include "base/map.h"

#include <sys/auxv.h>

#include "base/mem.h"

enum { MAP_MIN = 16 };

static const uint8_t empty_key; /* stands for a key of no bytes, whose p may be NULL */

void map_init(struct map *m)
{
	*m = (struct map){ 0 };
}

void map_release(struct map *m)
{
	mem_free(m->slots);
	map_init(m);
}

/* The kernel hands every process 16 random bytes. */
static uint64_t seed(void)
{
	static uint64_t value;

	if (!value) {
		const void *random = (const void *)getauxval(AT_RANDOM);

		if (random)
			memcpy(&value, random, sizeof(value));
		value |= 1;
	}
	return value;
}

static uint64_t mix(uint64_t a, uint64_t b)
{
	unsigned __int128 product = (unsigned __int128)a * b;

	return (uint64_t)product ^ (uint64_t)(product >> 64);
}

uint64_t hash_bytes(const void *bytes, size_t n)
{
	const uint8_t *p = bytes;
	uint64_t h = seed() ^ n, word;

	for (; n > 8; n -= 8, p += 8) {
		memcpy(&word, p, 8);
		h = mix(h ^ word, 0x9e3779b97f4a7c15u);
	}
	word = 0;
	if (n)
		memcpy(&word, p, n);
	return mix(h ^ word, 0xd6e8feb86659fd93u);
}

static struct map_slot *find(const struct map *m, struct slice key, uint64_t hash)
{
	size_t mask = m->cap - 1;

	for (size_t i = hash & mask;; i = (i + 1) & mask) {
		struct map_slot *s = &m->slots[i];

		if (!s->key.p || (s->hash == hash && slice_eq(s->key, key)))
			return s;
	}
}

uintptr_t *map_get(const struct map *m, struct slice key)
{
	struct map_slot *s;

	if (!m->n)
		return NULL;
	s = find(m, key, hash_bytes(key.p, key.n));
	return s->key.p ? &s->value : NULL;
}

static bool grow(struct map *m)
{
	struct map bigger = { .n = m->n, .cap = m->cap ? m->cap * 2 : MAP_MIN };

	bigger.slots = mem_alloc(bigger.cap * sizeof(*bigger.slots));
	if (!bigger.slots)
		return false;
	memset(bigger.slots, 0, bigger.cap * sizeof(*bigger.slots));
	for (struct map_slot *s = NULL; (s = map_next(m, s));)
		*find(&bigger, s->key, s->hash) = *s;
	mem_free(m->slots);
	*m = bigger;
	return true;
}

uintptr_t *map_put(struct map *m, struct slice key, bool *fresh)
{
	uint64_t hash = hash_bytes(key.p, key.n);
	struct map_slot *s = NULL;

	if (fresh)
		*fresh = false;
	if (m->n) {
		s = find(m, key, hash);
		if (s->key.p)
			return &s->value;
	}
	if (m->n + 1 > m->cap / 4 * 3) {
		if (!grow(m))
			return NULL;
		s = NULL;
	}
	if (!key.p)
		key.p = &empty_key;
	if (!s)
		s = find(m, key, hash);
	*s = (struct map_slot){ key, hash, 0 };
	m->n++;
	if (fresh)
		*fresh = true;
	return &s->value;
}

struct map_slot *map_next(const struct map *m, struct map_slot *from)
{
	struct map_slot *s = from ? from + 1 : m->slots;

	for (; s && s < m->slots + m->cap; s++)
		if (s->key.p)
			return s;
	return NULL;
}
