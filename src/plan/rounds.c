/* SPDX-License-Identifier: Apache-2.0 */
/* rounds.c - spreads from two or three rounds.
 *
 * Two or three figures say little about how far they scatter.  But a program has many methods, compiled by
 * the same JVM on the same machine; so the variance of one is taken together with that of the method in the middle, which
 * counts for so many degrees of freedom (the moderated t of Smyth, 2004).  A method that differs more than others,
 * for instance since it is inlined in one round and not in another, still has its own.
 *
 * Long calls differ by a share, short ones by nanoseconds; log(ns + SHORT_NS) goes from one to the other. */
#include "plan/rounds.h"

#include <math.h>
#include <stdlib.h>

#include "base/mem.h"

enum {
	SHORT_NS = 50,
	PRIOR = 3, /* degrees of freedom of the method in the middle */
};

void rounds_add(struct rounds *r, struct estimated mean, double plain, double calls)
{
	if (r->n == ROUNDS_MAX || mean.margin < 0 || !(calls > 0))
		return;
	r->mean[r->n] = mean.value;
	r->margin[r->n++] = mean.margin;
	r->calls += calls;
	r->plain = fmax(r->plain, mean.value > 0 ? plain / mean.value : 1);
}

static double height(double ns)
{
	return log(fmax(0, ns) + SHORT_NS);
}

/* Of the heights of its rounds; there are two at least. */
static double variance(const struct rounds *r)
{
	double sum = 0, squares = 0;

	for (uint32_t i = 0; i < r->n; i++)
		sum += height(r->mean[i]);
	for (uint32_t i = 0; i < r->n; i++) {
		double off = height(r->mean[i]) - sum / r->n;

		squares += off * off;
	}
	return squares / (r->n - 1);
}

static int by_size(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* The median of a variance with so many degrees of freedom, as a share of its mean (Wilson and Hilferty). */
static double median_share(double freedom)
{
	double third = 1 - 2 / (9 * freedom);

	return third * third * third;
}

double rounds_scatter(const struct rounds *all, size_t n)
{
	double *each = mem_alloc((n + 1) * sizeof(*each)), scatter;
	size_t k = 0;

	if (!each)
		return -1;
	for (size_t i = 0; i < n; i++)
		if (all[i].n >= 2)
			each[k++] = variance(&all[i]) / median_share(all[i].n - 1);
	if (k)
		qsort(each, k, sizeof(*each), by_size);
	scatter = k ? sqrt(each[k / 2]) : -1;
	mem_free(each);
	return scatter;
}

struct estimated rounds_mean(const struct rounds *r, double scatter)
{
	double n = r->n, sum = 0, within = 0, freedom = 0, squares = 0, next;

	for (uint32_t i = 0; i < r->n; i++) {
		sum += r->mean[i];
		within += r->margin[i] * r->margin[i];
	}
	if (!r->n)
		return (struct estimated){ 0, -1 };
	within = sqrt(within) / n;
	if (scatter >= 0) {
		freedom += PRIOR;
		squares += PRIOR * scatter * scatter;
	}
	if (r->n >= 2) {
		freedom += n - 1;
		squares += (n - 1) * variance(r);
	}
	if (!(freedom > 0))
		return (struct estimated){ sum / n, within };
	next = stats_student((size_t)freedom) * sqrt(squares / freedom * (1 + 1 / n)) *
	       (fmax(0, sum / n) + SHORT_NS);
	return (struct estimated){ sum / n, fmax(within, next) };
}
