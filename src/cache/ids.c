/* SPDX-License-Identifier: Apache-2.0 */
/* ids.c - numbers of methods, in constants or in the code. */
#include "cache/ids.h"

#include "classfile/op.h"

enum { ENTRY = 5, POOL_AT = 10, COUNT_AT = 8, COUNT_MAX = 65535 };

void ids_begin(struct ids *ids, const struct recipe *r, uint8_t *woven, struct arena *mem)
{
	*ids = (struct ids){ .recipe = r, .woven = woven, .mem = mem };
}

/* The constant behind all others that there will be; its index, or an error. */
static int add_constant(struct ids *ids, uint32_t id)
{
	uint32_t index = get_u16(ids->woven + COUNT_AT) + ids->n_more;

	if (index >= COUNT_MAX)
		return E_POOL_FULL;
	if (!ids->more)
		ids->more = arena_alloc(ids->mem, (size_t)ids->recipe->n_methods * ENTRY);
	if (!ids->more)
		return E_NO_MEMORY;
	ids->more[ids->n_more * ENTRY] = CONST_INTEGER;
	put_u32(ids->more + ids->n_more * ENTRY + 1, id);
	ids->n_more++;
	return (int)index;
}

int ids_put(struct ids *ids, const struct recipe_method *m, uint32_t id)
{
	uint8_t *at = ids->woven + m->id_at;
	int index;

	if (!m->id_at)
		return 0;
	if (at[-1] == CONST_INTEGER) {
		put_u32(at, id);
		return 0;
	}
	if (id <= INT16_MAX) {
		put_u16(at, (uint16_t)id);
		return 0;
	}
	index = add_constant(ids, id);
	if (index < 0)
		return index;
	at[-1] = OP_LDC_W;
	put_u16(at, (uint16_t)index);
	return 0;
}

/* Where the constants end; 0: nowhere. */
static size_t pool_end(struct slice class)
{
	uint32_t n = get_u16(class.p + COUNT_AT);
	size_t at = POOL_AT;

	for (uint32_t i = 1; i < n; i++) {
		const uint8_t *entry = class.p + at;
		size_t size = at + ENTRY <= class.n ? pool_entry_size(entry) : 0;

		if (!size || size > class.n - at)
			return 0;
		i += *entry == CONST_LONG || *entry == CONST_DOUBLE;
		at += size;
	}
	return at;
}

int ids_end(const struct ids *ids, struct slice *out)
{
	struct slice class = { ids->woven, ids->recipe->woven.n };
	size_t more = (size_t)ids->n_more * ENTRY, end;
	uint8_t *p;

	if (!more) {
		*out = class;
		return 0;
	}
	end = pool_end(class);
	if (!end)
		return E_DAMAGED;
	p = arena_alloc(ids->mem, class.n + more);
	if (!p)
		return E_NO_MEMORY;
	memcpy(p, class.p, end);
	memcpy(p + end, ids->more, more);
	memcpy(p + end + more, class.p + end, class.n - end);
	put_u16(p + COUNT_AT, (uint16_t)(get_u16(class.p + COUNT_AT) + ids->n_more));
	*out = (struct slice){ p, class.n + more };
	return 0;
}
