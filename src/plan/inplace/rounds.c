/* SPDX-License-Identifier: Apache-2.0 */
/* rounds.c - spreads from two or three rounds.
 *
 * Two or three figures say little about how far they scatter.  But a program has many methods,
 * compiled by the same JVM on the same machine; so the variance of one is taken together with that
 * of the method in the middle, which counts for so many degrees of freedom (the moderated t of
 * Smyth, 2004).  A method that differs more than others, for instance since it is inlined in one
 * round and not in another, still has its own.
 *
 * A part of that is not the compiler's: the windows of a round are few, and say themselves how far
 * their mean may be off.  It makes the mean of the rounds unsure, but the next compilation no
 * slower or faster; so it counts only once.
 *
 * Long calls differ by a share, short ones by nanoseconds; log(ns + SHORT_NS) goes from one to the
 * other. */
#include "plan/inplace/rounds.h"

#include <math.h>
#include <stdlib.h>

#include "base/mem.h"

enum {
	SHORT_NS = 50,
	PRIOR = 3,	  /* degrees of freedom of the method in the middle */
	WINDOWS_MIN = 16, /* of a round that can tell how far its mean may be off */
	REST = 10,	  /* one part in so many is the compiler's, whatever the windows say */
};

#define STUDENT 2.3 /* margins are so many standard deviations, of rounds with windows enough */

void rounds_add(struct rounds *r, const struct rounds_one *one)
{
	double mean = one->mean.value;

	if (r->n == ROUNDS_MAX || !(one->calls > 0) || !(one->windows > 0))
		return;
	r->of[r->n].mean = mean;
	r->of[r->n].margin = one->mean.margin;
	r->of[r->n].windows = one->windows;
	r->of[r->n++].calls = one->calls;
	r->calls += one->calls;
	r->plain = fmax(r->plain, mean > 0 ? one->plain / mean : 1);
}

static double height(double ns)
{
	return log(fmax(0, ns) + SHORT_NS);
}

/* Of the heights of rounds as heavy as the mean of them; there are two at least. */
static double variance(const struct rounds *r)
{
	double sum = 0, squares = 0;

	for (uint32_t i = 0; i < r->n; i++)
		sum += r->of[i].calls * height(r->of[i].mean);
	for (uint32_t i = 0; i < r->n; i++) {
		double off = height(r->of[i].mean) - sum / r->calls;

		squares += r->of[i].calls * off * off;
	}
	return squares / (r->n - 1) / (r->calls / r->n);
}

/* The part of the variance that comes from windows being few; 0: not known. */
static double noise(const struct rounds *r)
{
	double squares = 0;

	for (uint32_t i = 0; i < r->n; i++) {
		double off = r->of[i].margin / STUDENT / (fmax(0, r->of[i].mean) + SHORT_NS);

		if (r->of[i].margin < 0 || r->of[i].windows < WINDOWS_MIN)
			return 0;
		squares += off * off;
	}
	return squares / r->n;
}

static int by_size(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* The median of a variance with so many degrees of freedom, as a share of its mean (Wilson and
 * Hilferty). */
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
	double mean = 0, share = 0, freedom = 0, squares = 0, total, next;

	if (!r->n)
		return (struct estimated){ 0, -1 };
	for (uint32_t i = 0; i < r->n; i++) {
		double w = r->of[i].calls / r->calls;

		mean += w * r->of[i].mean;
		share += w * w; /* 1 / n for equal ones */
	}
	if (scatter >= 0) {
		freedom += PRIOR;
		squares += PRIOR * scatter * scatter;
	}
	if (r->n >= 2) {
		freedom += r->n - 1;
		squares += (r->n - 1) * variance(r);
	}
	if (!(freedom > 0))
		return (struct estimated){ mean, r->of[0].margin };
	total = squares / freedom;
	next = stats_student((size_t)freedom) *
	       sqrt(fmax(total / REST, total - noise(r)) + total * share) *
	       (fmax(0, mean) + SHORT_NS);
	return (struct estimated){ mean, r->n > 1 ? next : fmax(next, r->of[0].margin) };
}
