/* SPDX-License-Identifier: Apache-2.0 */
/* tally.c - sums of products are enough to tell how far windows are from their common ratio. */
#include "plan/stats/tally.h"

#include <math.h>

void tally_add(struct tally *t, double up, double down)
{
	if (!(down > 0))
		return;
	t->n++;
	t->up += up;
	t->down += down;
	t->up_up += up * up;
	t->up_down += up * down;
	t->down_down += down * down;
}

struct estimated tally_ratio(const struct tally *t)
{
	double ratio, squares, n = (double)t->n;

	if (!t->n)
		return (struct estimated){ 0, -1 };
	ratio = t->up / t->down;
	if (t->n < 2)
		return (struct estimated){ ratio, -1 };
	squares = fmax(0, t->up_up - 2 * ratio * t->up_down + ratio * ratio * t->down_down);
	return (struct estimated){ ratio, stats_student(t->n - 1) * sqrt(squares * n / (n - 1)) /
						  t->down };
}
