/* SPDX-License-Identifier: Apache-2.0 */
/* methods.c - the figures of methods: sums over the nodes of the tree.
 *
 * A call within another one of the same method is in the time of that one already.  What costs may be
 * off by is the same at all nodes and adds up; the luck of the draw at one has nothing to do with that
 * at another, so squares add up. */
#include "tree/tree.h"

#include <math.h>
#include <stdlib.h>

#include "base/mem.h"

bool tree_is_inner(const struct tree *t, const struct tree_node *n)
{
	uint32_t up = n->parent;

	while (up != TREE_NONE && t->nodes[up].f.id != n->f.id)
		up = t->nodes[up].parent;
	return up != TREE_NONE;
}

/* A sum: while it is made, low and high of its spans are how far costs may be off. */
struct sum {
	struct tree_method m;
	double luck, self_luck; /* squares */
};

static int by_id(const void *a, const void *b)
{
	const struct sum *m = a, *n = b;

	return m->m.id < n->m.id ? -1 : m->m.id > n->m.id;
}

/* How far off by costs; gives how far off by luck. */
static double part(struct span *s, double luck)
{
	double low = fmax(0, s->mid - s->low), high = fmax(0, s->high - s->mid);

	s->low = low - fmin(low, luck);
	s->high = high - fmin(high, luck);
	return fmin(fmax(low, high), luck);
}

static void whole(struct span *s, double luck)
{
	s->low = s->mid - s->low - sqrt(luck);
	s->high = s->mid + s->high + sqrt(luck);
}

static struct sum sum_of(const struct tree *t, const struct tree_node *n)
{
	double calls = tree_calls_in_raw(&n->f), luck = n->f.margin * n->f.raw;
	struct sum s = { 0 };
	struct tree_method m = { .id = n->f.id,
				 .flags = n->flags,
				 .raw_self = n->raw_self,
				 .self = n->self,
				 .raw_all = n->f.raw,
				 .calls = n->f.calls,
				 .inner = n->inner * calls,
				 .self_bounded = n->flags & TREE_SELF_BOUND ? n->self.high : 0 };

	if (!tree_is_inner(t, n)) {
		m.raw = n->f.raw;
		m.total = n->total;
		m.outermost = n->f.calls;
		m.least = n->least.mid;
		m.bounded = n->flags & TREE_RECURSIVE ? n->total.high : 0;
	}
	s.self_luck = part(&m.self, luck);
	s.luck = part(&m.total, luck);
	s.luck *= s.luck;
	s.self_luck *= s.self_luck;
	s.m = m;
	return s;
}

static void add(struct span *to, const struct span *s)
{
	to->low += s->low;
	to->mid += s->mid;
	to->high += s->high;
}

static void add_sum(struct sum *sum, const struct sum *one)
{
	struct tree_method *to = &sum->m;
	const struct tree_method *m = &one->m;

	sum->luck += one->luck;
	sum->self_luck += one->self_luck;
	to->flags |= m->flags;
	to->raw += m->raw;
	to->raw_self += m->raw_self;
	to->raw_all += m->raw_all;
	to->calls += m->calls;
	to->outermost += m->outermost;
	to->inner += m->inner;
	to->least += m->least;
	to->bounded += m->bounded;
	to->self_bounded += m->self_bounded;
	add(&to->total, &m->total);
	add(&to->self, &m->self);
}

/* From sums to means and shares.  In place, self may be below 0 at a node; of a method it is not, and
 * no more than its total. */
static struct tree_method finish(struct sum *s)
{
	struct tree_method *m = &s->m;

	whole(&m->total, s->luck);
	whole(&m->self, s->self_luck);
	m->total.low = fmin(fmax(0, m->total.low), m->total.mid);
	if (m->self.mid < 0)
		m->flags |= TREE_CLAMPED;
	m->self.mid = fmin(fmax(0, m->self.mid), m->total.mid);
	m->self.low = fmin(fmax(0, m->self.low), m->self.mid);
	m->self.high = fmax(m->self.mid, fmin(m->self.high, m->total.high));
	m->raw_self = fmin(m->raw_self, m->raw);
	m->inner /= fmax(m->calls, 1);
	m->bounded = m->total.high > 0 ? m->bounded / m->total.high : 0;
	m->self_bounded = m->self.high > 0 ? fmin(1, m->self_bounded / m->self.high) : 0;
	return *m;
}

int tree_methods(const struct tree *t, struct tree_method **out, size_t *n)
{
	struct sum *all = mem_alloc((t->n + (size_t)1) * sizeof(*all));
	struct tree_method *methods;
	size_t k = 0;

	if (!all)
		return E_NO_MEMORY;
	for (uint32_t i = 0; i < t->n; i++)
		all[i] = sum_of(t, &t->nodes[i]);
	if (t->n)
		qsort(all, t->n, sizeof(*all), by_id);
	for (uint32_t i = 0; i < t->n; i++) {
		if (k && all[k - 1].m.id == all[i].m.id)
			add_sum(&all[k - 1], &all[i]);
		else
			all[k++] = all[i];
	}
	methods = mem_alloc((k + 1) * sizeof(*methods));
	for (size_t i = 0; i < k && methods; i++)
		methods[i] = finish(&all[i]);
	mem_free(all);
	if (!methods)
		return E_NO_MEMORY;
	*out = methods;
	*n = k;
	return 0;
}
