/* SPDX-License-Identifier: Apache-2.0 */
/* test_tree_cost.c - calibrations as text. */
#include "tree/cost.h"

#include "test.h"

static void fill(struct costs *c, struct buf *text)
{
	*c = (struct costs){ .mechanism = "JNI critical", .pulse = 27.25, .noise = 0.0125 };
	for (unsigned t = 0; t < COST_TIERS; t++)
		for (unsigned k = 0; k < COST_KINDS; k++)
			for (unsigned i = 0; i < COST_CLASSES; i++)
				c->of[t][k][i].inner = (struct span){ -1.5 - i, t, k + 20 };
	buf_text(text, "sonde calibration 3\ncpu Some Processor\n");
	cost_write(c, text);
	buf_text(text, "end\n");
}

TEST(a_calibration_is_read_as_it_was_written)
{
	struct costs c, read;
	struct buf text = { 0 };

	fill(&c, &text);
	CHECK_INT(cost_read(buf_slice(&text), &read), 0, NULL);
	CHECK_MEM(&read, sizeof(read), &c, sizeof(c), NULL);
	CHECK_INT(cost_line(buf_slice(&text), "cpu").n, 14, NULL);
	CHECK(!cost_line(buf_slice(&text), "kernel").p);
	buf_release(&text);
}

TEST(a_calibration_that_is_cut_is_refused)
{
	struct costs c, read = { .mechanism = "as before" };
	struct buf text = { 0 };

	fill(&c, &text);
	for (size_t n = 0; n < text.n; n += test_is_short() ? 7 : 1)
		if (cost_read((struct slice){ text.p, n }, &read) >= 0)
			CHECK_INT(n, -1, "was taken");
	CHECK_STR(read.mechanism, "as before", "untouched");
	buf_release(&text);
}

TEST(a_calibration_that_makes_no_sense_is_refused)
{
	static const char *const wrong[] = { "nan", "-nan", "inf", "1e300", "x" };
	struct costs c, read;
	struct buf text = { 0 };

	for (size_t i = 0; i < COUNT(wrong); i++) {
		buf_clear(&text);
		buf_printf(&text,
			   "sonde calibration 3\nmechanism JNI\npulse 27.5\nnoise 0.01\n"
			   "cost compiled every 0 inner 1 %s 3 outer 1 2 3 pair 1 2 3\nend\n",
			   wrong[i]);
		CHECK_INT(cost_read(buf_slice(&text), &read), E_SYNTAX, wrong[i]);
	}
	buf_clear(&text);
	fill(&c, &text);
	text.p[0] = 'S';
	CHECK_INT(cost_read(buf_slice(&text), &read), E_MAGIC, NULL);
	buf_release(&text);
}

TEST(costs_go_with_the_pace_of_the_clock)
{
	struct costs c = { .pulse = 20 }, now;
	struct span *inner = &c.of[COST_COMPILED][COST_RARE][1].inner;
	const struct span *then = &now.of[COST_COMPILED][COST_RARE][1].inner;

	*inner = (struct span){ 25, 30, 40 };
	cost_at(&c, 0, &now);
	CHECK_MEM(&now, sizeof(now), &c, sizeof(c), "nothing is known: nothing changes");
	cost_at(&c, 20, &now);
	CHECK_MEM(&now, sizeof(now), &c, sizeof(c), "the same pace");
	cost_at(&c, 30, &now);
	CHECK(then->mid == 45);
	CHECK(then->low < 37.5 && then->low > 30);
	CHECK(then->high > 60 && then->high < 70);
	cost_at(&c, 2000, &now);
	CHECK(then->mid == 90); /* that is no clock */
	c.pulse = 0;
	cost_at(&c, 30, &now);
	CHECK(then->mid == 30);
}

TEST(length_classes_grow_with_the_time)
{
	CHECK_INT(cost_class(0), 0, NULL);
	CHECK_INT(cost_class(39.9), 0, NULL);
	CHECK_INT(cost_class(40), 1, NULL);
	CHECK_INT(cost_class(1e9), COST_CLASSES - 1, NULL);
}
