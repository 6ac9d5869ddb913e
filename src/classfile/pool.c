/* SPDX-License-Identifier: Apache-2.0 */
/* pool.c - reading, following and appending to the constant pool.
 *
 * Reading makes one pass to find where each entry begins and one to check that the indices
 * between entries lead to entries of the right kind.  Entries that are added are kept in the
 * class's arena in the same form as in a file, so that all accessors work on both. */
#include "classfile/pool.h"

static const uint8_t no_entry[1];

/* Bytes of an entry with its tag, by tag; Utf8 has its text on top; 0: no such tag. */
static const uint8_t entry_size[32] = {
	[CONST_UTF8] = 3,	    [CONST_INTEGER] = 5,
	[CONST_FLOAT] = 5,	    [CONST_LONG] = 9,
	[CONST_DOUBLE] = 9,	    [CONST_CLASS] = 3,
	[CONST_STRING] = 3,	    [CONST_FIELDREF] = 5,
	[CONST_METHODREF] = 5,	    [CONST_INTERFACE_METHODREF] = 5,
	[CONST_NAME_AND_TYPE] = 5,  [CONST_METHOD_HANDLE] = 4,
	[CONST_METHOD_TYPE] = 3,    [CONST_DYNAMIC] = 5,
	[CONST_INVOKE_DYNAMIC] = 5, [CONST_MODULE] = 3,
	[CONST_PACKAGE] = 3,
};

size_t pool_entry_size(const uint8_t *entry)
{
	size_t size = entry[0] < sizeof(entry_size) ? entry_size[entry[0]] : 0;

	return entry[0] == CONST_UTF8 ? size + get_u16(entry + 1) : size;
}

static bool is_wide(uint8_t tag)
{
	return tag == CONST_LONG || tag == CONST_DOUBLE;
}

static int locate_entries(struct pool *p, struct reader *r, struct fault *f)
{
	for (uint32_t i = 1; i < p->n; i++) {
		size_t left = rd_left(r), size;
		uint8_t tag;

		if (left < 3)
			return fault_set(f, E_TRUNCATED, (long)rd_at(r),
					 "constant pool ends at entry %u of %u", i, p->n);
		tag = *r->p;
		size = tag < sizeof(entry_size) ? entry_size[tag] : 0;
		if (!size)
			return fault_set(f, E_POOL_TAG, (long)rd_at(r),
					 "constant-pool entry %u has unknown tag %u", i, tag);
		if (tag == CONST_UTF8)
			size += get_u16(r->p + 1);
		if (size > left)
			return fault_set(f, E_TRUNCATED, (long)rd_at(r),
					 "constant-pool entry %u reaches past the end of the file",
					 i);
		p->at[i] = r->p;
		r->p += size;
		if (is_wide(tag)) {
			if (i + 1 == p->n)
				return fault_set(f, E_POOL_INDEX, (long)rd_at(r),
						 "entry %u is a long or double, but the last", i);
			p->at[++i] = no_entry;
		}
	}
	return 0;
}

/* The kind of entry that a MethodHandle of each reference_kind leads to (JVMS 4.4.8). */
static uint32_t handle_tags(uint8_t kind)
{
	switch (kind) {
	case 1 ... 4:
		return TAGS(CONST_FIELDREF);
	case 5:
	case 8:
		return TAGS(CONST_METHODREF);
	case 6:
	case 7:
		return TAGS_METHOD;
	case 9:
		return TAGS(CONST_INTERFACE_METHODREF);
	default:
		return 0;
	}
}

static bool entry_leads_right(const struct pool *p, const uint8_t *e)
{
	switch (e[0]) {
	case CONST_CLASS:
	case CONST_STRING:
	case CONST_METHOD_TYPE:
	case CONST_MODULE:
	case CONST_PACKAGE:
		return pool_is(p, get_u16(e + 1), TAGS(CONST_UTF8));
	case CONST_FIELDREF:
	case CONST_METHODREF:
	case CONST_INTERFACE_METHODREF:
		return pool_is(p, get_u16(e + 1), TAGS(CONST_CLASS)) &&
		       pool_is(p, get_u16(e + 3), TAGS(CONST_NAME_AND_TYPE));
	case CONST_NAME_AND_TYPE:
		return pool_is(p, get_u16(e + 1), TAGS(CONST_UTF8)) &&
		       pool_is(p, get_u16(e + 3), TAGS(CONST_UTF8));
	case CONST_METHOD_HANDLE:
		return pool_is(p, get_u16(e + 2), handle_tags(e[1]));
	case CONST_DYNAMIC:
	case CONST_INVOKE_DYNAMIC:
		return pool_is(p, get_u16(e + 3), TAGS(CONST_NAME_AND_TYPE));
	default:
		return true;
	}
}

int pool_read(struct pool *p, struct arena *mem, struct reader *r, struct fault *f)
{
	int rc;

	*p = (struct pool){ .mem = mem };
	p->n = p->read = rd_u16(r);
	if (r->err)
		return fault_set(f, E_TRUNCATED, (long)rd_at(r), "no constant pool");
	if (p->n == 0)
		return fault_set(f, E_POOL_INDEX, (long)rd_at(r), "constant_pool_count is 0");
	p->cap = p->n + 32; /* room for what a weaving adds */
	p->at = arena_alloc(mem, p->cap * sizeof(*p->at));
	p->attr_kind = arena_zero(mem, p->cap);
	if (!p->at || !p->attr_kind)
		return fault_no_memory(f);
	p->at[0] = no_entry;
	p->bytes.p = r->p;
	rc = locate_entries(p, r, f);
	if (rc < 0)
		return rc;
	p->bytes.n = (size_t)(r->p - p->bytes.p);
	for (uint32_t i = 1; i < p->n; i++)
		if (!entry_leads_right(p, p->at[i]))
			return fault_set(f, E_POOL_INDEX, (long)(p->at[i] - r->start),
					 "constant-pool entry %u (tag %u) refers to an entry "
					 "that is missing or of the wrong kind",
					 i, p->at[i][0]);
	return 0;
}

void pool_release(struct pool *p)
{
	map_release(&p->added);
}

struct slice pool_name(const struct pool *p, uint32_t i)
{
	if (!pool_is(p, i,
		     TAGS(CONST_CLASS) | TAGS(CONST_STRING) | TAGS(CONST_MODULE) |
			     TAGS(CONST_PACKAGE) | TAGS(CONST_METHOD_TYPE)))
		return (struct slice){ NULL, 0 };
	return pool_utf8(p, pool_first(p, i));
}

bool pool_ref(const struct pool *p, uint32_t i, struct pool_ref *out)
{
	uint8_t tag = pool_tag(p, i);
	uint16_t pair;

	if (!(TAGS(tag) & (TAGS(CONST_FIELDREF) | TAGS_METHOD | TAGS(CONST_DYNAMIC) |
			   TAGS(CONST_INVOKE_DYNAMIC))))
		return false;
	*out = (struct pool_ref){ { NULL, 0 }, { NULL, 0 }, { NULL, 0 }, 0 };
	if (tag == CONST_DYNAMIC || tag == CONST_INVOKE_DYNAMIC)
		out->bootstrap = pool_first(p, i);
	else
		out->owner = pool_name(p, pool_first(p, i));
	pair = pool_second(p, i);
	out->name = pool_utf8(p, pool_first(p, pair));
	out->desc = pool_utf8(p, pool_second(p, pair));
	return true;
}

static bool make_room(struct pool *p)
{
	uint32_t cap = p->cap * 2;
	const uint8_t **at;
	uint8_t *kinds;

	if (p->n + 2 <= p->cap)
		return true;
	at = arena_alloc(p->mem, cap * sizeof(*at));
	kinds = arena_zero(p->mem, cap);
	if (!at || !kinds)
		return false;
	memcpy(at, p->at, p->n * sizeof(*at));
	memcpy(kinds, p->attr_kind, p->n);
	p->at = at;
	p->attr_kind = kinds;
	p->cap = cap;
	return true;
}

/* The index of an entry with these bytes.  They are copied. */
static int add_entry(struct pool *p, struct slice entry)
{
	uint32_t slots = is_wide(entry.p[0]) ? 2 : 1;
	uintptr_t *place;
	struct slice own;
	bool fresh;

	if (p->n + slots > 65535) {
		place = map_get(&p->added, entry);
		return place ? (int)*place : E_POOL_FULL;
	}
	/* Most are new: copied first, they need to be looked up only once. */
	if (!make_room(p))
		return E_NO_MEMORY;
	own = arena_dup(p->mem, entry);
	place = own.p ? map_put(&p->added, own, &fresh) : NULL;
	if (!place)
		return E_NO_MEMORY;
	if (!fresh) {
		arena_trim(p->mem, (void *)(uintptr_t)own.p, own.n, 0);
		return (int)*place;
	}
	*place = p->n;
	p->at[p->n] = own.p;
	if (slots == 2)
		p->at[p->n + 1] = no_entry;
	p->n += slots;
	return (int)*place;
}

int pool_add_utf8(struct pool *p, struct slice text)
{
	uint8_t small[256], *entry = small;

	if (text.n > 65535)
		return E_LIMIT;
	if (text.n + 3 > sizeof(small)) {
		entry = arena_alloc(p->mem, text.n + 3);
		if (!entry)
			return E_NO_MEMORY;
	}
	entry[0] = CONST_UTF8;
	put_u16(entry + 1, (uint16_t)text.n);
	if (text.n)
		memcpy(entry + 3, text.p, text.n);
	return add_entry(p, (struct slice){ entry, text.n + 3 });
}

int pool_add_name(struct pool *p, uint8_t tag, struct slice name)
{
	int utf8 = pool_add_utf8(p, name);
	uint8_t entry[3] = { tag };

	if (utf8 < 0)
		return utf8;
	put_u16(entry + 1, (uint16_t)utf8);
	return add_entry(p, (struct slice){ entry, sizeof(entry) });
}

int pool_add_int(struct pool *p, int32_t v)
{
	uint8_t entry[5] = { CONST_INTEGER };

	put_u32(entry + 1, (uint32_t)v);
	return add_entry(p, (struct slice){ entry, sizeof(entry) });
}

int pool_add_wide(struct pool *p, uint8_t tag, uint64_t bits)
{
	uint8_t entry[9] = { tag };

	put_u32(entry + 1, (uint32_t)(bits >> 32));
	put_u32(entry + 5, (uint32_t)bits);
	return add_entry(p, (struct slice){ entry, sizeof(entry) });
}

int pool_add_own_int(struct pool *p, int32_t v)
{
	uint8_t entry[5] = { CONST_INTEGER };
	struct slice own;

	put_u32(entry + 1, (uint32_t)v);
	if (p->n + 1 > 65535)
		return E_POOL_FULL;
	own = arena_dup(p->mem, (struct slice){ entry, sizeof(entry) });
	if (!own.p || !make_room(p))
		return E_NO_MEMORY;
	p->at[p->n] = own.p;
	return (int)p->n++;
}

int pool_add_pair(struct pool *p, uint8_t tag, uint16_t first, uint16_t second)
{
	uint8_t entry[5] = { tag };

	put_u16(entry + 1, first);
	put_u16(entry + 3, second);
	return add_entry(p, (struct slice){ entry, sizeof(entry) });
}

int pool_add_ref(struct pool *p, uint8_t tag, struct slice owner, struct slice name,
		 struct slice desc)
{
	int c = pool_add_name(p, CONST_CLASS, owner);
	int n = c < 0 ? c : pool_add_utf8(p, name);
	int d = n < 0 ? n : pool_add_utf8(p, desc);
	int pair = d < 0 ? d : pool_add_pair(p, CONST_NAME_AND_TYPE, (uint16_t)n, (uint16_t)d);

	return pair < 0 ? pair : pool_add_pair(p, tag, (uint16_t)c, (uint16_t)pair);
}

/* The recursion is at most four deep: pool_read allows no loops (a reference of each kind
 * leads to a kind further down). */
int pool_import(struct pool *p, const struct pool *from, uint32_t i, uint16_t *seen)
{
	uint8_t tag = pool_tag(from, i), entry[5];
	const uint8_t *e;
	int a, b, rc;

	if (!tag)
		return E_POOL_INDEX;
	if (seen[i])
		return seen[i];
	e = from->at[i];
	switch (tag) {
	case CONST_DYNAMIC:
	case CONST_INVOKE_DYNAMIC:
		return E_UNSUPPORTED;
	case CONST_CLASS:
	case CONST_STRING:
	case CONST_METHOD_TYPE:
	case CONST_MODULE:
	case CONST_PACKAGE:
		rc = pool_add_name(p, tag, pool_name(from, i));
		break;
	case CONST_FIELDREF:
	case CONST_METHODREF:
	case CONST_INTERFACE_METHODREF:
	case CONST_NAME_AND_TYPE:
		a = pool_import(p, from, get_u16(e + 1), seen);
		b = a < 0 ? a : pool_import(p, from, get_u16(e + 3), seen);
		rc = b < 0 ? b : pool_add_pair(p, tag, (uint16_t)a, (uint16_t)b);
		break;
	case CONST_METHOD_HANDLE:
		a = pool_import(p, from, get_u16(e + 2), seen);
		if (a < 0)
			return a;
		entry[0] = tag;
		entry[1] = e[1];
		put_u16(entry + 2, (uint16_t)a);
		rc = add_entry(p, (struct slice){ entry, 4 });
		break;
	default:
		rc = add_entry(p, (struct slice){ e, pool_entry_size(e) });
	}
	if (rc > 0)
		seen[i] = (uint16_t)rc;
	return rc;
}
