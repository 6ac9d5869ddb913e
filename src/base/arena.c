/* SPDX-License-Identifier: Apache-2.0 */
/* arena.c - chunks of growing size, linked newest first.
 *
 * A chunk is twice as large as the one before, up to CHUNK_MAX, so that small users stay
 * small and large ones make few heap calls.  arena_reset keeps the newest chunk: a loop
 * over many classes soon runs without any heap call. */
#include "base/arena.h"

#include "base/mem.h"

enum { CHUNK_MIN = 8 << 10, CHUNK_MAX = 4 << 20 };

struct arena_chunk {
	struct arena_chunk *next;
	size_t size; /* of data */
	uint8_t data[];
};

/* A piece of no bytes is not NULL, not even the first. */
static uint64_t nowhere;

void arena_init(struct arena *a)
{
	*a = (struct arena){ .at = (uint8_t *)&nowhere, .end = (uint8_t *)&nowhere };
}

static void release_from(struct arena *a, struct arena_chunk *c)
{
	while (c) {
		struct arena_chunk *next = c->next;

		a->total -= c->size;
		mem_free(c);
		c = next;
	}
}

void arena_release(struct arena *a)
{
	release_from(a, a->chunks);
	arena_init(a);
}

void arena_reset(struct arena *a)
{
	struct arena_chunk *c = a->chunks;

	if (!c)
		return;
	release_from(a, c->next);
	c->next = NULL;
	a->at = c->data;
	a->end = c->data + c->size;
}

void *arena_more(struct arena *a, size_t n)
{
	size_t size = a->chunks ? a->chunks->size * 2 : CHUNK_MIN;
	struct arena_chunk *c;

	if (n > SIZE_MAX / 2)
		return NULL;
	if (size > CHUNK_MAX)
		size = CHUNK_MAX;
	if (size < n)
		size = n;
	c = mem_alloc(sizeof(*c) + size);
	if (!c)
		return NULL;
	c->next = a->chunks;
	c->size = size;
	a->chunks = c;
	a->total += size;
	a->at = c->data + n;
	a->end = c->data + size;
	return c->data;
}

void *arena_copy(struct arena *a, const void *p, size_t n)
{
	void *to = arena_alloc(a, n);

	if (to && n)
		memcpy(to, p, n);
	return to;
}

struct slice arena_dup(struct arena *a, struct slice s)
{
	return (struct slice){ arena_copy(a, s.p, s.n), s.n };
}

char *arena_str(struct arena *a, struct slice s)
{
	char *to = arena_alloc(a, s.n + 1);

	if (!to)
		return NULL;
	if (s.n)
		memcpy(to, s.p, s.n);
	to[s.n] = '\0';
	return to;
}
