/* SPDX-License-Identifier: Apache-2.0 */
/* Ratios that disturbed windows do not move. */
#include <math.h>

#include "plan/stats/steady.h"
#include "test.h"

static double any(uint64_t *x)
{
	*x ^= *x << 13;
	*x ^= *x >> 7;
	*x ^= *x << 17;
	return (double)(*x >> 11) / 9007199254740992.0;
}

TEST(a_ratio_of_no_window_or_of_one_stretch_has_no_margin)
{
	struct steady s = { 0 };

	steady_add(&s, 100, 0, 0);
	CHECK(steady_ratio(&s).margin < 0 && s.windows == 0);
	steady_add(&s, 100, 4, 0);
	steady_add(&s, 100, 4, 0);
	CHECK(steady_ratio(&s).value == 25 && steady_ratio(&s).margin < 0);
	CHECK(steady_plain(&s) == 25);
}

TEST(disturbed_windows_do_not_move_the_ratio_but_the_plain_one)
{
	struct steady s = { 0 };
	uint64_t seed = 5;

	for (int i = 0; i < 30; i++)
		steady_add(&s, i % 15 == 7 ? 1e6 : 100 * (49 + 2 * any(&seed)), 100, (uint32_t)i);
	CHECK(fabs(steady_ratio(&s).value - 50) < 1 && steady_ratio(&s).margin < 1);
	CHECK(steady_plain(&s) > 500);
}

TEST(a_machine_that_is_slower_for_a_while_is_no_disturbance)
{
	struct steady s = { 0 };
	uint64_t seed = 5;

	for (int i = 0; i < 30; i++)
		steady_add(&s, 100 * ((i % 15 == 7 ? 70 : 49) + 2 * any(&seed)), 100, (uint32_t)i);
	CHECK(fabs(steady_ratio(&s).value - steady_plain(&s)) < 1e-3);
	CHECK(steady_ratio(&s).value > 51);
}

TEST(any_number_of_windows_is_kept_as_few)
{
	struct steady s = { 0 };

	for (int i = 0; i < 10000; i++)
		steady_add(&s, 6 * (1 + i % 3), 2 * (1 + i % 3), (uint32_t)i);
	CHECK(s.n <= STEADY_MAX && s.n >= STEADY_MAX / 2 && s.windows == 10000);
	CHECK(fabs(steady_ratio(&s).value - 3) < 1e-6 && fabs(steady_plain(&s) - 3) < 1e-9);
	CHECK(steady_ratio(&s).margin >= 0 && steady_ratio(&s).margin < 1e-6);
}

TEST(the_interval_holds_the_truth_in_most_cases)
{
	uint64_t seed = 99;
	int held = 0;

	for (int round = 0; round < 400; round++) {
		struct steady s = { 0 };
		struct estimated e;

		for (int i = 0; i < 25; i++) {
			double calls = 10 + floor(20 * any(&seed));

			steady_add(&s, calls * (90 + 20 * any(&seed)), calls, (uint32_t)i);
		}
		e = steady_ratio(&s);
		held += fabs(e.value - 100) <= e.margin;
	}
	CHECK(held >= 360 && held < 396);
}

TEST(windows_of_one_stretch_are_off_together_and_the_interval_knows)
{
	uint64_t seed = 7;
	int held = 0;

	for (int round = 0; round < 400; round++) {
		struct steady s = { 0 };
		struct estimated e;

		for (uint32_t stretch = 0; stretch < 12; stretch++) {
			double speed = 90 + 20 * any(&seed);

			for (int i = 0; i < 9; i++)
				steady_add(&s, 30 * (speed + any(&seed) - 0.5), 30, stretch);
		}
		e = steady_ratio(&s);
		held += fabs(e.value - 100) <= e.margin;
	}
	CHECK(held >= 360 && held < 396);
}

TEST(a_single_long_call_in_few_windows_is_left_out_and_told)
{
	struct steady s = { 0 };

	for (uint32_t i = 0; i < 3; i++)
		steady_add(&s, 2000, 100, i);
	steady_longest(&s, 50000);
	CHECK(steady_ratio(&s).value == 20);
	CHECK(fabs(steady_plain(&s) - 56000.0 / 300) < 1e-9);
}

TEST(long_calls_in_many_windows_are_the_programs_own)
{
	struct steady few = { 0 }, many = { 0 }, once = { 0 };

	for (uint32_t i = 0; i < 1000; i++) {
		steady_add(&few, 2000, 100, i);
		steady_add(&many, 2000, 100, i);
		if (i % 20 == 0)
			steady_longest(&few, 6000);
		if (i % 3 == 0)
			steady_longest(&many, 6000);
	}
	CHECK(fabs(steady_ratio(&few).value - 20) < 1e-6);
	CHECK(fabs(steady_plain(&few) - 23) < 1e-6);
	CHECK(fabs(steady_ratio(&many).value - 40) < 0.5);
	for (uint32_t i = 0; i < 40; i++) {
		steady_add(&once, 2000, 100, i);
		steady_longest(&once, i == 7 ? 1e6 : 100);
	}
	CHECK(fabs(steady_ratio(&once).value - 21) < 1e-3);
}
