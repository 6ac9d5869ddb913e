/* SPDX-License-Identifier: Apache-2.0 */
/* Characters as bytes; and the other small helpers of src/base that are headers alone. */
#include "base/fnv.h"
#include "base/random.h"
#include "base/search.h"
#include "base/slice.h"
#include "base/utf8.h"
#include "test.h"

TEST(utf8_reads_what_it_has_written)
{
	static const uint32_t edges[] = { 0,	  0x7f,	  0x80,	  0x7ff,   0x800,
					  0xd7ff, 0xe000, 0xffff, 0x10000, 0x10ffff };

	for (size_t i = 0; i < COUNT(edges); i++) {
		uint8_t bytes[4];
		size_t n = utf8_encode(edges[i], bytes);
		uint32_t c = 1;

		CHECK_INT(utf8_decode(bytes, n, &c), n, NULL);
		CHECK_INT(c, edges[i], NULL);
		CHECK_INT(utf8_length(bytes[0]), n, NULL);
		CHECK_INT(utf8_decode(bytes, n - 1, &c), 0, "cut off");
	}
}

TEST(utf8_refuses_long_forms_halves_of_pairs_and_what_lies_behind_the_last)
{
	static const char *const wrong[] = { "\x80",
					     "\xc0\x80",
					     "\xe0\x9f\xbf",
					     "\xed\xa0\x80",
					     "\xf0\x8f\xbf\xbf",
					     "\xf4\x90\x80\x80",
					     "\xff",
					     "\xc3(" };

	for (size_t i = 0; i < COUNT(wrong); i++) {
		struct slice s = slice_str(wrong[i]);

		CHECK_INT(utf8_size(s.p, s.p + s.n), 0, wrong[i]);
	}
}

TEST(search_gives_the_first_that_is_not_before)
{
	static const int list[] = { 1, 3, 3, 7 };
	static const struct {
		int key;
		size_t at;
	} cases[] = { { 0, 0 }, { 1, 0 }, { 2, 1 }, { 3, 1 }, { 7, 3 }, { 8, 4 } };

	for (size_t i = 0; i < COUNT(cases); i++)
		CHECK_INT(SEARCH(COUNT(list), at, list[at] < cases[i].key), cases[i].at, NULL);
	CHECK_INT(SEARCH(0, at, list[at] < 1), 0, "of none");
}

TEST(fnv_gives_the_published_numbers)
{
	CHECK(fnv_add(FNV_START, "", 0) == FNV_START);
	CHECK(fnv_add(FNV_START, "a", 1) == 0xaf63dc4c8601ec8cu);
	CHECK(fnv_add(FNV_START, "foobar", 6) == 0x85944171f73967e8u);
}

TEST(random_numbers_stay_below_what_was_asked)
{
	uint64_t state = 1;
	unsigned seen = 0;

	for (int i = 0; i < 1000; i++)
		seen |= 1u << random_below(&state, 8);
	CHECK_INT(seen, 0xff, "each of them comes");
}

TEST(slices_end_with_a_text_or_not)
{
	CHECK(slice_ends(slice_str("a.class"), ".class"));
	CHECK(slice_ends(slice_str(".class"), ".class"));
	CHECK(!slice_ends(slice_str("class"), ".class"));
	CHECK(!slice_ends(slice_str("a.clasp"), ".class"));
}
