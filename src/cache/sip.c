/* SPDX-License-Identifier: Apache-2.0 */
/* sip.c - SipHash-2-4-128, after the paper (Aumasson and Bernstein, 2012) and its authors' later
 * definition of the 128-bit output: two rounds for each word, four before each half of the result;
 * 0xee marks the long form at the start, 0xee and 0xdd set its two halves apart. */
#include "cache/sip.h"

#include "base/bits.h"

struct sip_key sip_key(const uint8_t bytes[16])
{
	return (struct sip_key){ bits_le64(bytes), bits_le64(bytes + 8) };
}

void sip_begin(struct sip *s, struct sip_key key)
{
	*s = (struct sip){ .v = { key.a ^ 0x736f6d6570736575u, key.b ^ 0x646f72616e646f6du ^ 0xee,
				  key.a ^ 0x6c7967656e657261u, key.b ^ 0x7465646279746573u } };
}

static inline void round_of(uint64_t v[4])
{
	v[0] += v[1];
	v[2] += v[3];
	v[1] = bits_rotl(v[1], 13) ^ v[0];
	v[3] = bits_rotl(v[3], 16) ^ v[2];
	v[0] = bits_rotl(v[0], 32);
	v[2] += v[1];
	v[0] += v[3];
	v[1] = bits_rotl(v[1], 17) ^ v[2];
	v[3] = bits_rotl(v[3], 21) ^ v[0];
	v[2] = bits_rotl(v[2], 32);
}

static inline void take(uint64_t v[4], uint64_t word)
{
	v[3] ^= word;
	round_of(v);
	round_of(v);
	v[0] ^= word;
}

void sip_word(struct sip *s, uint64_t word)
{
	take(s->v, word);
	s->n += 8;
}

static uint64_t half(uint64_t v[4])
{
	for (int i = 0; i < 4; i++)
		round_of(v);
	return v[0] ^ v[1] ^ v[2] ^ v[3];
}

struct hash128 sip_end(struct sip *s, struct slice rest)
{
	uint64_t v[4] = { s->v[0], s->v[1], s->v[2], s->v[3] }; /* in registers */
	uint64_t last = (s->n + rest.n) << 56;
	const uint8_t *p = rest.p;
	size_t left = rest.n;
	struct hash128 h;

	for (; left >= 8; left -= 8, p += 8)
		take(v, bits_le64(p));
	for (size_t i = 0; i < left; i++)
		last |= (uint64_t)p[i] << 8 * i;
	take(v, last);
	v[2] ^= 0xee;
	h.a = half(v);
	v[1] ^= 0xdd;
	h.b = half(v);
	return h;
}
