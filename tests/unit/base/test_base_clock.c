/* SPDX-License-Identifier: Apache-2.0 */
#include "base/clock.h"

#include "test.h"

TEST(clock_of_the_day_is_milliseconds_since_1970)
{
	uint64_t before = (uint64_t)time(NULL), ms = clock_day_ms();

	CHECK(ms / 1000 >= before && ms / 1000 <= (uint64_t)time(NULL) + 1);
}

TEST(clock_that_is_not_there_is_zero)
{
	CHECK_INT(clock_ns((clockid_t)1000), 0, NULL);
	CHECK(clock_ns(CLOCK_PROCESS_CPUTIME_ID) != 0);
}
