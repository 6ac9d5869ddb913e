/* SPDX-License-Identifier: Apache-2.0 */
/* chains.c - buckets of linked lists, as many as there are things or more. */
#include "base/chains.h"

#include <string.h>

#include "base/err.h"
#include "base/mem.h"

enum { FIRST_CAP = 64 };

static struct chains_link **bucket_of(const struct chains *c, uint64_t hash)
{
	return &c->buckets[hash & (c->cap - 1)];
}

static void put(struct chains *c, struct chains_link *l)
{
	struct chains_link **bucket = bucket_of(c, l->hash);

	l->next = *bucket;
	*bucket = l;
}

static int grow(struct chains *c)
{
	size_t cap = c->cap ? 2 * c->cap : FIRST_CAP;
	struct chains bigger = { mem_alloc(cap * sizeof(*bigger.buckets)), c->n, cap };

	if (!bigger.buckets)
		return E_NO_MEMORY;
	memset(bigger.buckets, 0, cap * sizeof(*bigger.buckets));
	for (size_t i = 0; i < c->cap; i++) {
		struct chains_link *next, *kept = NULL;

		/* Turned round first, so that those of one hash stay in their order. */
		for (struct chains_link *l = c->buckets[i]; l; l = next) {
			next = l->next;
			l->next = kept;
			kept = l;
		}
		for (; kept; kept = next) {
			next = kept->next;
			put(&bigger, kept);
		}
	}
	mem_free(c->buckets);
	*c = bigger;
	return 0;
}

void chains_release(struct chains *c)
{
	mem_free(c->buckets);
	*c = (struct chains){ 0 };
}

static struct chains_link *alike(struct chains_link *l, uint64_t hash)
{
	while (l && l->hash != hash)
		l = l->next;
	return l;
}

struct chains_link *chains_first(const struct chains *c, uint64_t hash)
{
	return c->cap ? alike(*bucket_of(c, hash), hash) : NULL;
}

struct chains_link *chains_next(const struct chains_link *l)
{
	return alike(l->next, l->hash);
}

int chains_add(struct chains *c, struct chains_link *l, uint64_t hash)
{
	if (c->n >= c->cap && grow(c) < 0 && !c->cap)
		return E_NO_MEMORY;
	l->hash = hash;
	put(c, l);
	c->n++;
	return 0;
}

void chains_remove(struct chains *c, struct chains_link *l)
{
	struct chains_link **at = bucket_of(c, l->hash);

	while (*at != l)
		at = &(*at)->next;
	*at = l->next;
	l->next = NULL;
	c->n--;
}
