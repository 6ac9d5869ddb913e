/* SPDX-License-Identifier: Apache-2.0 */
#include "base/visible.h"

#include "base/utf8.h"
#include "test.h"

static const struct {
	const char *text, *line, *lines, *ascii;
} cases[] = {
	{ "plain text", "plain text", "plain text", "plain text" },
	{ "a\nb\tc", "a\\nb\\tc", "a\nb\tc", "a\\nb\\tc" },
	{ "\033[31mred", "\\u001b[31mred", "\\u001b[31mred", "\\u001b[31mred" },
	{ "\r\177\007", "\\r\\u007f\\u0007", "\\r\\u007f\\u0007", "\\r\\u007f\\u0007" },
	{ "\302\2331m", "\\u009b1m", "\\u009b1m", "\\u009b1m" }, /* CSI in one character */
	{ "\2331m", "\\x9b1m", "\\x9b1m", "\\x9b1m" },		 /* ... and in one byte */
	{ "\342\200\256x\342\201\246", "\\u202ex\\u2066", "\\u202ex\\u2066", "\\u202ex\\u2066" },
	{ "a\342\200\213b\357\273\277", "a\\u200bb\\ufeff", "a\\u200bb\\ufeff",
	  "a\\u200bb\\ufeff" },
	{ "\363\240\201\201", "\\U000e0041", "\\U000e0041", "\\U000e0041" },
	{ "\377\303", "\\xff\\xc3", "\\xff\\xc3", "\\xff\\xc3" },
	{ "\300\200", "\\xc0\\x80", "\\xc0\\x80", "\\xc0\\x80" }, /* longer than necessary */
	{ "\355\240\200", "\\xed\\xa0\\x80", "\\xed\\xa0\\x80", "\\xed\\xa0\\x80" },
	{ "\303\244\342\202\254", "\303\244\342\202\254", "\303\244\342\202\254",
	  "\\u00e4\\u20ac" },
	{ "\360\237\222\243", "\360\237\222\243", "\360\237\222\243", "\\U0001f4a3" },
	{ "\\u001b", "\\u001b", "\\u001b", "\\u001b" },
};

static void check(const char *text, unsigned how, const char *want)
{
	struct buf out = { 0 };

	visible_put(&out, slice_str(text), how);
	CHECK_MEM(out.p, out.n, want, strlen(want), want);
	buf_release(&out);
}

TEST(visible_text_has_escapes_for_what_a_terminal_would_act_on_or_hide)
{
	for (size_t i = 0; i < COUNT(cases); i++) {
		check(cases[i].text, VISIBLE_LINE, cases[i].line);
		check(cases[i].text, VISIBLE_LINES, cases[i].lines);
		check(cases[i].text, VISIBLE_ASCII, cases[i].ascii);
	}
}

/* A stream may be cut anywhere; what is held back must be the begin of one character. */
TEST(visible_text_can_be_cut_anywhere)
{
	static const char text[] = "a\303\244\342\202\254\360\237\222\243\302\233\377\355\240\200b";
	struct buf whole = { 0 };

	visible_put(&whole, slice_str(text), VISIBLE_LINES);
	for (size_t cut = 0; cut < sizeof(text); cut++) {
		struct slice first = { (const uint8_t *)text, cut };
		size_t held = visible_unfinished(first);
		struct buf parts = { 0 };

		CHECK(held < 4);
		first.n -= held;
		visible_put(&parts, first, VISIBLE_LINES);
		visible_put(&parts, slice_str(text + first.n), VISIBLE_LINES);
		CHECK_MEM(parts.p, parts.n, whole.p, whole.n, text + cut);
		buf_release(&parts);
	}
	buf_release(&whole);
}

TEST(visible_text_never_has_a_control_character)
{
	struct buf out = { 0 };

	for (uint32_t seed = 1; seed < 3000; seed++) {
		uint8_t bytes[12];
		uint32_t state = seed * 2654435761u;

		for (size_t i = 0; i < sizeof(bytes); i++) {
			state = state * 1664525 + 1013904223;
			bytes[i] = (uint8_t)(state >> 24);
		}
		buf_clear(&out);
		visible_put(&out, (struct slice){ bytes, sizeof(bytes) }, VISIBLE_LINE);
		for (size_t i = 0; i < out.n;) {
			uint32_t c = 0;
			size_t n = utf8_decode(out.p + i, out.n - i, &c);

			CHECK(n > 0 && visible_is(c));
			i += n ? n : 1;
		}
	}
	buf_release(&out);
}
