/* SPDX-License-Identifier: Apache-2.0 */
/* sequence.c - what hooks cost at most, by the shortest times of sequences.
 *
 * Of each sequence that has enough of them, the time counts below which one in twenty lies: the
 * very shortest may be an accident of the clock, and so may all of a class of lengths that few
 * calls are in.  Less what a call takes without any hook (environment), that is the most that the
 * middle of the calibrated span can be.  By what it has to come down for the shortest calls, it
 * comes down for longer ones, too: what differs from process to process is the way to the clock,
 * not the method. */
#include "tree/sequence.h"

#include <math.h>

static const double enough = 200;    /* calls of a sequence before it says anything */
static const double part = 0.25;     /* of them are in the class of lengths that does, at least */
static const double environment = 1; /* ns: to call an empty method and come back */
static const double slack = 0.1;     /* a bound may be exceeded now and then by such a share */

static bool is_exit(enum transition t)
{
	return t == TRANSITION_RETURN || t == TRANSITION_THROW;
}

static void lower(struct sequence_bound *b, const struct sequence *one)
{
	double ns = fmax(one->low - environment, 0.1);

	b->all += one->calls;
	if (one->calls < enough || (b->ns > 0 && ns >= b->ns))
		return;
	b->ns = ns;
	b->calls = one->calls;
}

void sequences_add(struct sequences *s, const struct sequence *one)
{
	unsigned before = one->types[0], middle = one->types[1], after = one->types[2];

	if (before >= TYPES || middle >= TYPES || before != after || !(one->low > 0))
		return;
	if (one->transitions[0] == TRANSITION_ENTER && is_exit(one->transitions[1]))
		lower(&s->of[one->settled][before][middle].inner, one);
	if (is_exit(one->transitions[0]) && one->transitions[1] == TRANSITION_ENTER)
		lower(&s->of[one->settled][middle][before].outer, one);
}

/* 0: not known. */
static double known(const struct sequence_bound *b)
{
	return b->calls >= part * b->all ? b->ns : 0;
}

/* By how much the middle of a span is above the bound. */
static double excess(const struct span *s, double bound)
{
	return bound > 0 && s->mid > bound ? s->mid - bound : 0;
}

static struct span lowered(const struct span *s, double by, double bound)
{
	double high = bound > 0 ? fmin(s->high, bound * (1 + slack)) : s->high;
	double mid = s->mid - by;

	if (by <= 0)
		return (struct span){ s->low, mid, fmax(mid, high) };
	return (struct span){ fmin(s->low, mid), mid, fmax(mid, fmin(s->high - by, high)) };
}

struct cost sequences_cost(const struct sequences *s, const struct sequence_place *at,
			   const struct cost calibrated[COST_CLASSES], unsigned class)
{
	struct cost c = calibrated[class];
	double most_inner, most_outer, inner, outer;
	bool settled = at->kind == COST_SETTLED;

	if (!s || at->kind > COST_SETTLED || at->caller >= TYPES || at->method >= TYPES)
		return c;
	most_inner = known(&s->of[settled][at->caller][at->method].inner);
	most_outer = known(&s->of[settled][at->caller][at->method].outer);
	inner = excess(&calibrated[0].inner, most_inner);
	outer = excess(&calibrated[0].outer, most_outer);
	if (class > 0) /* of longer calls only that is known by how much calibration was off */
		most_inner = most_outer = 0;
	c.inner = lowered(&c.inner, inner, most_inner);
	c.outer = lowered(&c.outer, outer, most_outer);
	c.pair = lowered(&c.pair, inner + outer,
			 most_inner > 0 && most_outer > 0 ? most_inner + most_outer : 0);
	return c;
}
