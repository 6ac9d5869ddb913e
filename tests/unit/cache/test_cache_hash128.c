/* SPDX-License-Identifier: Apache-2.0 */
#include "cache/hash128.h"
#include "test.h"

static struct hash128 of(const char *text)
{
	return hash128((struct hash128){ 0, 0 }, slice_str(text));
}

TEST(hash_gives_what_its_design_gives_elsewhere)
{
	static const struct {
		const char *text, *want;
	} cases[] = {
		{ "", "00000000000000000000000000000000" },
		{ "The quick brown fox jumps over the lazy dog",
		  "e34bbc7bbc071b6c7a433ca9c49a9347" },
		{ "hello, world", "342fac623a5ebc8e4cdcbc079642414d" },
	};
	char text[HASH_TEXT];

	for (size_t i = 0; i < COUNT(cases); i++) {
		hash128_text(of(cases[i].text), text);
		CHECK_STR(text, cases[i].want, cases[i].text);
	}
}

static void check_every_bit(size_t n)
{
	static uint8_t bytes[2000];
	struct slice all = { bytes, n };
	struct hash128 zero = { 0, 0 }, before = hash128(zero, all);
	int changed = 0;

	for (size_t i = 0; i < n * 8; i++) {
		struct hash128 after;

		bytes[i / 8] ^= (uint8_t)(1u << i % 8);
		after = hash128(zero, all);
		bytes[i / 8] ^= (uint8_t)(1u << i % 8);
		CHECK(after.a != before.a && after.b != before.b);
		changed += __builtin_popcountll(after.a ^ before.a);
	}
	changed /= (int)n * 8; /* about half of 64 bits, each time */
	CHECK(changed > 28 && changed < 36);
}

TEST(hash_changes_with_every_bit)
{
	check_every_bit(67);
	check_every_bit(1999); /* in four parts, and a rest */
}

TEST(hash_tells_parts_of_long_bytes_apart)
{
	static uint8_t bytes[1 << 10];
	struct hash128 zero = { 0, 0 }, got[6];

	for (size_t i = 0; i < 4; i++) { /* the same in each of the four parts */
		bytes[256 * i + 100] = 1;
		got[i] = hash128(zero, (struct slice){ bytes, sizeof(bytes) });
		bytes[256 * i + 100] = 0;
	}
	got[4] = hash128(zero, (struct slice){ bytes, sizeof(bytes) });
	got[5] = hash128(zero, (struct slice){ bytes, sizeof(bytes) - 1 });
	for (size_t i = 0; i < 6; i++)
		for (size_t k = 0; k < i; k++)
			CHECK(!hash128_eq(got[i], got[k]));
}

TEST(hash_keeps_parts_apart)
{
	struct hash128 x = hash128(of("ab"), slice_str("c")), y = hash128(of("a"), slice_str("bc"));

	CHECK(!hash128_eq(x, y));
	CHECK(!hash128_eq(x, of("abc")));
	CHECK(!hash128_eq(of("a"), hash128(of("a"), slice_str(""))));
}

TEST(hash_as_text_is_32_hex_digits)
{
	char text[HASH_TEXT];

	hash128_text((struct hash128){ 0x0123456789abcdef, 0xfe }, text);
	CHECK_STR(text, "0123456789abcdef00000000000000fe", NULL);
}
