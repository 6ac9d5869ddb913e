/* SPDX-License-Identifier: Apache-2.0 */
/* What interrupts processors. */
#include <math.h>

#include "plan/inplace/breaks.h"
#include "test.h"

TEST(breaks_are_a_share_of_the_time_in_which_they_would_have_been_seen)
{
	struct breaks b = { 0 };

	CHECK(breaks_share(&b, 0) == 0);
	for (int i = 0; i < 1000; i++) { /* 8 us in a ms, and 40 us in five */
		breaks_add(&b, 1e6, 700, 8000);
		breaks_add(&b, 1e6, 14000, i % 5 ? 0 : 40000);
	}
	CHECK(fabs(breaks_share(&b, 700) - (0.008 + 0.004)) < 1e-9);
	CHECK(fabs(breaks_share(&b, 6000) - (0.008 + 0.004)) < 1e-9);
	CHECK(fabs(breaks_share(&b, 14000) - 0.004) < 1e-9);
	CHECK(breaks_share(&b, 1e6) == 0);
}

TEST(what_is_longer_than_any_break_is_none)
{
	struct breaks b = { 0 };

	breaks_add(&b, 1e6, 700, 5e6); /* a garbage collection */
	CHECK(breaks_share(&b, 0) == 0);
	breaks_add(&b, 1e6, 5e6, 6e6);
	CHECK(breaks_share(&b, 0) == 0 && breaks_share(&b, 5e6) == 0);
}

/* Calls of 50 ns to 3 us, of which those in a break are left out if that makes them eight times as
 * long, on a machine that has one of 2 to 30 us each 700 us: with the share added it is right. */
TEST(calls_of_any_length_are_as_long_as_they_are_with_breaks)
{
	static const double each[] = { 50, 200, 1000, 3000 };
	struct breaks b = { 0 };
	double time[4] = { 0 }, all[4] = { 0 }, calls[4] = { 0 };

	for (unsigned i = 0; i < 400000; i++) {
		unsigned k = i % 4;
		double ns = 2000.0 * (1 << i / 4 % 4) * (1 + (i / 16 % 100) / 100.0);
		double own = 100000, more = ns * (own / 700000 > (i / 7 % 1000) / 1000.0);
		int out = more > 7 * each[k];

		calls[k] += own / each[k];
		all[k] += own + more;
		time[k] += own + (out ? 0 : more);
		breaks_add(&b, own + (out ? 0 : more), 7 * each[k], out ? more : 0);
	}
	for (unsigned k = 0; k < 4; k++) {
		double truth = all[k] / calls[k], told = time[k] / calls[k];

		CHECK(fabs(told * (1 + breaks_share(&b, 7 * each[k])) / truth - 1) < 0.002);
	}
	CHECK(all[0] / time[0] > 1.01);
}
