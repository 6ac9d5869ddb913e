/* SPDX-License-Identifier: Apache-2.0 */
/* bits.h - words out of bytes, and rotated: what hashes are made of. */
#ifndef BASE_BITS_H
#define BASE_BITS_H

#include <stdint.h>
#include <string.h>

static inline uint64_t bits_rotl(uint64_t x, unsigned n)
{
	return x << n | x >> (64 - n);
}

/* Little-endian on every machine. */
static inline uint64_t bits_le64(const uint8_t *p)
{
	uint64_t v;

	memcpy(&v, p, sizeof(v));
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	v = __builtin_bswap64(v);
#endif
	return v;
}

#endif
