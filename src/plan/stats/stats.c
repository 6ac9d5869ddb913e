/* SPDX-License-Identifier: Apache-2.0 */
/* stats.c - ratios over windows, and histograms. */
#include "plan/stats/stats.h"

#include <math.h>

double stats_student(size_t freedom)
{
	static const double t[] = { 12.71, 4.30, 3.18, 2.78, 2.57, 2.45, 2.36, 2.31, 2.26, 2.23 };

	if (freedom <= sizeof(t) / sizeof(t[0]))
		return t[freedom ? freedom - 1 : 0];
	return 1.96 + 2.5 / (double)freedom; /* to a hundredth */
}

struct estimated stats_ratio(const double *up, const double *down, size_t n)
{
	double a = 0, b = 0, squares = 0, ratio;
	size_t used = 0;

	for (size_t i = 0; i < n; i++)
		a += up[i], b += down[i], used += down[i] > 0;
	if (b <= 0)
		return (struct estimated){ 0, -1 };
	ratio = a / b;
	if (used < 2)
		return (struct estimated){ ratio, -1 };
	for (size_t i = 0; i < n; i++) {
		double off = up[i] - ratio * down[i];

		squares += off * off;
	}
	return (struct estimated){ ratio, stats_student(n - 1) *
						  sqrt(squares / (double)n / (double)(n - 1)) /
						  (b / (double)n) };
}

bool stats_is_above(struct estimated a, struct estimated b)
{
	if (a.margin < 0 || b.margin < 0)
		return false;
	return a.value - a.margin > b.value + b.margin;
}

/* The middle of a bucket; each is a quarter as wide as its power of two. */
static double middle(const uint64_t *low, size_t i, size_t n)
{
	double from = (double)low[i], to = i + 1 < n ? (double)low[i + 1] : from * 1.25;

	return to > from * 1.5 ? from * 1.12 : (from + to) / 2;
}

struct spread stats_spread(const uint64_t *low, const uint32_t *count, size_t n, double limit)
{
	double calls[2] = { 0, 0 }, time[2] = { 0, 0 };
	struct spread s = { .median = stats_quantile(low, count, n, 0.5) };

	for (size_t i = 0; i < n; i++) {
		double t = middle(low, i, n);
		int slow = t >= limit;

		calls[slow] += count[i];
		time[slow] += t * count[i];
	}
	if (calls[0] + calls[1] > 0)
		s.slow_calls = calls[1] / (calls[0] + calls[1]);
	if (time[0] + time[1] > 0)
		s.slow_time = time[1] / (time[0] + time[1]);
	s.fast_mean = calls[0] > 0 ? time[0] / calls[0] : 0;
	s.slow_mean = calls[1] > 0 ? time[1] / calls[1] : 0;
	return s;
}

double stats_quantile(const uint64_t *low, const uint32_t *count, size_t n, double q)
{
	double all = 0, before = 0;

	for (size_t i = 0; i < n; i++)
		all += count[i];
	for (size_t i = 0; i < n; i++) {
		before += count[i];
		if (count[i] && before >= q * all)
			return middle(low, i, n);
	}
	return 0;
}
