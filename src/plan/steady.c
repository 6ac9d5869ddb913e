/* SPDX-License-Identifier: Apache-2.0 */
/* steady.c - means of windows without those that are far out, and their winsorized spread (Tukey,
 * McLaughlin 1963). */
#include "plan/steady.h"

#include <math.h>
#include <stdlib.h>

enum {
	FEW = 5,   /* windows of which none is left out */
	MOST = 10, /* at each end one in so many is, at most */
	FAR = 3,   /* times the width of the middle half */
};

struct window {
	double ratio, down;
};

/* Each two become one. */
static void halve(struct steady *s)
{
	for (uint32_t i = 0; i < s->n / 2; i++) {
		s->ups[i] = s->ups[2 * i] + s->ups[2 * i + 1];
		s->downs[i] = s->downs[2 * i] + s->downs[2 * i + 1];
	}
	s->n /= 2;
	s->each *= 2;
	s->in_last = s->each;
}

void steady_add(struct steady *s, double up, double down)
{
	if (!(down > 0))
		return;
	s->windows++;
	s->up += up;
	s->down += down;
	if (!s->each)
		s->each = s->in_last = 1;
	if (s->in_last >= s->each || !s->n) {
		if (s->n == STEADY_MAX)
			halve(s);
		s->ups[s->n] = (float)up;
		s->downs[s->n++] = (float)down;
		s->in_last = 1;
		return;
	}
	s->ups[s->n - 1] += (float)up;
	s->downs[s->n - 1] += (float)down;
	s->in_last++;
}

static int by_ratio(const void *a, const void *b)
{
	const struct window *x = a, *y = b;

	return (x->ratio > y->ratio) - (x->ratio < y->ratio);
}

/* How many of the sorted windows are left out at the lower and at the upper end. */
static void find_far(const struct window *w, uint32_t n, uint32_t *low, uint32_t *high)
{
	uint32_t most = n < FEW ? 0 : n < MOST ? 1 : n / MOST, quarter = n / 4;
	double far = FAR * (w[n - 1 - quarter].ratio - w[quarter].ratio);

	*low = *high = 0;
	while (*low < most && w[*low].ratio < w[quarter].ratio - far)
		++*low;
	while (*high < most && w[n - 1 - *high].ratio > w[n - 1 - quarter].ratio + far)
		++*high;
}

struct estimated steady_ratio(const struct steady *s)
{
	struct window w[STEADY_MAX];
	double up = 0, down = 0, all = 0, squares = 0, ratio, n = s->n;
	uint32_t low, high, end;

	for (uint32_t i = 0; i < s->n; i++)
		w[i] = (struct window){ (double)s->ups[i] / (double)s->downs[i],
					(double)s->downs[i] };
	if (!s->n)
		return (struct estimated){ 0, -1 };
	qsort(w, s->n, sizeof(w[0]), by_ratio);
	find_far(w, s->n, &low, &high);
	end = s->n - high;
	for (uint32_t i = 0; i < s->n; i++) {
		all += w[i].down;
		if (i < low || i >= end)
			continue;
		up += w[i].ratio * w[i].down;
		down += w[i].down;
	}
	ratio = up / down;
	if (s->n < 2)
		return (struct estimated){ ratio, -1 };
	for (uint32_t i = 0; i < s->n; i++) {
		const struct window *as = &w[i < low ? low : i >= end ? end - 1 : i];
		double off = (as->ratio - ratio) * w[i].down;

		squares += off * off;
	}
	return (struct estimated){ ratio, stats_student(end - low - 1) *
						  sqrt(squares * n / (n - 1)) / all /
						  ((end - low) / n) };
}

double steady_plain(const struct steady *s)
{
	return s->down > 0 ? s->up / s->down : 0;
}
