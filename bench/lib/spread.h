/* SPDX-License-Identifier: Apache-2.0 */
/* spread.h - medians and quartiles of a bench's figures. */
#ifndef BENCH_SPREAD_H
#define BENCH_SPREAD_H

#include <stdlib.h>
#include <string.h>

enum { SPREAD_MAX = 201 }; /* figures */

struct spread {
	double q1, median, q3;
};

static inline int spread_order(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static inline double spread_quantile(const double *sorted, unsigned n, double q)
{
	double at = q * (n - 1);
	unsigned low = (unsigned)at;

	return low + 1 < n ? sorted[low] + (at - low) * (sorted[low + 1] - sorted[low])
			   : sorted[low];
}

/* 1 <= n <= SPREAD_MAX. */
static inline struct spread spread_of(const double *v, unsigned n)
{
	double s[SPREAD_MAX];

	memcpy(s, v, n * sizeof(*v));
	qsort(s, n, sizeof(*s), spread_order);
	return (struct spread){ spread_quantile(s, n, 0.25), spread_quantile(s, n, 0.5),
				spread_quantile(s, n, 0.75) };
}

/* Of two contestants' figures in each round. */
static inline struct spread spread_ratio(const double *a, const double *b, unsigned n)
{
	double v[SPREAD_MAX];

	for (unsigned i = 0; i < n; i++)
		v[i] = a[i] / b[i];
	return spread_of(v, n);
}

#endif
