/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include "base/tick.h"

static const struct {
	uint64_t hz, ticks, ns;
} conversions[] = {
	{ 1000000000, 12345, 12345 },
	{ 1000000, 5, 5000 },
	{ 24000000, 24000000, 999999999 }, /* the fraction is cut off */
	{ 2000000000, 10, 5 },
	{ 2000000000, 0, 0 },
	{ 1, 3, 3000000000 },
	{ 0, 3, 3000000000 }, /* as if 1 */
};

TEST(tick_converts_by_the_frequency)
{
	for (size_t i = 0; i < COUNT(conversions); i++) {
		struct tick_scale s = tick_scale_of(conversions[i].hz);

		CHECK_INT(tick_to_ns(s, conversions[i].ticks), conversions[i].ns, NULL);
	}
}

TEST(tick_converts_years_without_overflow)
{
	struct tick_scale s = tick_scale_of(3000000000u);
	uint64_t year = 365ull * 24 * 3600;

	/* The scale is exact to one part in 2^30. */
	CHECK(tick_to_ns(s, 3000000000u * year) > (year - 1) * 1000000000u);
	CHECK(tick_to_ns(s, 3000000000u * year) <= year * 1000000000u);
}

TEST(tick_never_goes_back)
{
	uint64_t last = tick_now();

	for (int i = 0; i < 100000; i++) {
		uint64_t now = tick_now();

		CHECK(now >= last);
		last = now;
	}
}

TEST(tick_scale_can_be_measured)
{
	struct tick_scale s = tick_scale_measure(2);

	CHECK(s.hz > 0);
	CHECK(s.mult > 0);
}
