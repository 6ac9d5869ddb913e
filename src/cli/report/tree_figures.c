/* SPDX-License-Identifier: Apache-2.0 */
/* tree_figures.c - the call tree without the cost of its hooks: the rows go through src/tree and
 * back. */
#include <math.h>

#include "base/map.h"
#include "base/mem.h"
#include "base/whole.h"
#include "cli/report/report_rows.h"
#include "cli/report/tree_rows.h"
#include "tree/agree.h"

/* The nodes by their place in the arithmetic. */
struct places {
	struct call_tree *t;
	struct tree tree;
	struct call_node **nodes;
	size_t n;
	struct map calls; /* of a method, by its id */
	struct map first; /* its first node */
};

static struct slice key_of(const uint32_t *id)
{
	return (struct slice){ (const uint8_t *)id, sizeof(*id) };
}

static void count_calls(struct places *p)
{
	for (struct call_node *n = p->t->root.first; n; n = call_node_after(p->t, n)) {
		uintptr_t *sum = map_put(&p->calls, key_of(&n->m.id), NULL);
		uintptr_t *first = map_put(&p->first, key_of(&n->m.id), NULL);

		if (!sum || !first) {
			p->t->err = E_NO_MEMORY;
			return;
		}
		*sum = whole_add(*sum, n->m.calls);
		if (!*first)
			*first = (uintptr_t)n;
	}
}

static void add_nodes(struct places *p)
{
	for (struct call_node *n = p->t->root.first; n; n = call_node_after(p->t, n)) {
		const struct wire_node *m = &n->m;
		uintptr_t *calls = map_put(&p->calls, key_of(&m->id), NULL);
		struct tree_figures f = (struct tree_figures){
			.id = m->id,
			.depth = m->depth,
			.kind = m->flags & NODE_SETTLED ? COST_SETTLED : COST_EVERY,
			.light = m->flags & NODE_LIGHT,
			.calls = (double)m->calls,
			.timed = (double)m->timed,
			.raw = (double)m->total_ns,
			.interpreted = report_interpreted(m->cold, calls ? *calls : m->calls),
			.jni = m->jni >= 0 && m->jni <= 1 ? m->jni : 0,
			.type = m->type,
			.of = report_raw_of(m),
			.running = (double)m->running,
			.min = (double)m->min_ns,
			.max = (double)m->max_ns
		};

		f.margin = agree_margin(&f);
		tree_add(&p->tree, &f);
		p->nodes[p->n++] = n;
	}
}

static uint64_t whole(double v)
{
	return whole_of(v + 0.5);
}

/* The shortest and the longest call, as a kind of figure with the mean; an estimate for all calls may lie
 * beside those that were timed. */
static void take_single(struct call_node *n, const struct tree_node *from)
{
	double calls = n->raw_calls;
	struct agree_call one = { n->raw_ns / fmax(calls, 1), from->inner,
				  (double)n->m.total_ns / fmax(calls, 1) };

	double min = (double)n->m.min_ns, max = (double)n->m.max_ns;

	if (!n->m.max_ns || !n->m.timed)
		return;
	n->m.min_ns = whole(fmin(one.mean, n->compensated ? agree_one(&one, min) : min));
	n->m.max_ns = whole(fmax(one.mean, n->compensated ? agree_one(&one, max) : max));
}

static void take_figures(struct call_node *n, const struct tree_node *from, bool compensated)
{
	n->m.timed = whole_of(ceil(from->f.timed - 1e-6)); /* a part of a call counts as one */
	n->m.calls = whole(fmax(from->f.calls, (double)n->m.timed));
	n->raw_ns = from->f.raw;
	n->raw_calls = n->m.timed ? fmax(1, round(tree_calls_in_raw(&from->f))) : 0;
	n->total = from->total;
	n->self = from->self;
	n->flags = from->flags;
	n->reconciled = true;
	n->compensated = compensated && n->m.timed;
	n->least_ns = whole(from->least.mid);
	n->m.total_ns = whole(n->total.mid);
	n->m.self_ns = whole(n->self.mid);
	take_single(n, from);
}

double call_node_avg_ns(const struct call_node *n)
{
	double calls = n->reconciled ? n->raw_calls : (double)n->m.timed;

	if (!(calls > 0))
		return 0;
	return (call_node_is_bounded(n) ? n->total.high : (double)n->m.total_ns) / calls;
}

bool call_node_is_bounded(const struct call_node *n)
{
	const struct span *s = &n->total;

	if (!n->reconciled || !n->m.timed)
		return false;
	return n->flags & TREE_RECURSIVE || s->mid <= 0 ||
	       fmax(s->mid - s->low, s->high - s->mid) > s->mid;
}

bool call_node_self_is_bounded(const struct call_node *n)
{
	if (!n->reconciled || !n->m.timed || n->self.high < 0.5)
		return false;
	return call_node_is_bounded(n) || n->flags & TREE_SELF_BOUND ||
	       (n->self.mid < 0.5 && n->self.high >= 0.5);
}

bool call_node_runs(const struct call_node *n)
{
	return n->reconciled ? n->flags & TREE_RUNNING || !n->m.timed : n->least_ns > n->m.total_ns;
}

/* A node that came up in the arithmetic: of the method of another one. */
static struct call_node *make_node(struct places *p, const struct tree_node *from)
{
	struct call_node *n = arena_zero(&p->t->mem, sizeof(*n)), *up = p->nodes[from->parent];
	const uintptr_t *first = map_get(&p->first, key_of(&from->f.id));

	if (!n)
		return NULL;
	if (first) {
		const struct call_node *like = (const struct call_node *)*first;

		n->m = like->m;
		n->m.min_ns = n->m.max_ns = n->m.errors = n->m.metered = 0;
		n->name = like->name;
	}
	n->m.depth = up->m.depth + 1;
	n->parent = up;
	n->next = up->first;
	up->first = n;
	up->n_children++;
	p->t->n++;
	return n;
}

static void drop_empty_children(struct call_tree *t, struct call_node *parent)
{
	struct call_node **link = &parent->first;

	while (*link) {
		struct call_node *n = *link;

		if (n->m.calls || n->m.timed || n->m.errors || n->first) {
			link = &n->next;
			continue;
		}
		*link = n->next;
		parent->n_children--;
		t->n--;
	}
}

/* Takes out what has no calls left; what is below is looked at before. */
static void drop_empty(struct call_tree *t)
{
	for (struct call_node *n = call_node_up(t, NULL); n; n = call_node_up(t, n))
		drop_empty_children(t, n);
}

static void take_back(struct places *p, bool compensated)
{
	size_t known = p->n;
	void *more = mem_realloc(p->nodes, (p->tree.n + (size_t)1) * sizeof(*p->nodes));

	if (!more) {
		p->t->err = E_NO_MEMORY;
		return;
	}
	p->nodes = more;
	for (uint32_t i = 0; i < p->tree.n; i++) {
		if (i >= known) {
			p->nodes[i] = make_node(p, &p->tree.nodes[i]);
			if (!p->nodes[i]) {
				p->t->err = E_NO_MEMORY;
				return;
			}
			p->n++;
		}
		take_figures(p->nodes[i], &p->tree.nodes[i], compensated);
	}
	drop_empty(p->t);
}

void call_tree_compensate(struct call_tree *t, const struct costs *c)
{
	static const struct costs nothing;
	struct costs costs;
	struct places p = { .t = t, .nodes = mem_alloc((t->n + 1) * sizeof(*p.nodes)) };

	cost_at(c ? c : &nothing, t->pulse_ns, &costs);
	costs.seen = &t->seen;
	tree_init(&p.tree);
	if (!p.nodes)
		t->err = E_NO_MEMORY;
	else
		count_calls(&p);
	if (!t->err)
		add_nodes(&p);
	if (!t->err) {
		tree_gather(&p.tree);
		agree_raw(&p.tree);
		tree_compensate(&p.tree, &costs);
		agree_all(&p.tree);
		t->err = p.tree.err;
	}
	if (!t->err)
		take_back(&p, c != NULL);
	map_release(&p.calls);
	map_release(&p.first);
	tree_release(&p.tree);
	mem_free(p.nodes);
}
