/* SPDX-License-Identifier: Apache-2.0 */
#include "cache/hash.h"
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

TEST(hash_changes_with_every_bit)
{
	uint8_t bytes[67] = { 0 };
	struct slice all = { bytes, sizeof(bytes) };
	struct hash128 zero = { 0, 0 }, before = hash128(zero, all);
	int changed = 0;

	for (size_t i = 0; i < sizeof(bytes) * 8; i++) {
		struct hash128 after;

		bytes[i / 8] ^= (uint8_t)(1u << i % 8);
		after = hash128(zero, all);
		bytes[i / 8] ^= (uint8_t)(1u << i % 8);
		CHECK(after.a != before.a && after.b != before.b);
		changed += __builtin_popcountll(after.a ^ before.a);
	}
	changed /= (int)sizeof(bytes) * 8; /* about half of 64 bits, each time */
	CHECK(changed > 28 && changed < 36);
}

TEST(hash_keeps_parts_apart)
{
	struct hash128 x = hash128(of("ab"), slice_str("c")), y = hash128(of("a"), slice_str("bc"));

	CHECK(!hash128_eq(x, y));
	CHECK(!hash128_eq(x, of("abc")));
	CHECK(!hash128_eq(of("a"), hash128(of("a"), slice_str(""))));
}

TEST(hash_as_text_is_read_again)
{
	struct hash128 h = of("x"), got = { 1, 2 };
	char text[HASH_TEXT];

	hash128_text(h, text);
	CHECK(hash128_parse(text, &got) && hash128_eq(h, got));
	text[31] = 'G';
	CHECK(!hash128_parse(text, &got));
	CHECK(!hash128_parse("12", &got));
}
