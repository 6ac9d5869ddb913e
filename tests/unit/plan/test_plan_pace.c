/* SPDX-License-Identifier: Apache-2.0 */
/* How fast a program is with hooks and without. */
#include <math.h>

#include "plan/inplace/pace.h"
#include "test.h"

TEST(marks_are_called_moderately_often_and_the_best_come_first)
{
	struct pace_method all[40];
	uint32_t ids[PACE_MARKS];

	for (uint32_t i = 0; i < 40; i++)
		all[i] = (struct pace_method){ i + 1, pow(2, i), 1 };
	CHECK_INT(pace_choose(all, 40, ids), PACE_MARKS, NULL);
	CHECK_INT(ids[0], 9, "256 is nearest to 200");
	for (size_t i = 0; i < PACE_MARKS; i++)
		CHECK(ids[i] >= 5 && ids[i] <= 12);
	CHECK_INT(pace_choose(all, 3, ids), 0, "all are rare");
	CHECK_INT(pace_choose(all + 30, 10, ids), 0, "all are frequent");
}

TEST(marks_are_what_the_program_spends_its_time_in_if_there_is_such_a_thing)
{
	struct pace_method all[] = {
		{ 1, 1, 1000 },	  /* the whole of it */
		{ 2, 200, 10 },	  /* a clock's */
		{ 3, 2000, 600 }, /* its rounds */
		{ 4, 200, 0 },
	};
	uint32_t ids[PACE_MARKS];

	CHECK_INT(pace_choose(all, 4, ids), 1, NULL);
	CHECK_INT(ids[0], 3, "not what is called best");
	all[2].rate = 1e6;
	CHECK_INT(pace_choose(all, 4, ids), 2, "nothing else is called moderately often");
	for (size_t i = 0; i < 4; i++)
		all[i].time = 0;
	CHECK_INT(pace_choose(all, 4, ids), 2, "no call is timed");
}

TEST(a_program_that_becomes_faster_is_not_steady)
{
	struct pace p = { 0 };

	for (int i = 0; i < 10; i++) {
		CHECK(!pace_is_steady(&p));
		pace_add(&p, 100 + 20 * i, 1e9, 0);
	}
	for (int i = 0; i < 6; i++)
		pace_add(&p, 280, 1e9, 0);
	CHECK(pace_is_steady(&p));
}

TEST(a_program_that_is_still_compiled_is_not_steady)
{
	struct pace p = { 0 };

	for (int i = 0; i < 6; i++)
		pace_add(&p, 100 + i % 3, 1e9, 0.9e9);
	CHECK(!pace_is_steady(&p));
	for (int i = 0; i < 2; i++) {
		pace_add(&p, 100, 1e9, 0.1e9);
		CHECK(!pace_is_steady(&p));
	}
	pace_add(&p, 100, 1e9, 0.1e9);
	CHECK(pace_is_steady(&p));
}

TEST(a_pace_is_sure_when_windows_enough_are_alike)
{
	struct pace p = { 0 };

	for (int i = 0; i < 4; i++) {
		CHECK(!pace_is_sure(&p));
		pace_add(&p, 1000 + i, 1e9, 0);
	}
	CHECK(pace_is_sure(&p));
	for (int i = 0; i < 20; i++)
		pace_add(&p, i % 5 ? 1000 : 3000, 1e9, 0);
	CHECK(!pace_is_sure(&p));
}

TEST(speed_is_the_ratio_of_paces_and_its_margin_that_of_both)
{
	struct pace hooked = { 0 }, bare = { 0 };
	struct estimated e;

	CHECK(pace_speed(&hooked, &bare).margin < 0);
	for (int i = 0; i < 10; i++) {
		pace_add(&hooked, 100 + i % 2, 1e9, 0);
		pace_add(&bare, 400 + 4 * (i % 2), 1e9, 0);
	}
	e = pace_speed(&hooked, &bare);
	CHECK(fabs(e.value - 0.25) < 1e-9 && e.margin > 0 && e.margin < 0.005);
}
