/* SPDX-License-Identifier: Apache-2.0 */
/* usual.c - medians, which a few bad hours do not move.
 *
 * Times are compared as logarithms, since they vary by factors: the limit is the given factor above
 * the median, or four times the usual deviation (of the median absolute deviation) if that is more.
 * Shares of errors and rates of stalls are usually 0, so their limit goes by the largest values that
 * are usual. */
#include "manager/watch/usual.h"

#include <math.h>
#include <stdlib.h>

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double middle(double *v, size_t n)
{
	qsort(v, n, sizeof(*v), by_value);
	return n % 2 ? v[n / 2] : (v[n / 2 - 1] + v[n / 2]) / 2;
}

static struct usual usual_time(double *v, size_t n, double factor)
{
	double log_middle, deviation, over = log(factor);

	for (size_t i = 0; i < n; i++)
		v[i] = log(v[i] > 1 ? v[i] : 1);
	log_middle = middle(v, n);
	for (size_t i = 0; i < n; i++)
		v[i] = fabs(v[i] - log_middle);
	deviation = 4 * 1.4826 * middle(v, n);
	if (deviation > over)
		over = deviation;
	return (struct usual){ exp(log_middle), exp(log_middle + over), n };
}

struct usual usual_of(enum usual_kind kind, double *v, size_t n, double factor)
{
	static const double least[USUAL_KINDS] = { [USUAL_ERRORS] = 0.02, [USUAL_STALLS] = 1e-3 };
	double m, high;

	if (n < USUAL_LEAST)
		return (struct usual){ 0 };
	if (kind == USUAL_TIME)
		return usual_time(v, n, factor);
	m = middle(v, n);
	high = v[n * 95 / 100];
	return (struct usual){
		m, high * factor > high + least[kind] ? high * factor : high + least[kind], n
	};
}

/* Between the two a broken figure stays broken. */
static double good_below(const struct usual *u)
{
	return u->middle > 0 ? sqrt(u->middle * u->limit) : u->limit / 2;
}

enum usual_change usual_judge(struct judge *j, const struct usual *u, double v)
{
	j->bad = v > u->limit ? j->bad + 1 : 0;
	j->good = v <= good_below(u) ? j->good + 1 : 0;
	if (!j->broken && j->bad >= USUAL_BAD) {
		j->broken = true;
		return USUAL_BREAKS;
	}
	if (j->broken && j->good >= USUAL_GOOD) {
		j->broken = false;
		return USUAL_GOOD_AGAIN;
	}
	return USUAL_SAME;
}
