/* SPDX-License-Identifier: Apache-2.0 */
/* test_cli_layout.c - values of watched calls over as many lines as they need. */
#include "cli/screen/layout.h"

#include "test.h"

static const char *lay(struct buf *out, const char *value, unsigned indent, unsigned width)
{
	buf_clear(out);
	layout_put(out, slice_str(value), indent, width);
	buf_u8(out, '\0');
	return (const char *)out->p;
}

TEST(a_value_that_fits_stays_on_its_line)
{
	struct buf out = { 0 };

	CHECK_STR(lay(&out, "Cart{id=7, lines=ArrayList(0)[]}", 0, 80),
		  "Cart{id=7, lines=ArrayList(0)[]}\n", NULL);
	CHECK_STR(lay(&out, "\"a long text, with {brackets} in it\"", 0, 10),
		  "\"a long text, with {brackets} in it\"\n", "quoted texts are not broken");
	buf_release(&out);
}

TEST(a_long_value_is_broken_at_its_brackets)
{
	struct buf out = { 0 };

	CHECK_STR(lay(&out, "Cart{id=7, to=\"}, {\", lines=List(2)[Line{a=1}, Line{a=2}]}", 2, 30),
		  "Cart{\n"
		  "    id=7,\n"
		  "    to=\"}, {\",\n"
		  "    lines=List(2)[\n"
		  "      Line{a=1},\n"
		  "      Line{a=2}\n"
		  "    ]\n"
		  "  }\n",
		  NULL);
	CHECK_STR(lay(&out, "Basket(2)[{a=1}, {b=2}]{total=3}", 0, 20),
		  "Basket(2)[\n"
		  "  {a=1},\n"
		  "  {b=2}\n"
		  "]{total=3}\n",
		  "fields behind elements");
	buf_release(&out);
}

TEST(short_values_share_a_line)
{
	struct buf out = { 0 };

	CHECK_STR(lay(&out, "int[9]{100, 200, 300, 400, 500, 600}", 0, 20),
		  "int[9]{\n"
		  "  100, 200, 300,\n"
		  "  400, 500, 600\n"
		  "}\n",
		  NULL);
	buf_release(&out);
}

TEST(a_value_that_was_cut_off_is_laid_out_as_far_as_it_goes)
{
	struct buf out = { 0 };

	CHECK_STR(lay(&out, "Cart{id=7, lines=List(2)[Line{a=\"xx...", 0, 20),
		  "Cart{\n"
		  "  id=7,\n"
		  "  lines=List(2)[\n"
		  "    Line{a=\"xx...\n",
		  NULL);
	CHECK_STR(lay(&out, "]}){[(\"'\\", 0, 1), "]}){\n  [(\"'\\\n", "nonsense");
	CHECK_STR(lay(&out, "", 0, 1), "\n", NULL);
	buf_release(&out);
}

TEST(lists_are_taken_apart_at_their_own_commas)
{
	static const char *const want[] = { "1", "\"a, b\"", "f(x, y)", "','", "'\\''", "[" };
	struct slice list = layout_inside(slice_str("(1, \"a, b\", f(x, y), ',', '\\'', [")), one;
	size_t n = 0;

	while (layout_next(&list, &one) && n < COUNT(want)) {
		CHECK(slice_is(one, want[n]));
		n++;
	}
	CHECK_INT(n, COUNT(want), NULL);
	list = layout_inside(slice_str("()"));
	CHECK(!layout_next(&list, &one));
	CHECK(slice_is(layout_inside(slice_str("(a)(b)")), "(a)(b)"));
}
