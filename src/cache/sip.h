/* SPDX-License-Identifier: Apache-2.0 */
/* sip.h - SipHash-2-4 with 128 bits of output: who does not know the key can neither tell its
 * values nor make two texts that have the same one.  The same on every machine.  Pure. */
#ifndef CACHE_SIP_H
#define CACHE_SIP_H

#include "cache/hash128.h"

struct sip_key {
	uint64_t a, b; /* bytes 0 to 7 and 8 to 15, little-endian */
};

/* A text on its way through the hash: whole words first, the rest at the end. */
struct sip {
	uint64_t v[4];
	uint64_t n; /* bytes so far */
};

struct sip_key sip_key(const uint8_t bytes[16]);
void sip_begin(struct sip *s, struct sip_key key);
void sip_word(struct sip *s, uint64_t word); /* eight bytes, little-endian */
struct hash128 sip_end(struct sip *s, struct slice rest);

#endif
