/* SPDX-License-Identifier: Apache-2.0 */
/* pace.c - chooses marks, and compares windows in which they were counted. */
#include "plan/inplace/pace.h"

#include <math.h>

enum {
	RATE_MIN = 5, /* calls a second, with hooks: without, it may be a hundred times as many */
	RATE_MAX = 100000,
	RATE_BEST = 200,
	LEADING = 20, /* what takes less than one in so many ns of the longest is a side issue */
	LOOK = 3,     /* windows that are compared with those before */
	REST = 4,     /* compilers that run for less than one of so many ns do little */
	PART = 100,   /* one in so many is sure enough */
	SURE_MIN = 4, /* windows */
};

/* How far from the best; negative: it is none. */
static double unfit(double rate)
{
	if (rate < RATE_MIN || rate > RATE_MAX)
		return -1;
	return rate > RATE_BEST ? rate / RATE_BEST : RATE_BEST / rate;
}

static size_t choose(const struct pace_method *methods, size_t n, double least,
		     uint32_t ids[PACE_MARKS])
{
	double have[PACE_MARKS];
	size_t found = 0;

	for (size_t i = 0; i < n; i++) {
		double off = methods[i].time < least ? -1 : unfit(methods[i].rate);
		size_t at;

		if (off < 0 || (found == PACE_MARKS && off >= have[found - 1]))
			continue;
		found += found < PACE_MARKS;
		for (at = found - 1; at > 0 && have[at - 1] > off; at--) {
			have[at] = have[at - 1];
			ids[at] = ids[at - 1];
		}
		have[at] = off;
		ids[at] = methods[i].id;
	}
	return found;
}

size_t pace_choose(const struct pace_method *methods, size_t n, uint32_t ids[PACE_MARKS])
{
	double most = 0;
	size_t found;

	for (size_t i = 0; i < n; i++)
		most = fmax(most, methods[i].time);
	found = choose(methods, n, most / LEADING, ids);
	return found ? found : choose(methods, n, 0, ids);
}

void pace_add(struct pace *p, double calls, double ns, double compilers)
{
	if (p->n == PACE_WINDOWS || !(ns > 0))
		return;
	p->calls[p->n] = calls;
	p->compilers[p->n] = compilers;
	p->ns[p->n++] = ns;
}

static double fastest(const struct pace *p, size_t from, size_t to)
{
	double most = 0;

	for (size_t i = from; i < to; i++)
		most = fmax(most, p->calls[i] / p->ns[i]);
	return most;
}

static bool compilers_rest(const struct pace *p, size_t from)
{
	double ns = 0, run = 0;

	for (size_t i = from; i < p->n; i++) {
		ns += p->ns[i];
		run += p->compilers[i];
	}
	return REST * run <= ns;
}

/* Windows of a steady program differ, too, but they do not become ever faster. */
bool pace_is_steady(const struct pace *p)
{
	if (p->n < 2 * LOOK || !compilers_rest(p, p->n - LOOK))
		return false;
	return fastest(p, p->n - LOOK, p->n) <= 1.02 * fastest(p, 0, p->n - LOOK);
}

bool pace_is_sure(const struct pace *p)
{
	struct estimated e = stats_ratio(p->calls, p->ns, p->n);

	return p->n >= SURE_MIN && e.margin >= 0 && PART * e.margin <= e.value;
}

struct estimated pace_speed(const struct pace *hooked, const struct pace *bare)
{
	struct estimated h = stats_ratio(hooked->calls, hooked->ns, hooked->n);
	struct estimated b = stats_ratio(bare->calls, bare->ns, bare->n);
	double speed;

	if (!(h.value > 0) || !(b.value > 0) || h.margin < 0 || b.margin < 0)
		return (struct estimated){ 0, -1 };
	speed = h.value / b.value;
	return (struct estimated){ speed, speed * hypot(h.margin / h.value, b.margin / b.value) };
}
