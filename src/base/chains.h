/* SPDX-License-Identifier: Apache-2.0 */
/* chains.h - a hash table of things that carry their own link, so that they can be taken out again.
 *
 * The caller hashes and compares; the table finds what has the same hash and grows with what is in
 * it.  A link lies in the thing itself, which must not move.  One thread at a time. */
#ifndef BASE_CHAINS_H
#define BASE_CHAINS_H

#include <stddef.h>
#include <stdint.h>

struct chains_link {
	struct chains_link *next; /* in its bucket */
	uint64_t hash;
};

struct chains { /* all zero: empty */
	struct chains_link **buckets;
	size_t n, cap; /* cap is 0 or a power of two */
};

void chains_release(struct chains *c); /* what is in it is the caller's */

/* The first link with that hash, and the next one with the same; NULL: none.  New links come before
 * the old ones. */
struct chains_link *chains_first(const struct chains *c, uint64_t hash);
struct chains_link *chains_next(const struct chains_link *l);

/* 0 or E_NO_MEMORY, and then it is not in.  A table that cannot grow gets slower instead. */
int chains_add(struct chains *c, struct chains_link *l, uint64_t hash);
void chains_remove(struct chains *c, struct chains_link *l);

#endif
