/* SPDX-License-Identifier: Apache-2.0 */
/* breaks.c - sums by length. */
#include "plan/inplace/breaks.h"

#include <math.h>

#define SHORTEST 512.0 /* ns */

/* Classes below this length, and a part of one; within a doubling they are as wide. */
static double classes_below(double ns)
{
	int doublings;
	double part = frexp(fmax(1, ns / SHORTEST), &doublings);

	return 4 * (doublings - 1) + 4 * (2 * part - 1);
}

/* The first class in which all are at least as long; BREAKS: there is none. */
static unsigned class_from(double ns)
{
	return (unsigned)fmin(BREAKS, ceil(classes_below(ns)));
}

void breaks_add(struct breaks *b, double time, double from, double more)
{
	unsigned first = class_from(from), class = (unsigned)fmin(BREAKS, classes_below(more));

	for (unsigned i = first; i < BREAKS; i++)
		b->time[i] += time;
	if (more > 0 && class < BREAKS && first < BREAKS)
		b->sum[class > first ? class : first] += more;
}

double breaks_share(const struct breaks *b, double from)
{
	double share = 0;

	for (unsigned i = class_from(from); i < BREAKS; i++)
		share += b->time[i] > 0 ? b->sum[i] / b->time[i] : 0;
	return share;
}
