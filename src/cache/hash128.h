/* SPDX-License-Identifier: Apache-2.0 */
/* hash128.h - 128 bits that tell contents apart: the checksums of the cache.
 *
 * Fast and well mixed, and easy to forge: it finds damage, and nothing may depend on it that somebody
 * could want to be wrong.  Keys are made with a secret (secret.h).  The same on every machine.
 * Pure. */
#ifndef CACHE_HASH128_H
#define CACHE_HASH128_H

#include "base/slice.h"

struct hash128 {
	uint64_t a, b;
};

/* Of these bytes; `seed` is zeroes, or the hash of what comes before, so that parts can be put
 * together without being confused: (ab, c) is not (a, bc). */
struct hash128 hash128(struct hash128 seed, struct slice bytes);

static inline bool hash128_eq(struct hash128 x, struct hash128 y)
{
	return x.a == y.a && x.b == y.b;
}

static inline bool hash128_is_zero(struct hash128 x)
{
	return !(x.a | x.b);
}

enum { HASH_TEXT = 33 };
void hash128_text(struct hash128 h, char out[HASH_TEXT]); /* 32 hex digits */

#endif
