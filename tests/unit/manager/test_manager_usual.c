/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include "manager/watch/usual.h"

static size_t fill(double *v, size_t n, double from, double step)
{
	for (size_t i = 0; i < n; i++)
		v[i] = from + step * (double)(i * 7 % n);
	return n;
}

TEST(too_few_values_are_no_usual)
{
	double v[USUAL_LEAST - 1];

	CHECK(usual_of(USUAL_TIME, v, fill(v, COUNT(v), 1000, 1), 2).n == 0);
}

TEST(times_that_hardly_vary_are_limited_by_the_factor)
{
	double v[40];
	struct usual u = usual_of(USUAL_TIME, v, fill(v, 40, 1000, 1), 3);

	CHECK(u.middle > 1000 && u.middle < 1040);
	CHECK(u.limit > 2.99 * u.middle && u.limit < 3.01 * u.middle);
}

TEST(times_that_vary_much_have_a_wider_limit)
{
	double v[40];
	struct usual u = usual_of(USUAL_TIME, v, fill(v, 40, 100, 100), 2);

	CHECK(u.limit > 5 * u.middle);
}

TEST(a_few_bad_hours_do_not_move_what_is_usual)
{
	double v[40];
	struct usual u;

	fill(v, 40, 1000, 1);
	for (size_t i = 0; i < 8; i++)
		v[i * 5] = 1e9;
	u = usual_of(USUAL_TIME, v, 40, 2);
	CHECK(u.middle < 1100 && u.limit < 2300);
}

TEST(what_never_failed_may_fail_in_two_percent)
{
	double v[40] = { 0 };
	struct usual u = usual_of(USUAL_ERRORS, v, 40, 2);

	CHECK(u.middle == 0 && u.limit > 0.019 && u.limit < 0.021);
}

TEST(what_fails_at_times_is_limited_by_its_worst_usual)
{
	double v[40] = { 0 };
	struct usual u;

	v[3] = v[9] = v[17] = v[28] = 0.1;
	u = usual_of(USUAL_ERRORS, v, 40, 2);
	CHECK(u.middle == 0 && u.limit > 0.19 && u.limit < 0.21);
}

TEST(a_figure_breaks_once_and_is_good_again_once)
{
	static const struct {
		double v;
		enum usual_change want;
	} steps[] = {
		{ 300, USUAL_SAME }, /* once is no reason */
		{ 120, USUAL_SAME }, { 300, USUAL_SAME },	{ 250, USUAL_BREAKS },
		{ 900, USUAL_SAME }, { 120, USUAL_SAME },	{ 120, USUAL_SAME },
		{ 180, USUAL_SAME }, /* below the limit, but not well below: counts anew */
		{ 110, USUAL_SAME }, { 220, USUAL_SAME },	{ 100, USUAL_SAME },
		{ 100, USUAL_SAME }, { 100, USUAL_GOOD_AGAIN }, { 100, USUAL_SAME },
	};
	struct usual u = { 100, 200, 20 };
	struct judge j = { 0 };

	for (size_t i = 0; i < COUNT(steps); i++)
		CHECK(usual_judge(&j, &u, steps[i].v) == steps[i].want);
}
