/* SPDX-License-Identifier: Apache-2.0 */
/* Compensation against programs that are played through: each call is known, and what its hook
 * adds. */
#include "tree/tree.h"

#include <math.h>

#include "base/mem.h"
#include "test.h"

/* ---- a program that is played ---- */

enum { METHODS = 8, NODES = 4000, DEPTH = 64, CALLS = 16 };

/* A method: its own work, and what it calls. */
struct method {
	double work;
	unsigned calls[CALLS]; /* ids, ended by 0 */
	unsigned one_in;       /* 0: light; 1: every call; else drawn */
};

struct played_node {
	uint32_t id, parent, depth;
	double calls, timed, sum;
};

struct play {
	const struct method *methods;
	struct costs costs;
	struct played_node nodes[NODES];
	uint32_t n, stack[DEPTH], top;
	double now, truth; /* clocks: with hooks, and without */
	double total[METHODS], self[METHODS];
	unsigned inside[METHODS];
	uint64_t seed;
};

static struct span exactly(double v)
{
	return (struct span){ v, v, v };
}

static struct costs costs_exact(void)
{
	static const double inner[COST_KINDS] = { 20, 30, 47, 0, 0 },
			    pair[COST_KINDS] = { 45, 90, 107, 6, 4 };
	struct costs c = { .mechanism = "test" };

	for (unsigned t = 0; t < COST_TIERS; t++)
		for (unsigned k = 0; k < COST_KINDS; k++)
			for (unsigned i = 0; i < COST_CLASSES; i++)
				c.of[t][k][i] = (struct cost){ exactly(inner[k]),
							       exactly(pair[k] - inner[k]),
							       exactly(pair[k]) };
	return c;
}

static uint32_t node_for(struct play *p, uint32_t parent, uint32_t id)
{
	for (uint32_t i = 1; i < p->n; i++)
		if (p->nodes[i].parent == parent && p->nodes[i].id == id)
			return i;
	p->nodes[p->n] = (struct played_node){ id, parent, p->nodes[parent].depth + 1, 0, 0, 0 };
	return p->n++;
}

static unsigned draw(struct play *p, unsigned n)
{
	p->seed = p->seed * 6364136223846793005u + 1442695040888963407u;
	return (unsigned)(p->seed >> 33) % n;
}

static void spend(struct play *p, double ns)
{
	p->now += ns;
	p->truth += ns;
}

/* depth_left: a method calls itself as long as that is above 0. */
static void call(struct play *p, uint32_t id, unsigned depth_left)
{
	const struct method *m = &p->methods[id];
	bool timed = m->one_in && draw(p, m->one_in) == 0;
	enum cost_kind kind = m->one_in == 1  ? COST_EVERY
			      : m->one_in < 8 ? COST_SETTLED
					      : COST_RARE;
	const struct cost *c = &p->costs.of[0][timed	   ? kind
					       : m->one_in ? COST_PASSED
							   : COST_LIGHT][0];
	uint32_t node = node_for(p, p->stack[p->top], id);
	double began = p->truth, measured;

	p->nodes[node].calls++;
	if (timed)
		p->stack[++p->top] = node;
	p->inside[id]++;
	p->now += timed ? c->outer.mid : c->pair.mid;
	measured = p->now;
	p->now += timed ? c->inner.mid : 0;
	spend(p, m->work);
	p->self[id] += m->work;
	for (unsigned i = 0; m->calls[i]; i++)
		if (m->calls[i] != id || depth_left)
			call(p, m->calls[i], m->calls[i] == id ? depth_left - 1 : depth_left);
	if (timed) {
		p->top--;
		p->nodes[node].timed++;
		p->nodes[node].sum += p->now - measured;
	}
	if (--p->inside[id] == 0)
		p->total[id] += p->truth - began;
}

static void add_nodes(struct tree *t, const struct play *p, uint32_t parent)
{
	for (uint32_t i = 1; i < p->n; i++) {
		const struct played_node *n = &p->nodes[i];
		unsigned one_in = p->methods[n->id].one_in;

		if (n->parent != parent)
			continue;
		tree_add(t, &(struct tree_figures){
				    .id = n->id,
				    .depth = n->depth - 1,
				    .kind = one_in == 1 ? COST_EVERY : COST_SETTLED,
				    .light = one_in == 0,
				    .calls = n->calls,
				    .timed = n->timed,
				    .raw = n->timed > 0 ? n->sum * n->calls / n->timed : 0 });
		add_nodes(t, p, i);
	}
}

static struct play *play(const struct method *methods, unsigned times, unsigned depth)
{
	static struct play p;

	p = (struct play){ .methods = methods, .costs = costs_exact(), .n = 1, .seed = 42 };
	for (unsigned i = 0; i < times; i++)
		call(&p, 1, depth);
	return &p;
}

/* The method's figures after compensation; false: it is not there. */
static bool compensated(const struct play *p, uint32_t id, struct tree_method *out)
{
	struct tree_method *all = NULL;
	struct tree t;
	size_t n = 0;
	bool found = false;

	tree_init(&t);
	add_nodes(&t, p, 0);
	tree_gather(&t);
	tree_compensate(&t, &p->costs);
	CHECK_INT(tree_methods(&t, &all, &n), 0, NULL);
	for (size_t i = 0; i < n; i++)
		if (all[i].id == id) {
			*out = all[i];
			found = true;
		}
	mem_free(all);
	tree_release(&t);
	return found;
}

static bool near(double got, double want, double share)
{
	return fabs(got - want) <= share * want + 1e-6;
}

/* ---- tests ---- */

TEST(compensation_is_exact_for_a_fan_out_where_hooks_cost_most)
{
	static const struct method fan[METHODS] = {
		[1] = { 5, { 2, 2, 2, 2, 2, 2, 2, 2, 2, 2 }, 1 },
		[2] = { 2, { 3, 3, 3, 3, 3, 3, 3, 3, 3, 3 }, 1 },
		[3] = { 1, { 0 }, 1 },
	};
	const struct play *p = play(fan, 100, 0);
	struct tree_method m;

	for (uint32_t id = 1; id <= 3; id++) {
		CHECK(compensated(p, id, &m));
		CHECK(near(m.total.mid, p->total[id], 1e-9));
		CHECK(near(m.self.mid, p->self[id], 1e-9));
		CHECK(m.raw > 10 * p->total[id]);
		CHECK_INT(m.flags, TREE_SHORT, "most of it was hooks");
	}
}

TEST(compensation_counts_a_recursion_once)
{
	static const struct method fib[METHODS] = {
		[1] = { 3, { 2 }, 1 },
		[2] = { 7, { 2, 2 }, 1 },
	};
	const struct play *p = play(fib, 3, 6);
	struct tree_method m;

	CHECK(compensated(p, 2, &m));
	CHECK(near(m.total.mid, p->total[2], 1e-9));
	CHECK(near(m.self.mid, p->self[2], 1e-9));
	CHECK(m.raw_all > 2 * m.raw);
}

TEST(compensation_takes_light_hooks_out_of_what_calls_them)
{
	static const struct method light[METHODS] = {
		[1] = { 50, { 2, 2, 2, 3 }, 1 },
		[2] = { 10, { 0 }, 0 },
		[3] = { 10, { 2, 2 }, 1 },
	};
	const struct play *p = play(light, 1000, 0);
	struct tree_method m;

	CHECK(compensated(p, 1, &m));
	CHECK(near(m.total.mid, p->total[1], 1e-9));
	CHECK(compensated(p, 3, &m));
	CHECK(near(m.total.mid, p->total[3], 1e-9));
}

TEST(calls_below_one_in_n_are_put_back_where_they_were_made)
{
	static const struct method sampled[METHODS] = {
		[1] = { 100, { 2, 2, 3 }, 1 },
		[2] = { 200, { 3, 4 }, 16 },
		[3] = { 300, { 0 }, 5 },
		[4] = { 50, { 3 }, 1 },
	};
	const struct play *p = play(sampled, 40000, 0);
	struct tree_method m;

	for (uint32_t id = 1; id <= 4; id++) {
		CHECK(compensated(p, id, &m));
		if (!CHECK(near(m.total.mid, p->total[id], 0.02)) ||
		    !CHECK(near(m.self.mid, p->self[id], 0.05)))
			CHECK_INT(id, -1, "of this method");
	}
}

TEST(a_call_that_is_drawn_rarely_costs_more_than_one_that_often_is)
{
	static const struct method drawn[METHODS] = {
		[1] = { 1000, { 2, 2, 2, 2, 3, 3, 3, 3 }, 1 },
		[2] = { 5, { 0 }, 100 },
		[3] = { 5, { 0 }, 3 },
	};
	const struct play *p = play(drawn, 20000, 0);
	struct tree_method m;

	CHECK(compensated(p, 2, &m));
	CHECK(near(m.total.mid, p->total[2], 1e-6));
	CHECK(compensated(p, 3, &m));
	CHECK(near(m.total.mid, p->total[3], 1e-6));
}

TEST(the_interval_holds_the_truth_when_the_costs_are_spans)
{
	static const struct method two[METHODS] = {
		[1] = { 400, { 2, 2 }, 1 },
		[2] = { 100, { 0 }, 1 },
	};
	struct play *p = play(two, 10, 0);
	struct tree_method m;

	for (unsigned i = 0; i < COST_CLASSES; i++) {
		struct cost *c = &p->costs.of[0][COST_EVERY][i];

		c->inner = (struct span){ 10, 18, 25 };
		c->outer = (struct span){ 20, 22, 30 };
		c->pair = (struct span){ 35, 40, 50 };
	}
	CHECK(compensated(p, 1, &m));
	CHECK(m.total.low < p->total[1] && p->total[1] < m.total.high);
	CHECK(m.total.low >= 0.7 * p->total[1] && m.total.high <= 1.3 * p->total[1]);
	CHECK_INT(m.flags, 0, "longer than its hooks");
}

TEST(what_would_be_negative_is_zero_and_flagged)
{
	struct costs c = costs_exact();
	struct tree t;

	tree_init(&t);
	tree_add(&t, &(struct tree_figures){ .id = 1, .calls = 10, .timed = 10, .raw = 100 });
	tree_gather(&t);
	tree_compensate(&t, &c);
	CHECK_INT(t.nodes[0].flags, TREE_CLAMPED | TREE_SHORT, NULL);
	CHECK(t.nodes[0].total.mid == 0 && t.nodes[0].total.low == 0);
	tree_release(&t);
}

TEST(a_tree_survives_every_failed_allocation)
{
	for (long at = 0; at < 6; at++) {
		struct tree_method *all = NULL;
		struct tree t;
		size_t n;

		tree_init(&t);
		mem_fail_at(at);
		for (uint32_t i = 0; i < 600; i++)
			tree_add(&t, &(struct tree_figures){ .id = i % 7, .depth = i % 5 });
		tree_gather(&t);
		if (t.err)
			CHECK_INT(t.err, E_NO_MEMORY, NULL);
		else if (tree_methods(&t, &all, &n) == 0)
			CHECK_INT(n, 7, NULL);
		mem_fail_at(-1);
		mem_free(all);
		tree_release(&t);
	}
}

/* Forty methods, each of which is found below each that is further out. */
TEST(what_is_handed_out_is_not_more_than_can_be_kept)
{
	enum { CHAIN = 40 };
	double before = 0, after = 0;
	struct tree t;
	uint32_t n;

	tree_init(&t);
	for (uint32_t a = CHAIN; a > 0; a--) {
		tree_add(&t, &(struct tree_figures){ .id = a, .calls = 1e6, .timed = 1e4 });
		for (uint32_t b = a - 1; b > 0; b--)
			tree_add(&t, &(struct tree_figures){
					     .id = b, .depth = 1, .calls = 1e4, .timed = 100 });
	}
	n = t.n;
	for (uint32_t i = 0; i < n; i++)
		before += t.nodes[i].f.calls;
	tree_gather(&t);
	CHECK_INT(t.err, 0, NULL);
	CHECK(t.n > 2 * n && t.n < 200000);
	for (uint32_t i = 0; i < t.n; i++)
		after += t.nodes[i].f.calls;
	CHECK(after > 0.999 * before && after < 1.001 * before);
	tree_release(&t);
}
