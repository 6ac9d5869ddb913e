/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include <math.h>

#include "base/json.h"
#include "base/mem.h"

static const struct {
	const char *text, *want;
} strings[] = {
	{ "", "\"\"" },
	{ "plain", "\"plain\"" },
	{ "a\"b\\c/d", "\"a\\\"b\\\\c/d\"" },
	{ "\n\t\r\x01\x1f\x7f", "\"\\n\\t\\u000d\\u0001\\u001f\\u007f\"" },
	{ "\xc3\xa9", "\"\xc3\xa9\"" },
	{ "\xe2\x82\xac \xf0\x9f\x98\x80", "\"\xe2\x82\xac \xf0\x9f\x98\x80\"" },
	{ "\xf4\x8f\xbf\xbf", "\"\xf4\x8f\xbf\xbf\"" },		    /* U+10FFFF */
	{ "\xf4\x90\x80\x80", "\"\\ufffd\\ufffd\\ufffd\\ufffd\"" }, /* one above */
	{ "\xc0\x80", "\"\\ufffd\\ufffd\"" },			    /* a NUL as in class files */
	{ "\xc1\xbf", "\"\\ufffd\\ufffd\"" },			    /* longer than necessary */
	{ "\xe0\x9f\xbf", "\"\\ufffd\\ufffd\\ufffd\"" },	    /* the same in three */
	{ "\xf0\x8f\xbf\xbf", "\"\\ufffd\\ufffd\\ufffd\\ufffd\"" }, /* the same in four */
	{ "\xed\xa0\x80", "\"\\ufffd\\ufffd\\ufffd\"" },	    /* a surrogate */
	{ "\xed\x9f\xbf", "\"\xed\x9f\xbf\"" },			    /* the one before */
	{ "\x80", "\"\\ufffd\"" },
	{ "a\xc3", "\"a\\ufffd\"" }, /* cut off */
	{ "a\xe2\x82", "\"a\\ufffd\\ufffd\"" },
	{ "\xc3(", "\"\\ufffd(\"" },
	{ "\xff\xfe", "\"\\ufffd\\ufffd\"" },
};

TEST(json_strings_are_escaped_and_always_valid_utf8)
{
	for (size_t i = 0; i < COUNT(strings); i++) {
		struct buf b = { 0 };
		struct json j = json_to(&b);

		json_text(&j, strings[i].text);
		CHECK_MEM(b.p, b.n, strings[i].want, strlen(strings[i].want), strings[i].want);
		buf_release(&b);
	}
}

TEST(json_keeps_a_nul_inside_a_slice)
{
	struct buf b = { 0 };
	struct json j = json_to(&b);

	json_str(&j, (struct slice){ (const uint8_t *)"a\0b", 3 });
	CHECK_MEM(b.p, b.n, "\"a\\u0000b\"", 10, NULL);
	buf_release(&b);
}

TEST(json_puts_commas_by_itself)
{
	static const char want[] = "{\"a\":1,\"b\":[-2,true,null,{}],\"c\":{\"d\":[]},\"e\":\"x\"}";
	struct buf b = { 0 };
	struct json j = json_to(&b);

	json_open(&j, '{');
	json_key(&j, "a");
	json_u64(&j, 1);
	json_key(&j, "b");
	json_open(&j, '[');
	json_i64(&j, -2);
	json_bool(&j, true);
	json_null(&j);
	json_open(&j, '{');
	json_close(&j, '}');
	json_close(&j, ']');
	json_key(&j, "c");
	json_open(&j, '{');
	json_key(&j, "d");
	json_open(&j, '[');
	json_close(&j, ']');
	json_close(&j, '}');
	json_key(&j, "e");
	json_text(&j, "x");
	json_close(&j, '}');
	CHECK_MEM(b.p, b.n, want, sizeof(want) - 1, NULL);
	buf_release(&b);
}

TEST(json_numbers_come_out_whole)
{
	static const char want[] =
		"[18446744073709551615,-9223372036854775808,0.5,null,null,1e+300]";
	struct buf b = { 0 };
	struct json j = json_to(&b);

	json_open(&j, '[');
	json_u64(&j, UINT64_MAX);
	json_i64(&j, INT64_MIN);
	json_double(&j, 0.5);
	json_double(&j, (double)NAN);
	json_double(&j, (double)INFINITY);
	json_double(&j, 1e300);
	json_close(&j, ']');
	CHECK_MEM(b.p, b.n, want, sizeof(want) - 1, NULL);
	buf_release(&b);
}

TEST(json_members_are_put_with_their_keys)
{
	static const char want[] = "{\"s\":\"a\",\"t\":\"b\",\"u\":\"\",\"n\":1,\"i\":-1,\"d\":0.5,"
				   "\"b\":true,\"l\":[2]}";
	struct buf b = { 0 };
	struct json j = json_to(&b);

	json_open(&j, '{');
	json_put_str(&j, "s", slice_str("a"));
	json_put_nonempty(&j, "t", "b");
	json_put_text(&j, "u", "");
	json_put_nonempty(&j, "left out", "");
	json_put_nonempty(&j, "as well", NULL);
	json_put_u64(&j, "n", 1);
	json_put_i64(&j, "i", -1);
	json_put_double(&j, "d", 0.5);
	json_put_bool(&j, "b", true);
	json_put_open(&j, "l", '[');
	json_u64(&j, 2);
	json_close(&j, ']');
	json_close(&j, '}');
	CHECK_MEM(b.p, b.n, want, sizeof(want) - 1, NULL);
	buf_release(&b);
}

TEST(json_error_is_the_bufs)
{
	struct buf b = { 0 };
	struct json j = json_to(&b);

	mem_fail_at(0);
	json_text(&j, "x");
	json_u64(&j, 1);
	mem_fail_at(-1);
	CHECK_INT(b.err, E_NO_MEMORY, NULL);
	CHECK_INT(b.n, 0, NULL);
	buf_release(&b);
}
