/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include <math.h>

#include "sample/drawn.h"

/* Against the C library, which the agent does without. */
TEST(drawn_events_stand_for_as_many_as_their_size_says)
{
	for (double size = 8; size < 1e9; size *= 1.7) {
		double x = size / 524288, right = 1 / -expm1(-x);

		CHECK(fabs(drawn_weight(size, 524288) / right - 1) < 1e-6);
	}
	CHECK(drawn_weight(0, 524288) == 1);
	CHECK(drawn_weight(16, 0) == 1);
}
