/* SPDX-License-Identifier: Apache-2.0 */
/* labels.c - open addressing.  Who swaps a hash into a free slot writes the name; two names of one
 * 64-bit hash are taken for the same. */
#include "agent/sampling/labels.h"

#include <sys/mman.h>

#include "base/fnv.h"

enum { LABELS = 1 << 12, PROBES = 32, TEXT = 1 << 19, NAME_MAX = 400 };

struct label {
	uint64_t hash; /* 0: free */
	uint32_t at;
	uint16_t n;
	bool whole; /* all of it is written */
};

static struct {
	struct label *all;
	uint8_t *text;
	uint32_t used; /* of text */
} labels;

bool labels_begin(void)
{
	size_t n = LABELS * sizeof(struct label) + TEXT;
	uint8_t *p = mmap(NULL, n, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	labels_end();
	if (p == MAP_FAILED)
		return false;
	labels.all = (void *)p;
	labels.text = p + LABELS * sizeof(struct label);
	labels.used = 0;
	return true;
}

void labels_end(void)
{
	if (labels.all)
		munmap(labels.all, LABELS * sizeof(struct label) + TEXT);
	labels.all = NULL;
}

static bool write_label(struct label *l, struct slice name)
{
	uint32_t at = __atomic_fetch_add(&labels.used, (uint32_t)name.n, __ATOMIC_RELAXED);

	if (at > TEXT || name.n > TEXT - at)
		return false;
	memcpy(labels.text + at, name.p, name.n);
	l->at = at;
	l->n = (uint16_t)name.n;
	__atomic_store_n(&l->whole, true, __ATOMIC_RELEASE);
	return true;
}

uint32_t labels_number(struct slice name)
{
	uint64_t hash = fnv_add(FNV_START, name.p, name.n) | 1;

	name.n = name.n < NAME_MAX ? name.n : NAME_MAX;
	for (uint32_t i = 0; i < PROBES; i++) {
		uint32_t at = (uint32_t)((hash >> 20) + i) & (LABELS - 1);
		struct label *l = &labels.all[at];
		uint64_t there = __atomic_load_n(&l->hash, __ATOMIC_RELAXED);

		if (there == hash)
			return at + 1;
		if (!there && __atomic_compare_exchange_n(&l->hash, &there, hash, false,
							  __ATOMIC_RELAXED, __ATOMIC_RELAXED))
			return write_label(l, name) ? at + 1 : 0;
		if (there == hash)
			return at + 1;
	}
	return 0;
}

struct slice labels_name(uint32_t number)
{
	const struct label *l = number && number <= LABELS && labels.all ? &labels.all[number - 1]
									 : NULL;

	if (!l || !__atomic_load_n(&l->whole, __ATOMIC_ACQUIRE))
		return slice_str("(other classes)");
	return (struct slice){ labels.text + l->at, l->n };
}
