/* SPDX-License-Identifier: Apache-2.0 */
/* compensate.c - takes the cost of the hooks out of the figures.
 *
 * What was measured of a timed call holds the inner part of its own hook and all that the hooks of
 * the calls below it cost:
 *
 *	total = raw - calls * inner - sum over all calls below of their pair
 *	self  = raw_self - calls * inner - sum over the calls made directly of their outer
 *
 * Each cost is a span, and so are the results: the low end takes the high ends of all costs.
 * Nothing becomes less than 0.  That the same code is not equally fast once it was compiled with hooks
 * in it counts for no more than the hooks themselves.  For how long a call is, which decides about its class, its own raw
 * time without the hooks below is taken. */
#include "tree/tree.h"

#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "tree/sequence.h"

enum { RARE_FROM = 8 }; /* calls for each that is timed */

static void add(struct span *to, const struct span *s, double times)
{
	to->low += times * s->low;
	to->mid += times * s->mid;
	to->high += times * s->high;
}

bool tree_is_drawn(const struct tree_figures *f)
{
	if (f->of != TREE_RAW_GUESS)
		return f->of == TREE_RAW_ALL;
	return f->timed > 0 && f->calls > 1.05 * f->timed + 2;
}

double tree_calls_in_raw(const struct tree_figures *f)
{
	return f->timed > 0 && tree_is_drawn(f) && f->calls > f->timed ? f->calls : f->timed;
}

/* As calibrated; where the program has shown that calls of such a kind cost less, not more than
 * that. */
static struct cost cost_of(const struct costs *c, const struct tree_node *n, enum cost_tier tier,
			   enum cost_kind kind, double ns)
{
	bool interpreted = (n->f.type & ~(unsigned)TYPE_STATIC) == TYPE_INTERPRETED;
	bool shown = tier == (interpreted ? COST_INTERPRETED : COST_COMPILED);

	return sequences_cost(shown ? c->seen : NULL,
			      &(struct sequence_place){ n->caller, n->f.type, kind },
			      c->of[tier][kind], cost_class(ns));
}

/* How its timed calls were.  Where few are drawn, the processor takes each for one that is not. */
static enum cost_kind timed_kind(const struct tree_figures *f)
{
	return f->kind == COST_SETTLED && f->calls >= RARE_FROM * f->timed ? COST_RARE : f->kind;
}

/* How long one call is, about: its raw time without that of the calls below and its own hook. */
static double length_of(const struct costs *c, const struct tree_node *n)
{
	double calls = tree_calls_in_raw(&n->f), ns = calls > 0 ? n->raw_self / calls : 0;
	double most = n->f.calls > 0 ? n->f.raw / fmax(calls, 1) : 0;

	ns = fmax(ns, most - (n->below.mid * n->grows) / fmax(calls, 1));
	return fmax(0, ns - c->of[COST_COMPILED][timed_kind(&n->f)][0].inner.mid);
}

/* What one node's own calls cost: the whole to those above, and the outer part to its caller. */
struct own {
	struct span inner, outer, pair;
};

static void add_kind(struct own *own, const struct costs *c, const struct tree_node *n,
		     enum cost_kind kind, double calls)
{
	double ns = length_of(c, n), slow = n->f.interpreted;
	const double shares[COST_TIERS] = { [COST_COMPILED] = (1 - slow) * (1 - n->f.jni),
					    [COST_INTERPRETED] = slow,
					    [COST_JNI] = (1 - slow) * n->f.jni };

	for (unsigned tier = 0; tier < COST_TIERS; tier++) {
		double part = calls * shares[tier];
		struct cost one = cost_of(c, n, tier, kind, ns);

		if (part > 0) {
			add(&own->inner, &one.inner, part);
			add(&own->outer, &one.outer, part);
			add(&own->pair, &one.pair, part);
		}
	}
}

static struct own own_cost(const struct costs *c, const struct tree_node *n)
{
	double untimed = n->f.calls > n->f.timed ? n->f.calls - n->f.timed : 0;
	struct own own = { 0 };

	if (n->f.timed > 0)
		add_kind(&own, c, n, timed_kind(&n->f), n->f.timed);
	if (untimed > 0)
		add_kind(&own, c, n, n->f.light ? COST_LIGHT : COST_PASSED, untimed);
	if (n->f.timed > 0 && tree_calls_in_raw(&n->f) > n->f.timed) {
		/* The estimated raw of the others holds an inner part that they did not have. */
		struct own guess = { 0 };

		add_kind(&guess, c, n, timed_kind(&n->f), tree_calls_in_raw(&n->f) - n->f.timed);
		own.outer.low -= guess.inner.high;
		own.outer.mid -= guess.inner.mid;
		own.outer.high -= guess.inner.low;
	}
	return own;
}

/* raw - inner - below, with its interval; widened by the margin of raw. */
static struct span less(double raw, double margin, const struct span *inner,
			const struct span *below)
{
	return (struct span){ raw - margin - inner->high - below->high,
			      raw - inner->mid - below->mid,
			      raw + margin - inner->low - below->low };
}

/* Where even the least cost is more than was measured, only that is known which was measured. */
static void clamp(struct span *s, double raw, unsigned *flags)
{
	if (s->mid < 0)
		*flags |= TREE_CLAMPED;
	s->low = fmax(0, s->low);
	s->mid = fmax(0, s->mid);
	s->high = fmax(s->mid, s->high > 0 ? s->high : raw);
}

/* How much longer or shorter the code itself may take without hooks, of which so much is left. */
static double noise_of(const struct costs *c, double left, double cost)
{
	return fmin(c->noise * fmax(0, left), fmax(0, cost));
}

static void finish(const struct costs *c, struct tree_node *n, const struct span *outer_below)
{
	double calls = tree_calls_in_raw(&n->f), margin = n->f.raw * n->f.margin;
	double cost, noise, self_noise;
	struct own all = { 0 };
	struct span below = { 0 }, outer = { 0 };

	if (!(n->f.timed > 0))
		return;
	add_kind(&all, c, n, timed_kind(&n->f), calls);
	add(&below, &n->below, n->grows);
	add(&outer, outer_below, n->grows);
	n->inner = calls > 0 ? all.inner.mid / calls : 0;
	cost = all.inner.mid + below.mid;
	noise = noise_of(c, n->f.raw - cost, cost);
	cost = all.inner.mid + outer.mid;
	self_noise = noise_of(c, n->raw_self - cost, cost);
	n->total = less(n->f.raw, margin + noise, &all.inner, &below);
	n->self = less(n->raw_self, margin + self_noise, &all.inner, &outer);
	if (all.inner.mid + below.mid > n->f.raw / 2)
		n->flags |= TREE_SHORT;
	clamp(&n->total, n->f.raw, &n->flags);
	clamp(&n->self, fmax(0, n->raw_self), &n->flags);
	n->raw_self = fmax(0, n->raw_self);
}

void tree_compensate(struct tree *t, const struct costs *c)
{
	for (uint32_t at = 0; at < t->n; at++) {
		struct tree_node *n = &t->nodes[at];

		n->caller = n->parent == TREE_NONE ? TYPE_UNKNOWN : t->nodes[n->parent].f.type;
	}
	/* children stand behind their parents */
	for (uint32_t at = t->n; at-- > 0;) {
		struct tree_node *n = &t->nodes[at];
		struct span outer_below = { 0 };
		double raw_below = 0;

		for (uint32_t k = n->first; k != TREE_NONE; k = t->nodes[k].next) {
			const struct tree_node *child = &t->nodes[k];
			struct own own = own_cost(c, child);

			add(&n->below, &own.pair, 1);
			add(&n->below, &child->below, 1);
			add(&outer_below, &own.outer, 1);
			raw_below += child->f.raw;
		}
		n->raw_self = n->f.raw - n->grows * raw_below;
		finish(c, n, &outer_below);
	}
}
