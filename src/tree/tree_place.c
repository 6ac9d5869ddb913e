/* SPDX-License-Identifier: Apache-2.0 */
/* tree_place.c - totals from calls that were measured alone.
 *
 *	total = calls * (mean - inner - what closed hooks below cost)
 *	self  = total - totals of the hooked calls below
 *
 * The interval of one call is made of
 *
 *	the margin of its mean: how stretches of time differ, by Student's t for their number (plan/stats/steady.h),
 *	or, where it was compiled several times, where the next compilation will be (plan/inplace/rounds.h);
 *	the offset: by what a hooked call differs from the blank one before it (COST_SOLO inner, a span);
 *	what closed hooks below cost, from nothing to the most that a calibration has seen;
 *	of what was compiled only once, the calibration's noise: by what share code differs that is compiled anew;
 *	and, upwards, the mean with the calls in it that were out of all proportion, which may be its own.
 *
 * A call that is not longer than what is not known of it has an interval from 0 on, and is called
 * short: then its time stays in the self time of its caller.  And what is below a call cannot take
 * longer than it does: where the figures of callees add up to more, they are shortened, all by the
 * same share.  So self times add up to the totals of the roots.
 *
 * The mean is that of outermost calls.  A call inside one of the same method has a total that
 * is not known, in the proportion of what subtraction found; in the sums over a method that calls
 * itself directly it cancels out.  Therefore self may be below 0 at a node, and is cut off only for
 * a method. */
#include "tree/tree_place.h"

#include "base/search.h"

#include <math.h>

enum { DENSE_NS = 20 }; /* of work for each closed hook: then it costs half as much as with none */

static const struct place_alone *alone_of(const struct place_alone *alone, size_t n, uint32_t id)
{
	size_t low = SEARCH(n, i, alone[i].id < id);

	return low < n && alone[low].id == id ? &alone[low] : NULL;
}

struct span tree_place_total(const struct place_program *p, const struct costs *c)
{
	const struct span *pair = &c->of[COST_COMPILED][COST_SOLO][0].pair;
	double all = p->open + p->closed, off = p->speed_margin < 0 ? 1 : p->speed_margin;
	double mid = p->speed_margin < 0 ? 0.5 : p->speed;
	struct span s = { p->closed + fmax(0, mid - off) * p->open - p->alone * pair->high -
				  p->more,
			  p->closed + mid * p->open - p->alone * pair->mid - p->more,
			  p->closed + (mid + off) * p->open - p->alone * pair->low - p->more };

	s.high = fmax(0, fmin(s.high, all - p->more)); /* hooks make nothing faster */
	s.mid = fmin(fmax(0, s.mid), s.high);
	s.low = fmin(fmax(0, s.low), s.mid);
	return s;
}

static bool is_usable(const struct place_alone *a)
{
	return a && a->calls > 0 && a->margin >= 0 && a->cut <= PLACE_CUT_MAX * a->calls;
}

/* One call without hooks, of a method that makes so many hooked calls. */
static struct span call_of(const struct place_alone *a, const struct tree_node *n,
			   const struct costs *c)
{
	const struct tree_figures *f = &n->f;
	const struct span *closed = &c->of[COST_COMPILED][COST_CLOSED][0].pair;
	double slow = f->interpreted, off, calls = tree_calls_in_raw(f);
	double below = calls > 0 && !a->bare ? n->hooks / calls : 0, dense;
	const double shares[COST_TIERS] = { [COST_COMPILED] = (1 - slow) * (1 - f->jni),
					    [COST_INTERPRETED] = slow,
					    [COST_JNI] = (1 - slow) * f->jni };
	struct span s = { a->mean, a->mean, a->mean };

	for (unsigned tier = 0; tier < COST_TIERS; tier++) {
		const struct span *inner = &c->of[tier][COST_SOLO][cost_class(a->mean)].inner;

		s.low -= shares[tier] * inner->high;
		s.mid -= shares[tier] * inner->mid;
		s.high -= shares[tier] * inner->low;
	}
	/* Where there is other work between them, the processor does closed hooks on the side. */
	dense = below > 0 ? below * DENSE_NS / (below * DENSE_NS + fmax(0, s.mid)) : 0;
	s.low -= below * closed->high;
	s.mid -= below * dense * closed->mid;
	s.high -= below * closed->low;
	off = a->margin + (a->anew ? 0 : c->noise * fmax(0, s.mid));
	s.low = fmax(0, s.low - off);
	s.mid = fmax(0, s.mid);
	s.high =
		fmax(s.mid, s.high + fmax(off, a->plain - a->mean)); /* slow calls may be its own */
	return s;
}

static struct span times(const struct span *s, double n)
{
	return (struct span){ s->low * n, s->mid * n, s->high * n };
}

/* The mean of a node's calls as subtraction sees it. */
static double mean_of(const struct tree_node *n)
{
	double calls = tree_calls_in_raw(&n->f);

	return calls > 0 ? n->total.mid / calls : 0;
}

static void place_node(struct tree *t, struct tree_node *n, const struct place_alone *a,
		       const struct costs *c)
{
	double calls = tree_calls_in_raw(&n->f), share = 1;
	struct span one = call_of(a, n, c);

	if (tree_is_inner(t, n)) {
		const struct tree_node *up = &t->nodes[n->parent];

		while (up->f.id != n->f.id)
			up = &t->nodes[up->parent];
		share = mean_of(up) > 0 ? fmin(1, mean_of(n) / mean_of(up)) : 1;
	}
	n->total = times(&one, calls * share);
	n->flags &= ~(unsigned)(TREE_CLAMPED | TREE_SHORT);
	n->flags |= TREE_PLACED | (one.mid > 0 ? 0 : TREE_CLAMPED);
}

static void place_long(struct tree_node *n, const struct span *share)
{
	n->total = times(share, n->f.raw);
	n->flags &= ~(unsigned)(TREE_CLAMPED | TREE_SHORT);
	n->flags |= TREE_PLACED;
}

/* Totals of what a node calls. */
static struct span sum_below(const struct tree *t, const struct tree_node *n)
{
	struct span sum = { 0, 0, 0 };

	for (uint32_t k = n->first; k != TREE_NONE; k = t->nodes[k].next) {
		sum.low += n->grows * t->nodes[k].total.low;
		sum.mid += n->grows * t->nodes[k].total.mid;
		sum.high += n->grows * t->nodes[k].total.high;
	}
	return sum;
}

/* What is below a placed node takes no longer than it does, surely or probably or at most. */
static void shorten_below(struct tree *t, const struct tree_node *n)
{
	struct span sum = sum_below(t, n);
	double mid = sum.mid > n->total.mid ? n->total.mid / sum.mid : 1;
	double low = sum.low > n->total.low ? n->total.low / sum.low : 1;

	for (uint32_t k = n->first; k != TREE_NONE; k = t->nodes[k].next) {
		struct span *s = &t->nodes[k].total;

		s->mid *= mid;
		s->low = fmin(s->low * low, s->mid);
		s->high = fmax(s->mid, fmin(s->high, n->total.high / fmax(n->grows, 1)));
	}
}

/* The time that a node has for itself and for what it calls: a short one's stays with its
 * caller. */
static double weight_of(const struct tree_node *n)
{
	bool stays = n->parent != TREE_NONE && n->flags & TREE_PLACED && n->flags & TREE_SHORT;

	return stays ? 0 : n->total.mid;
}

static void place_self(const struct tree *t, struct tree_node *n)
{
	struct span below = sum_below(t, n);

	n->self =
		(struct span){ n->total.low - below.high, weight_of(n), n->total.high - below.low };
	for (uint32_t k = n->first; k != TREE_NONE; k = t->nodes[k].next)
		n->self.mid -= n->grows * weight_of(&t->nodes[k]);
}

static void count_hooks(struct tree *t)
{
	for (uint32_t i = 0; i < t->n; i++)
		t->nodes[i].hooks = 0;
	for (uint32_t i = t->n; i-- > 0;) { /* children stand behind their parents */
		struct tree_node *n = &t->nodes[i];

		n->hooks *= n->grows;
		if (n->parent != TREE_NONE)
			t->nodes[n->parent].hooks += n->hooks + n->f.calls;
	}
}

void tree_place_into(struct tree *t, const struct place_alone *alone, size_t n,
		     const struct place_program *p, const struct costs *c)
{
	double all = p ? p->open + p->closed : 0;
	struct span share = { 0, 0, 0 };

	if (all > 0) {
		share = tree_place_total(p, c);
		share = times(&share, 1 / all);
	}
	count_hooks(t);
	for (uint32_t i = 0; i < t->n; i++) { /* parents stand before children */
		struct tree_node *node = &t->nodes[i];
		const struct place_alone *a = alone_of(alone, n, node->f.id);

		if (!(node->f.timed > 0))
			continue;
		if (is_usable(a))
			place_node(t, node, a, c);
		else if (all > 0 && a && a->cut > 0)
			place_long(node, &share);
	}
	for (uint32_t i = 0; i < t->n; i++) {
		struct tree_node *node = &t->nodes[i];

		if (!(node->flags & TREE_PLACED))
			continue;
		node->flags |= node->total.low > 0 ? 0 : TREE_SHORT;
		shorten_below(t, node);
	}
	for (uint32_t i = 0; i < t->n; i++)
		if (t->nodes[i].flags & TREE_PLACED)
			place_self(t, &t->nodes[i]);
}
