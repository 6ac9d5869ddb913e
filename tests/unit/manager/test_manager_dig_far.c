/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include "manager/fleet/dig_far.h"

static const struct {
	const char *label, *bytes;
	size_t n;
	int want;
} damaged[] = {
	{ "no record", "", 0, DIG_FAR_MORE },
	{ "half a head", "e\0\0", 3, DIG_FAR_MORE },
	{ "half a text", "e\0\0\0\5abc", 8, DIG_FAR_MORE },
	{ "a huge length", "e\377\377\377\377", 5, E_SYNTAX },
	{ "an unknown kind", "x\0\0\0\1a", 6, E_SYNTAX },
	{ "a status of no byte", "s\0\0\0\0", 5, E_SYNTAX },
	{ "a status of two", "s\0\0\0\2ab", 7, E_SYNTAX },
};

TEST(records_of_a_far_dig_may_be_damaged)
{
	for (size_t i = 0; i < COUNT(damaged); i++) {
		struct buf in = { 0 }, out = { 0 }, err = { 0 }, rules = { 0 };

		buf_bytes(&in, damaged[i].bytes, damaged[i].n);
		CHECK_INT(dig_far_take(&in, &out, &err, &rules), damaged[i].want, damaged[i].label);
		CHECK_INT(out.n + err.n + rules.n, 0, damaged[i].label);
		buf_release(&in);
	}
}

TEST(what_a_far_dig_said_comes_in_pieces_of_any_size)
{
	static const uint8_t status[] = { 1 };
	struct buf all = { 0 }, in = { 0 }, out = { 0 }, err = { 0 }, rules = { 0 };
	int rc = DIG_FAR_MORE;

	dig_far_put(&all, DIG_FAR_ERR, slice_str("line\n"));
	dig_far_put(&all, DIG_FAR_OUT, slice_str("{}"));
	dig_far_put(&all, DIG_FAR_ERR, slice_str("another\n"));
	dig_far_put(&all, DIG_FAR_RULES, slice_str("a::b\n"));
	dig_far_put(&all, DIG_FAR_OUT, slice_str(""));
	dig_far_put(&all, DIG_FAR_STATUS, (struct slice){ status, 1 });
	for (size_t i = 0; i < all.n; i++) {
		CHECK_INT(rc, DIG_FAR_MORE, "not before the end");
		buf_u8(&in, all.p[i]);
		rc = dig_far_take(&in, &out, &err, &rules);
	}
	CHECK_INT(rc, 1, "its status");
	CHECK_MEM(err.p, err.n, "line\nanother\n", 13, NULL);
	CHECK_MEM(out.p, out.n, "{}", 2, NULL);
	CHECK_MEM(rules.p, rules.n, "a::b\n", 5, NULL);
	buf_release(&all);
	buf_release(&in);
	buf_release(&out);
	buf_release(&err);
	buf_release(&rules);
}
