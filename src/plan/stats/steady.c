/* SPDX-License-Identifier: Apache-2.0 */
/* steady.c - means of windows without those that are far out, and the winsorized spread (Tukey,
 * McLaughlin 1963) of stretches: windows of one stretch are off together, so what they are off is
 * added up before it is squared. */
#include "plan/stats/steady.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
	FEW = 5,   /* windows of which none is left out */
	MOST = 10, /* at each end one in so many is, at most */
	FAR = 3,   /* times the width of the middle half, from it ... */
	TIMES = 2, /* ... and at least so many times as long, or short: less is the machine's pace */
	LONGS = 3, /* windows with a call that is out of all proportion: it may be the program's own */
	OWN = 4, /* ... and is, if one in so many has one */
};

struct window {
	double ratio, down;
	uint32_t stretch;
};

/* Each two become one. */
static void halve(struct steady *s)
{
	for (uint32_t i = 0; i < s->n / 2; i++) {
		s->ups[i] = s->ups[2 * i] + s->ups[2 * i + 1];
		s->downs[i] = s->downs[2 * i] + s->downs[2 * i + 1];
		s->mores[i] = s->mores[2 * i] + s->mores[2 * i + 1];
		s->stretches[i] = s->stretches[2 * i];
	}
	s->n /= 2;
	s->each *= 2;
	s->in_last = s->each;
}

void steady_add(struct steady *s, double up, double down, uint32_t stretch)
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
		s->stretches[s->n] = stretch;
		s->ups[s->n] = (float)up;
		s->mores[s->n] = 0;
		s->downs[s->n++] = (float)down;
		s->in_last = 1;
		return;
	}
	s->ups[s->n - 1] += (float)up;
	s->downs[s->n - 1] += (float)down;
	s->in_last++;
}

void steady_longest(struct steady *s, double more)
{
	if (!s->n)
		return;
	s->longs++;
	s->up += more;
	s->mores[s->n - 1] += (float)more;
}

static int by_ratio(const void *a, const void *b)
{
	const struct window *x = a, *y = b;

	return (x->ratio > y->ratio) - (x->ratio < y->ratio);
}

static int by_stretch(const void *a, const void *b)
{
	const struct window *x = a, *y = b;

	return (x->stretch > y->stretch) - (x->stretch < y->stretch);
}

/* How many of the sorted windows are left out at the lower and at the upper end. */
static void find_far(const struct window *w, uint32_t n, uint32_t *low, uint32_t *high)
{
	uint32_t most = n < FEW ? 0 : n < MOST ? 1 : n / MOST, quarter = n / 4;
	double first = w[quarter].ratio, last = w[n - 1 - quarter].ratio;
	double far = FAR * (last - first);

	*low = *high = 0;
	while (*low < most && w[*low].ratio < fmin(first - far, first / TIMES))
		++*low;
	while (*high < most && w[n - 1 - *high].ratio > fmax(last + far, last * TIMES))
		++*high;
}

/* Sum over the stretches of the squares of what their windows are off together, and how many
 * stretches there are.  Of windows that are far out the last one counts that is not. */
static double squares_of(struct window *w, uint32_t n, double ratio, uint32_t *stretches)
{
	double squares = 0, off = 0;

	qsort(w, n, sizeof(w[0]), by_stretch);
	*stretches = 0;
	for (uint32_t i = 0; i < n; i++) {
		off += (w[i].ratio - ratio) * w[i].down;
		if (i + 1 < n && w[i + 1].stretch == w[i].stretch)
			continue;
		squares += off * off;
		off = 0;
		++*stretches;
	}
	return squares;
}

static int by_size(const void *a, const void *b)
{
	const float *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

bool steady_has_own(const struct steady *s)
{
	return s->longs >= LONGS && OWN * s->longs > s->windows;
}

/* What calls that are out of all proportion may add to a window at most: nothing, or, if they are
 * the program's own, what three quarters of the windows do not have more of. */
static double most_of_longest(const struct steady *s)
{
	float sorted[STEADY_MAX];

	if (!steady_has_own(s) || !s->n)
		return 0;
	memcpy(sorted, s->mores, s->n * sizeof(sorted[0]));
	qsort(sorted, s->n, sizeof(sorted[0]), by_size);
	return (double)sorted[3 * (s->n - 1) / 4];
}

static struct estimated ratio_of(const struct steady *s, double most)
{
	struct window w[STEADY_MAX];
	double up = 0, down = 0, all = 0, squares, ratio;
	uint32_t low, high, end, n;

	for (uint32_t i = 0; i < s->n; i++)
		w[i] = (struct window){ ((double)s->ups[i] + fmin(most, (double)s->mores[i])) /
						(double)s->downs[i],
					(double)s->downs[i], s->stretches[i] };
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
	for (uint32_t i = 0; i < s->n; i++)
		w[i].ratio = i < low ? w[low].ratio : i >= end ? w[end - 1].ratio : w[i].ratio;
	squares = squares_of(w, s->n, ratio, &n);
	if (n < 2)
		return (struct estimated){ ratio, -1 };
	return (struct estimated){ ratio, stats_student(n - 1) * sqrt(squares * n / (n - 1)) / all /
						  ((double)(end - low) / s->n) };
}

struct estimated steady_ratio(const struct steady *s)
{
	return ratio_of(s, most_of_longest(s));
}

struct estimated steady_without(const struct steady *s)
{
	return ratio_of(s, 0);
}

double steady_plain(const struct steady *s)
{
	return s->down > 0 ? s->up / s->down : 0;
}
