/* SPDX-License-Identifier: Apache-2.0 */
/* secret.h - the secret of a cache directory, and keys that cannot be forged without it.
 *
 * Classes come from jars that need not be trusted.  If their hash were public, an attacker could make
 * a class with the hash of another one, have it woven first, and the other one would be replaced by
 * it.  So each directory has a file of random bytes, which only its owner can read, and all keys
 * in it depend on them. */
#ifndef CACHE_SECRET_H
#define CACHE_SECRET_H

#include "cache/sip.h"

struct secret {
	struct sip_key key;
};

/* Reads the file "key" of the directory; makes it when there is none and `make` is set.  0;
 * E_NOT_FOUND: there is none; E_IO: it is not our own, can be read by others, or cannot be made. */
int secret_open(int dir, bool make, struct secret *out);

/* Of these bytes; `seed` is zeroes, or the hash of what comes before, so that parts can be put
 * together without being confused: (ab, c) is not (a, bc). */
struct hash128 secret_hash(const struct secret *s, struct hash128 seed, struct slice bytes);

#endif
