/* SPDX-License-Identifier: Apache-2.0 */
/* names.c - a set of texts. */
#include "manager/figures/names.h"

/* FNV-1a: it goes to clients as part of the ids of nodes, so it must not be seeded. */
static uint64_t stable_hash(struct slice s)
{
	uint64_t h = 0xcbf29ce484222325u;

	for (size_t i = 0; i < s.n; i++)
		h = (h ^ s.p[i]) * 0x100000001b3u;
	return h;
}

static struct name *make(struct name_pool *n, struct slice text)
{
	struct name *name = arena_alloc(&n->mem, sizeof(*name));
	char *copy = name ? arena_str(&n->mem, text) : NULL;

	if (!copy)
		return NULL;
	*name = (struct name){ { (const uint8_t *)copy, text.n }, stable_hash(text) };
	return name;
}

const struct name *names_get(struct name_pool *n, struct slice text)
{
	struct slice key = { text.p, text.n < NAME_MAX_BYTES ? text.n : NAME_MAX_BYTES };
	uintptr_t *at = map_get(&n->all, key);
	struct name *name;

	if (at)
		return (const struct name *)*at;
	name = n->all.n < NAMES_MAX ? make(n, key) : NULL;
	at = name ? map_put(&n->all, name->text, NULL) : NULL;
	if (!at)
		return NULL;
	*at = (uintptr_t)name;
	return name;
}

void names_release(struct name_pool *n)
{
	map_release(&n->all);
	arena_release(&n->mem);
}
