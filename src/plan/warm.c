/* SPDX-License-Identifier: Apache-2.0 */
/* warm.c - the usual work of compilers.
 *
 * What they took for each second that the program had of a processor before the hooks came is taken to go down to that
 * of the spans since, of the later half of them one of the quieter, in which what hooks have caused is over.
 * Not of the quietest, which in a program that loads classes all the time is so by chance alone. */
#include "plan/warm.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double warming = 6e9; /* ns of the program, in which they come down to 1/e */
static const double span_least = 0.5e9;

static struct warm_times since(struct warm_times from, struct warm_times to)
{
	struct warm_times t = { to.run - from.run, to.jit - from.jit };

	t.run = t.run > 0 ? t.run : 0; /* threads that have ended took their times along */
	t.jit = t.jit > 0 ? t.jit : 0;
	return t;
}

static double ratio(struct warm_times t)
{
	return t.run > 0 ? t.jit / t.run : 0;
}

void warm_see(struct warm *w, struct warm_times now)
{
	struct warm_times span;

	if (!w->has_begun)
		w->begun = now;
	w->has_begun = true;
	w->last = now;
	if (!w->is_hooked)
		return;
	span = since(w->span, now);
	if (span.run < w->length)
		return;
	w->spans[w->n_spans++] = ratio(span);
	w->span = now;
	if (w->n_spans < WARM_SPANS)
		return;
	w->n_spans /= 2;
	w->length *= 2;
	for (unsigned i = 0; i < w->n_spans; i++)
		w->spans[i] = (w->spans[2 * i] + w->spans[2 * i + 1]) / 2;
}

void warm_hooked(struct warm *w)
{
	if (w->is_hooked || !w->has_begun)
		return;
	w->is_hooked = true;
	w->length = span_least;
	w->hooked = w->span = w->last;
}

static int by_size(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* What compilers take when nothing was hooked lately. */
static double quiet_of(const struct warm *w)
{
	double late[WARM_SPANS];
	unsigned n = w->n_spans - w->n_spans / 2;

	if (!n)
		return 0;
	memcpy(late, w->spans + w->n_spans / 2, n * sizeof(*late));
	qsort(late, n, sizeof(*late), by_size);
	return late[(n - 1) / 4];
}

double warm_caused(const struct warm *w)
{
	struct warm_times t = since(w->hooked, w->last);
	double before, quiet, x = t.run, usual;

	if (!w->is_hooked)
		return 0;
	before = ratio(since(w->begun, w->hooked));
	quiet = fmin(quiet_of(w), before);
	usual = quiet * x + (before - quiet) * warming * (1 - exp(-x / warming));
	return t.jit > usual ? t.jit - usual : 0;
}
