/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>

#include "plan/split.h"
#include "test.h"

static void call(struct split *s, double ns, const char *first, const char *second)
{
	split_call(s, ns);
	split_value(s, 1, slice_str(first));
	if (second)
		split_value(s, 2, slice_str(second));
}

static const char *found(struct split *s, double limit, char text[200])
{
	struct split_answer a;

	split_find(s, limit, &a);
	snprintf(text, 200, "%.*s", (int)a.condition.n,
		 a.condition.n ? (const char *)a.condition.p : "");
	return text;
}

TEST(split_tells_the_value_that_slow_calls_have)
{
	char text[200], value[80];
	struct split s;

	split_init(&s);
	for (int i = 0; i < 40; i++) {
		snprintf(value, sizeof(value), "Shop$Order{id=%d, kind=%s, lines=%d}", i,
			 i % 4 == 1 ? "GIFT"
			 : i % 2    ? "PLAIN"
				    : "EXPRESS",
			 i % 13);
		call(&s, i % 4 == 1 ? 40e6 + i : 20e3 + i, value, NULL);
	}
	CHECK_STR(found(&s, 1e6, text), "$1.kind == \"GIFT\"", NULL);
	CHECK(split_limit(&s) > 21e3 && split_limit(&s) <= 41e6);
	split_release(&s);
}

TEST(split_tells_one_tenant_of_many)
{
	char text[200], value[80];
	struct split s;

	split_init(&s);
	for (int i = 0; i < 1200; i++) {
		snprintf(value, sizeof(value), "\"t-%d\"", i % 400);
		call(&s, i % 400 == 137 ? 90e6 : 10e3 + i, value, "7");
	}
	CHECK_STR(found(&s, split_limit(&s), text), "$1 == \"t-137\"", NULL);
	split_release(&s);
}

TEST(split_tells_sizes)
{
	char text[200], value[120];
	struct split s;

	split_init(&s);
	for (int i = 0; i < 60; i++) {
		snprintf(value, sizeof(value), "ArrayList(%d)[1, 2, ... more]",
			 i % 10 == 3 ? 5000 + i : i % 7);
		call(&s, i % 10 == 3 ? 80e6 : 1e5, value, NULL);
	}
	CHECK_STR(found(&s, 1e7, text), "$1.size() > 6", NULL);
	split_release(&s);
}

TEST(split_tells_nothing_when_data_do_not_matter)
{
	char text[200], value[40];
	struct split s;

	split_init(&s);
	for (int i = 0; i < 100; i++) {
		snprintf(value, sizeof(value), "%d", i * 7 % 10);
		call(&s, i % 9 == 0 ? 50e6 : 1e5, value, "\"a, b) {\"");
	}
	CHECK_STR(found(&s, 1e6, text), "", NULL);
	split_release(&s);
	split_init(&s);
	for (int i = 0; i < 100; i++)
		call(&s, 1e6 + 1e4 * (i % 7), "1", NULL);
	CHECK_INT((int)split_limit(&s), 0, "all alike");
	split_release(&s);
}

TEST(split_reads_values_that_were_cut_off)
{
	static const char *const bad[] = { "Cart{id=7, lines=ArrayList(2)[",
					   "\"abc",
					   "{",
					   "}",
					   "=",
					   "(",
					   "[9",
					   "^Cart",
					   "'",
					   "Order{=,=}",
					   "",
					   "a=b, c" };
	struct split_answer a;
	struct split s;

	split_init(&s);
	for (size_t i = 0; i < COUNT(bad); i++)
		call(&s, i % 2 ? 1e9 : 1, bad[i], bad[i]);
	split_find(&s, 1e6, &a);
	CHECK_INT(s.n, COUNT(bad), NULL);
	split_release(&s);
}

/* Two slow calls that agree in a rare value are enough; in a frequent one they may agree by chance. */
TEST(split_asks_how_probable_it_is_by_chance)
{
	char text[200], value[40];
	struct split s;

	split_init(&s);
	for (int i = 0; i < 800; i++) {
		snprintf(value, sizeof(value), "\"t-%d\"", i % 400);
		call(&s, i % 400 == 137 ? 90e6 : 10e3, value, i % 2 ? "7" : "8");
	}
	CHECK_STR(found(&s, 1e6, text), "$1 == \"t-137\"", NULL);
	split_release(&s);
	split_init(&s);
	for (int i = 0; i < 40; i++) {
		snprintf(value, sizeof(value), "%d", i % 10);
		call(&s, i == 13 || i == 23 ? 90e6 : 10e3, value, NULL);
	}
	CHECK_STR(found(&s, 1e6, text), "", "one call in ten has a 3");
	split_release(&s);
}

/* A busy machine stalls calls for any time, which is no reason to doubt what has the time. */
TEST(split_weighs_slow_calls_by_their_time)
{
	char text[200], value[40];
	struct split s;

	split_init(&s);
	for (int i = 0; i < 1000; i++) {
		bool slow = i % 100 == 37, stalled = i % 50 == 11;

		snprintf(value, sizeof(value), "\"t-%d\"", i % 100);
		call(&s, slow ? 400e6 : stalled ? 1e5 * (1 + i % 90) : 10e3 + i, value, NULL);
	}
	CHECK_STR(found(&s, 1e6, text), "$1 == \"t-37\"", NULL);
	CHECK_STR(found(&s, split_limit(&s), text), "$1 == \"t-37\"", NULL);
	split_release(&s);
}
