/* SPDX-License-Identifier: Apache-2.0 */
/* hash.c - the 128-bit form of MurmurHash3 (Austin Appleby's public-domain design) for 64-bit machines,
 * with a seed of 128 bits.  Two lanes take eight bytes each in turn and feed each other; at the end
 * every bit of both is made to depend on every other. */
#include "cache/hash.h"

static const uint64_t c1 = 0x87c37b91114253d5u, c2 = 0x4cf5ad432745937fu;

static uint64_t rotl(uint64_t x, unsigned n)
{
	return x << n | x >> (64 - n);
}

/* Little-endian on every machine. */
static uint64_t get64(const uint8_t *p)
{
	uint64_t v;

	memcpy(&v, p, sizeof(v));
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	v = __builtin_bswap64(v);
#endif
	return v;
}

static uint64_t mix1(uint64_t k)
{
	return rotl(k * c1, 31) * c2;
}

static uint64_t mix2(uint64_t k)
{
	return rotl(k * c2, 33) * c1;
}

static uint64_t avalanche(uint64_t k)
{
	k = (k ^ k >> 33) * 0xff51afd7ed558ccdu;
	k = (k ^ k >> 33) * 0xc4ceb9fe1a85ec53u;
	return k ^ k >> 33;
}

struct hash128 hash128(struct hash128 seed, struct slice bytes)
{
	uint64_t a = seed.a, b = seed.b;
	const uint8_t *p = bytes.p;
	size_t left = bytes.n;
	uint8_t last[16] = { 0 };

	for (; left >= 16; left -= 16, p += 16) {
		a = (rotl(a ^ mix1(get64(p)), 27) + b) * 5 + 0x52dce729;
		b = (rotl(b ^ mix2(get64(p + 8)), 31) + a) * 5 + 0x38495ab5;
	}
	if (left) {
		memcpy(last, p, left);
		a ^= mix1(get64(last));
		b ^= mix2(get64(last + 8));
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

void hash128_text(struct hash128 h, char out[HASH_TEXT])
{
	for (int i = 0; i < 32; i++) {
		uint64_t half = i < 16 ? h.a : h.b;

		out[i] = "0123456789abcdef"[half >> (60 - 4 * (i % 16)) & 15];
	}
	out[32] = '\0';
}

bool hash128_parse(const char *text, struct hash128 *out)
{
	struct hash128 h = { 0, 0 };

	for (int i = 0; i < 32; i++) {
		char c = text[i];
		uint64_t *half = i < 16 ? &h.a : &h.b;

		if (!((c >= '0' && c <= '9') || (c >= 'a' && c <= 'f')))
			return false;
		*half = *half << 4 | (uint64_t)(c <= '9' ? c - '0' : c - 'a' + 10);
	}
	if (text[32])
		return false;
	*out = h;
	return true;
}
