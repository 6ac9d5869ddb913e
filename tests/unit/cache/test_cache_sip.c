/* SPDX-License-Identifier: Apache-2.0 */
#include "cache/sip.h"

#include <stdio.h>

#include "test.h"

enum { MOST = 64 };

static struct hash128 of(struct sip_key key, const uint8_t *p, size_t words, size_t n)
{
	struct sip s;

	sip_begin(&s, key);
	for (size_t i = 0; i < words; i++) {
		uint64_t w = 0;

		for (size_t k = 0; k < 8; k++)
			w |= (uint64_t)p[8 * i + k] << 8 * k;
		sip_word(&s, w);
	}
	return sip_end(&s, (struct slice){ p + 8 * words, n - 8 * words });
}

/* The authors' own vectors (vectors_sip128): key 00 01 .. 0f, text 00 01 .. of i bytes. */
TEST(sip_gives_what_its_authors_publish)
{
	static const char *const want[] = {
		"a3817f04ba25a8e66df67214c7550293", "da87c1d86b99af44347659119b22fc45",
		"8177228da4a45dc7fca38bdef60affe4", "9c70b60c5267a94e5f33b6b02985ed51",
		"f88164c12d9c8faf7d0f6e7c7bcd5579", "1368875980776f8854527a07690e9627",
		"14eeca338b208613485ea0308fd7a15e", "a1f1ebbed8dbc153c0b84aa61ff08239",
		"3b62a9ba6258f5610f83e264f31497b4", "264499060ad9baabc47f8b02bb6d71ed",
		"00110dc378146956c95447d3f3d0fbba", "0151c568386b6677a2b4dc6f81e5dc18",
		"d626b266905ef35882634df68532c125", "9869e247e9c08b10d029934fc4b952f7",
		"31fcefac66d7de9c7ec7485fe4494902", "5493e99933b0a8117e08ec0f97cfc3d9",
		"6ee2a4ca67b054bbfd3315bf85230577",
	};
	uint8_t bytes[MOST];
	char text[HASH_TEXT];

	for (size_t i = 0; i < MOST; i++)
		bytes[i] = (uint8_t)i;
	for (size_t i = 0; i < COUNT(want); i++) {
		struct hash128 h = of(sip_key(bytes), bytes, 0, i);

		/* as bytes: each half little-endian */
		h.a = __builtin_bswap64(h.a);
		h.b = __builtin_bswap64(h.b);
		hash128_text(h, text);
		CHECK_STR(text, want[i], NULL);
	}
}

TEST(sip_does_not_mind_in_which_pieces_a_text_comes)
{
	uint8_t bytes[MOST];
	struct sip_key key = { 1, 2 };

	for (size_t i = 0; i < MOST; i++)
		bytes[i] = (uint8_t)(i * 7);
	for (size_t n = 0; n < MOST; n++)
		for (size_t words = 0; 8 * words <= n; words++)
			CHECK(hash128_eq(of(key, bytes, words, n), of(key, bytes, 0, n)));
}
