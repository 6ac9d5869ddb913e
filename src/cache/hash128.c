/* SPDX-License-Identifier: Apache-2.0 */
/* hash128.c - the 128-bit form of MurmurHash3 (Austin Appleby's public-domain design) for 64-bit
 * machines, with a seed of 128 bits.  Two lanes take eight bytes each in turn and feed each other;
 * at the end every bit of both is made to depend on every other.
 *
 * Since each step waits for the one before, a processor has little to do meanwhile.  So what is
 * longer than LONG is cut into four parts whose steps are taken in turn, and what these come to is
 * hashed together with the rest: those of javac take two thirds of the time that way. */
#include "cache/hash128.h"

#include "base/bits.h"

enum { PARTS = 4, LONG = 512 };

static const uint64_t c1 = 0x87c37b91114253d5u, c2 = 0x4cf5ad432745937fu;

static void put64(uint8_t *p, uint64_t v)
{
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	v = __builtin_bswap64(v);
#endif
	memcpy(p, &v, sizeof(v));
}

static uint64_t mix1(uint64_t k)
{
	return bits_rotl(k * c1, 31) * c2;
}

static uint64_t mix2(uint64_t k)
{
	return bits_rotl(k * c2, 33) * c1;
}

static uint64_t avalanche(uint64_t k)
{
	k = (k ^ k >> 33) * 0xff51afd7ed558ccdu;
	k = (k ^ k >> 33) * 0xc4ceb9fe1a85ec53u;
	return k ^ k >> 33;
}

static inline void step(struct hash128 *h, const uint8_t *p)
{
	h->a = (bits_rotl(h->a ^ mix1(bits_le64(p)), 27) + h->b) * 5 + 0x52dce729;
	h->b = (bits_rotl(h->b ^ mix2(bits_le64(p + 8)), 31) + h->a) * 5 + 0x38495ab5;
}

static struct hash128 hash_short(struct hash128 seed, struct slice bytes)
{
	struct hash128 h = seed;
	const uint8_t *p = bytes.p;
	size_t left = bytes.n;
	uint8_t last[16] = { 0 };
	uint64_t a, b;

	for (; left >= 16; left -= 16, p += 16)
		step(&h, p);
	a = h.a;
	b = h.b;
	if (left) {
		memcpy(last, p, left);
		a ^= mix1(bits_le64(last));
		b ^= mix2(bits_le64(last + 8));
	}
	a ^= bytes.n;
	b ^= bytes.n;
	a += b;
	b += a;
	a = avalanche(a);
	b = avalanche(b);
	a += b;
	return (struct hash128){ a, b + a };
}

struct hash128 hash128(struct hash128 seed, struct slice bytes)
{
	size_t part = bytes.n / (PARTS * 16) * 16;
	const uint8_t *p = bytes.p, *end = p + part;
	struct hash128 h[PARTS];
	uint8_t sums[PARTS * 16];

	if (bytes.n < LONG)
		return hash_short(seed, bytes);
	for (size_t k = 0; k < PARTS; k++)
		h[k] = (struct hash128){ seed.a + k, seed.b ^ bytes.n };
	for (; p < end; p += 16) {
		step(&h[0], p);
		step(&h[1], p + part);
		step(&h[2], p + 2 * part);
		step(&h[3], p + 3 * part);
	}
	for (size_t k = 0; k < PARTS; k++) {
		put64(sums + 16 * k, h[k].a);
		put64(sums + 16 * k + 8, h[k].b);
	}
	seed = hash_short(seed, (struct slice){ sums, sizeof(sums) });
	return hash_short(seed, (struct slice){ bytes.p + PARTS * part, bytes.n - PARTS * part });
}

void hash128_text(struct hash128 h, char out[HASH_TEXT])
{
	for (int i = 0; i < 32; i++) {
		uint64_t half = i < 16 ? h.a : h.b;

		out[i] = "0123456789abcdef"[half >> (60 - 4 * (i % 16)) & 15];
	}
	out[32] = '\0';
}
