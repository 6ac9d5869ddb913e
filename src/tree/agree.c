/* SPDX-License-Identifier: Apache-2.0 */
/* agree.c - figures that can be true together.
 *
 * Going up, each node is compared with what it has called.  When that comes to more
 *
 *	and calls of it still run, these have called it: it is TREE_RUNNING, and nothing is wrong;
 *	and the intervals meet, it is luck: the truth is between the two, nearer to the better known;
 *	and they do not meet, and one call in N was timed, then calls that stand beside each other lie
 *	within each other in truth (docs/decisions/drawn-contexts.md): TREE_OVERLAP.
 *
 * Going down, what is still too much is shortened, the children that are least certain first; below
 * TREE_OVERLAP each by itself.
 *
 * A method that calls itself while one call in N is timed has at its outermost node also the inner
 * calls of those outermost ones that were not timed, since they had no frame.  How many these are
 * nobody knows: its total there is a bound (TREE_RECURSIVE), at least what it has called. */
#include "tree/agree.h"

#include <math.h>

static const double slight = 1e-9; /* of rounding */

double agree_margin(const struct tree_figures *f)
{
	double n = f->timed, calls = tree_calls_in_raw(f), mean, most, variance;

	if (!tree_is_drawn(f) || !(n > 0) || !(f->raw > 0) || !(f->max > 0))
		return 0;
	mean = f->raw / calls;
	most = fmax(0, f->max - mean) * fmax(0, mean - f->min); /* no variance is larger */
	variance = (n * most + mean * mean) / (n + 1);		/* nor that of few calls known */
	return 1.96 * sqrt(variance / n * fmax(0, 1 - n / calls)) / mean;
}

double agree_one(const struct agree_call *c, double ns)
{
	double left = c->raw - c->inner;

	if (!(left > 0) || !(c->mean > 0))
		return 0;
	return fmin(ns, fmax(0, (ns - c->inner) * c->mean / left));
}

/* What is taken for what a node adds to the one above: of a bound, its low end. */
static struct span share_of(const struct tree_node *n)
{
	struct span s = n->least;

	if (n->flags & TREE_RECURSIVE)
		s.mid = s.low;
	return s;
}

static struct span sum_below(const struct tree *t, const struct tree_node *n)
{
	struct span sum = { 0, 0, 0 };

	for (uint32_t k = n->first; k != TREE_NONE; k = t->nodes[k].next) {
		struct span s = share_of(&t->nodes[k]);

		sum.low += n->grows * s.low;
		sum.mid += n->grows * s.mid;
		sum.high += n->grows * s.high;
	}
	return sum;
}

static bool is_drawn_here(const struct tree *t, const struct tree_node *n)
{
	bool drawn = tree_is_drawn(&n->f);

	for (uint32_t k = n->first; k != TREE_NONE && !drawn; k = t->nodes[k].next)
		drawn = tree_is_drawn(&t->nodes[k].f);
	return drawn;
}

/* Between two that are wrong by chance: nearer to that with the shorter way. */
static double between(double a, double a_off, double b, double b_off)
{
	return a_off + b_off > 0 ? (a * b_off + b * a_off) / (a_off + b_off) : a;
}

/* What was found to be wrong may be wrong by as much again. */
static void raise(struct span *s, double to)
{
	s->high += fmax(0, to - s->mid);
	s->mid = to;
	s->low = fmin(s->low, to);
}

/* What children took of which every call was timed: so much their caller took for certain. */
static double exact_below(const struct tree *t, const struct tree_node *n)
{
	double sum = 0;

	for (uint32_t k = n->first; k != TREE_NONE; k = t->nodes[k].next)
		if (t->nodes[k].f.timed > 0 && !tree_is_drawn(&t->nodes[k].f))
			sum += n->grows * t->nodes[k].least.low;
	return sum;
}

static void compare(const struct tree *t, struct tree_node *n)
{
	struct span sum = sum_below(t, n), *s = &n->total;

	n->least = n->f.timed > 0 ? *s : sum;
	if (!(n->f.timed > 0))
		return;
	if (n->flags & TREE_RECURSIVE) {
		raise(s, fmax(s->mid, sum.mid));
		s->low = fmin(s->mid, sum.mid);
	} else if (sum.mid <= s->mid * (1 + slight)) {
		;
	} else if (n->f.running > 0 && !tree_is_drawn(&n->f)) {
		n->flags |= TREE_RUNNING;
		n->least = sum;
		return;
	} else if (tree_is_drawn(&n->f) && exact_below(t, n) > s->high) {
		raise(s, exact_below(t, n));
		if (sum.low > s->high)
			n->flags |= TREE_OVERLAP;
	} else if (sum.low <= s->high) {
		raise(s, between(s->mid, s->high - s->mid, sum.mid, sum.mid - sum.low));
	} else if (is_drawn_here(t, n)) {
		n->flags |= TREE_OVERLAP;
	}
	n->least = *s;
}

static void limit(struct tree_node *n, double mid, double high)
{
	struct span *s = &n->least;

	double less = fmax(0, s->mid - mid);

	s->mid = fmin(s->mid, mid);
	s->low = n->flags & TREE_RECURSIVE ? fmin(s->low, s->mid)
					   : fmin(fmax(s->low - less, s->mid / 100), s->mid);
	s->high = fmax(s->mid, fmin(s->high, high));
	if (n->f.timed > 0 && !(n->flags & TREE_RUNNING))
		n->total = *s;
	n->total.mid = fmin(n->total.mid, fmax(s->mid, 0));
	n->total.low = fmin(n->total.low, n->total.mid);
}

/* What bounds may be above their low ends: together what the others leave. */
static void limit_bounds(struct tree *t, const struct tree_node *n, const struct span *sum)
{
	double room = n->least.mid - fmin(sum->mid, n->least.mid), over = 0, share;

	for (uint32_t k = n->first; k != TREE_NONE; k = t->nodes[k].next)
		if (t->nodes[k].flags & TREE_RECURSIVE)
			over += n->grows * (t->nodes[k].least.mid - t->nodes[k].least.low);
	share = over > room ? room / over : 1;
	for (uint32_t k = n->first; k != TREE_NONE; k = t->nodes[k].next) {
		struct tree_node *c = &t->nodes[k];
		double low = c->least.low;

		if (c->flags & TREE_RECURSIVE)
			limit(c, low + share * (c->least.mid - low), n->least.high);
	}
}

/* So much of a child's time is left when all of them come to sum, and may come to most: what is least
 * certain goes first. */
static double shortened(const struct span *c, const struct span *sum, double most)
{
	double over = sum->mid - most, wide = sum->mid - sum->low;

	if (over <= 0)
		return c->mid;
	if (over <= wide)
		return c->mid - over / wide * (c->mid - c->low);
	return sum->low > 0 ? c->low * most / sum->low : 0;
}

static void shorten_below(struct tree *t, const struct tree_node *n)
{
	struct span sum = sum_below(t, n);
	double most = n->least.mid, each = most / n->grows;

	if (n->flags & TREE_PLACED)
		return; /* tree_place_into() has seen to it, and has its own rules */
	for (uint32_t k = n->first; k != TREE_NONE; k = t->nodes[k].next) {
		struct tree_node *c = &t->nodes[k];
		struct span share = share_of(c);
		double left = n->flags & TREE_OVERLAP ? each : shortened(&share, &sum, most);

		if (c->flags & TREE_RECURSIVE) { /* its low end counts, its middle comes later */
			c->least.low = fmin(c->least.low, left);
			left = each;
		}
		limit(c, fmin(each, left), n->least.high);
	}
	if (!(n->flags & TREE_OVERLAP))
		limit_bounds(t, n, &sum);
}

static void set_self(const struct tree *t, struct tree_node *n)
{
	struct span below = { 0, 0, 0 };
	double largest = 0;

	if (!(n->f.timed > 0) || n->flags & TREE_PLACED)
		return;
	for (uint32_t k = n->first; k != TREE_NONE; k = t->nodes[k].next) {
		const struct tree_node *c = &t->nodes[k];

		below.low += n->grows * c->least.low;
		below.mid += n->grows * c->least.mid;
		largest = fmax(largest, c->least.mid);
		if (c->flags & TREE_RECURSIVE)
			n->flags |= TREE_SELF_BOUND;
	}
	if (n->flags & (TREE_RUNNING | TREE_OVERLAP | TREE_RECURSIVE))
		n->flags |= TREE_SELF_BOUND;
	n->self.mid = fmax(0, n->total.mid - below.mid);
	n->self.low = fmin(fmax(0, n->self.low), n->self.mid);
	n->self.high = fmin(fmax(n->self.high, n->self.mid), n->total.high);
	if (n->flags & TREE_RUNNING)
		n->self.high = n->total.mid;
	else if (n->flags & TREE_OVERLAP)
		n->self.high = n->total.mid - fmin(largest, n->total.mid);
	else if (n->flags & TREE_SELF_BOUND)
		n->self.high = n->total.high - fmin(below.low, n->total.high);
	n->self.high = fmax(n->self.high, n->self.mid);
}

static void level(struct tree *t)
{
	for (uint32_t i = t->n; i-- > 0;) /* children stand behind their parents */
		compare(t, &t->nodes[i]);
	for (uint32_t i = 0; i < t->n; i++)
		shorten_below(t, &t->nodes[i]);
}

/* What was found below it stands for itself: nobody knows for how much else. */
static void mark_drawn(struct tree_node *n)
{
	if (!tree_is_drawn(&n->f))
		return;
	n->flags |= TREE_RECURSIVE;
	n->grows = 1;
}

/* A method that calls itself, and of which one call in N is timed.  Marks all those on the way. */
static void find_recursion(struct tree *t)
{
	for (uint32_t i = 0; i < t->n; i++) {
		uint32_t id = t->nodes[i].f.id, up = t->nodes[i].parent;

		while (up != TREE_NONE && t->nodes[up].f.id != id)
			up = t->nodes[up].parent;
		if (up == TREE_NONE)
			continue;
		t->nodes[i].flags |= TREE_CALLS_ITSELF;
		t->nodes[up].flags |= TREE_CALLS_ITSELF;
		mark_drawn(&t->nodes[i]);
		mark_drawn(&t->nodes[up]);
	}
}

/* Nothing is known but how much at most. */
static bool is_bound(const struct tree_node *n)
{
	return n->flags & TREE_RECURSIVE || n->total.mid < 0.5;
}

void agree_raw(struct tree *t)
{
	find_recursion(t);
	for (uint32_t i = 0; i < t->n; i++) {
		struct tree_node *n = &t->nodes[i];
		bool drawn = tree_is_drawn(&n->f) && n->f.timed > 0;
		double off = n->f.margin + (drawn ? 2 / sqrt(n->f.timed) : 0);
		double raw = n->f.raw, calls = tree_calls_in_raw(&n->f);

		double surely = calls > 0 ? n->f.timed / calls : 0; /* those that were timed */

		n->total =
			(struct span){ raw * fmax(fmin(1, surely), 1 - off), raw, raw * (1 + off) };
	}
	level(t);
	for (uint32_t i = 0; i < t->n; i++) {
		struct tree_node *n = &t->nodes[i];

		if (n->f.timed > 0)
			n->f.raw = is_bound(n) ? n->total.high : n->total.mid;
	}
}

void agree_all(struct tree *t)
{
	for (uint32_t i = 0; i < t->n; i++)
		t->nodes[i].flags &= ~(unsigned)TREE_RUNNING;
	level(t);
	for (uint32_t i = 0; i < t->n; i++)
		set_self(t, &t->nodes[i]);
}
