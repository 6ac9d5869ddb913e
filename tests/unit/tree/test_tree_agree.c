/* SPDX-License-Identifier: Apache-2.0 */
/* Figures of made-up programs: whatever was called, timed, drawn and running when somebody looked, what
 * report and tree say must be able to be true together.
 *
 * A program is a table of methods that call each other, also themselves, played through against a clock
 * in which hooks take their time, often another one than the calibration says.  It may be stopped in
 * the middle, with calls that run.  SEED=n in the environment plays one program. */
#include "tree/agree.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/mem.h"
#include "cli/report/report_rows.h"
#include "cli/report/tree_rows.h"
#include "rule/rule.h"
#include "test.h"

enum { METHODS = 7, NODES = 600, DEPTH = 40, CALLS = 5, PROGRAMS = 500 };

struct method {
	double work;
	unsigned calls[CALLS], n_calls, one_in, chance; /* of each call to be made, in 8 */
	double count, timed, sum, least, most, begun, running;
	double truth;	 /* of outermost calls, without hooks */
	unsigned inside; /* running now */
};

struct node {
	uint32_t id, parent, depth;
	double calls, timed, begun, weight, weighted, least, most;
};

struct program {
	uint64_t seed, draw;
	struct method methods[METHODS + 1];
	struct node nodes[NODES];
	uint32_t n, stack[DEPTH], top;
	double now, truth;
	double calls_left; /* then it is stopped */
	bool stopped, one_is_enough;
	struct costs real, told;
};

static unsigned draw(struct program *p, unsigned n)
{
	p->draw = p->draw * 6364136223846793005u + 1442695040888963407u;
	return (unsigned)(p->draw >> 33) % n;
}

static double share(struct program *p)
{
	return (double)draw(p, 1 << 20) / (1 << 20);
}

static void make_costs(struct program *p)
{
	static const double inner[COST_KINDS] = { 20, 30, 47, 0, 0, 5, 0 },
			    pair[COST_KINDS] = { 45, 90, 107, 6, 4, 60, 1 };
	double off = draw(p, 3) ? 0.4 * (share(p) - 0.5) : 0, wide = 0.3 * share(p);

	for (unsigned t = 0; t < COST_TIERS; t++)
		for (unsigned k = 0; k < COST_KINDS; k++)
			for (unsigned i = 0; i < COST_CLASSES; i++) {
				double in = inner[k], all = pair[k], told = 1 + off;
				struct span a = { in * told * (1 - wide), in * told,
						  in * told * (1 + wide) };
				struct span b = { all * told * (1 - wide), all * told,
						  all * told * (1 + wide) };

				p->real.of[t][k][i] =
					(struct cost){ { in, in, in },
						       { all - in, all - in, all - in },
						       { all, all, all } };
				p->told.of[t][k][i] = (struct cost){
					a, { b.low - a.low, b.mid - a.mid, b.high - a.high }, b
				};
			}
	p->told.noise = draw(p, 2) ? 0.2 * share(p) : 0;
}

static void make(struct program *p, uint64_t seed)
{
	static const unsigned one_in[] = { 1, 1, 1, 1, 0, 2, 16, 64, 256 };

	*p = (struct program){ .seed = seed, .draw = seed * 0x9e3779b97f4a7c15u + 1, .n = 1 };
	for (unsigned i = 0; i < 4; i++)
		(void)draw(p, 2);
	for (unsigned id = 1; id <= METHODS; id++) {
		struct method *m = &p->methods[id];

		*m = (struct method){ .work = pow(10, 4 * share(p)),
				      .n_calls = draw(p, CALLS + 1),
				      .one_in = one_in[draw(p, COUNT(one_in))],
				      .chance = 1 + draw(p, 8),
				      .least = 1e18 };
		for (unsigned i = 0; i < m->n_calls; i++)
			m->calls[i] = draw(p, 4) ? id + 1 + draw(p, METHODS - id + 1)
						 : 1 + draw(p, METHODS);
	}
	p->calls_left = 50 + draw(p, 1500);
	p->one_is_enough = draw(p, 4) == 0;
	make_costs(p);
}

static uint32_t node_for(struct program *p, uint32_t parent, uint32_t id)
{
	for (uint32_t i = 1; i < p->n; i++)
		if (p->nodes[i].parent == parent && p->nodes[i].id == id)
			return i;
	if (p->n == NODES) {
		p->stopped = true;
		return NODES - 1;
	}
	p->nodes[p->n] = (struct node){
		.id = id, .parent = parent, .depth = p->nodes[parent].depth + 1, .least = 1e18
	};
	return p->n++;
}

static void account(struct node *n, struct method *m, double ns)
{
	n->timed++;
	n->weight += m->one_in;
	n->weighted += ns * m->one_in;
	n->least = fmin(n->least, ns);
	n->most = fmax(n->most, ns);
	m->timed++;
	m->sum += ns;
	m->least = fmin(m->least, ns);
	m->most = fmax(m->most, ns);
}

static void call(struct program *p, unsigned id, unsigned deep)
{
	struct method *m = &p->methods[id];
	bool timed = m->one_in && (m->one_in == 1 || draw(p, m->one_in) == 0), passes;
	const struct cost *c = &p->real.of[0][!timed ? (m->one_in ? COST_PASSED : COST_LIGHT)
					      : m->one_in == 1 ? COST_EVERY
					      : m->one_in < 8  ? COST_SETTLED
							       : COST_RARE][0];
	uint32_t node = node_for(p, p->stack[p->top], id), top = p->top;
	double began = p->truth, measured, work = m->work * (0.5 + share(p));

	if (p->stopped)
		return;
	p->stopped = --p->calls_left <= 0;
	p->nodes[node].calls++;
	p->nodes[node].begun += timed;
	m->count++;
	m->begun += timed;
	/* Where the tree is large, calls below a further drawn one are in the context of the first. */
	passes = p->one_is_enough && m->one_in > 1 && p->top > 1;
	if (timed && !passes && p->top + 1 < DEPTH)
		p->stack[++p->top] = node;
	p->now += timed ? c->outer.mid : c->pair.mid;
	measured = p->now;
	p->now += (timed ? c->inner.mid : 0) + work;
	p->truth += work;
	m->inside++;
	for (unsigned i = 0; i < m->n_calls && deep && !p->stopped; i++)
		if (draw(p, 8) < m->chance && m->calls[i] <= METHODS)
			call(p, m->calls[i], deep - 1);
	if (p->stopped)
		return; /* it runs still */
	p->top = top;
	if (timed)
		account(&p->nodes[node], m, p->now - measured);
	if (--m->inside == 0)
		m->truth += p->truth - began;
}

static void play(struct program *p)
{
	bool in_the_middle = draw(p, 3) == 0;

	while (!p->stopped) {
		p->top = 0;
		call(p, 1 + draw(p, 2), 12);
		if (!in_the_middle && p->calls_left < 30)
			break;
	}
}

/* ---- what an agent would tell ---- */

static struct wire_node node_of(const struct program *p, const struct node *n)
{
	const struct method *m = &p->methods[n->id];
	bool drawn = n->weight > n->timed;
	double mean = n->weight > 0 ? n->weighted / n->weight : 0;

	return (struct wire_node){ .depth = n->depth - 1,
				   .id = n->id,
				   .calls = (uint64_t)n->calls,
				   .timed = (uint64_t)n->timed,
				   .total_ns = (uint64_t)(mean * (drawn ? n->calls : n->timed)),
				   .min_ns = n->timed > 0 ? (uint64_t)n->least : 0,
				   .max_ns = (uint64_t)(n->most + 0.999),
				   .running = (uint64_t)(n->begun - n->timed),
				   .flags = (drawn	    ? NODE_DRAWN
					     : n->timed > 0 ? NODE_EVERY
							    : 0) |
					    (m->one_in != 1 ? NODE_SETTLED : 0) |
					    (m->one_in ? 0 : NODE_LIGHT) };
}

typedef bool row_taker(void *ctx, unsigned type, struct slice payload);

static void tell(row_taker *take, void *ctx, struct buf *out)
{
	struct slice left = buf_slice(out), payload;
	unsigned type;
	long n;

	while (left.n && (n = wire_frame(left, &type, &payload)) > 0) {
		CHECK(take(ctx, type, payload));
		left = (struct slice){ left.p + n, left.n - (size_t)n };
	}
	buf_clear(out);
}

static void tell_nodes(const struct program *p, uint32_t parent, row_taker *take, void *ctx,
		       struct buf *out)
{
	for (uint32_t i = 1; i < p->n; i++) {
		struct wire_node m = node_of(p, &p->nodes[i]);
		char name[16];

		if (p->nodes[i].parent != parent)
			continue;
		snprintf(name, sizeof(name), "a.A.m%u()V", m.id);
		m.name = slice_str(name);
		wire_put_node(out, &m);
		tell(take, ctx, out);
		tell_nodes(p, i, take, ctx, out);
	}
}

static void tell_methods(const struct program *p, struct report *r, struct buf *out)
{
	for (uint32_t id = 1; id <= METHODS; id++) {
		const struct method *m = &p->methods[id];
		bool drawn = m->one_in > 1 && m->timed > 0;
		double mean = m->timed > 0 ? m->sum / m->timed : 0, total;
		double spread = fmin(m->most - mean, mean - m->least);
		char name[16];

		if (!(m->count > 0))
			continue;
		snprintf(name, sizeof(name), "a.A.m%u()V", id);
		total = mean * (drawn ? m->count : m->timed);
		spread = drawn && mean > 0 ? total * 1.96 * spread / mean / sqrt(m->timed) : 0;
		wire_put_method(
			out, &(struct wire_method){ .id = id,
						    .name = slice_str(name),
						    .level = m->one_in ? LEVEL_TIMED : LEVEL_LIGHT,
						    .one_in = m->one_in,
						    .calls = (uint64_t)m->count,
						    .timed = (uint64_t)m->timed,
						    .total_ns = (uint64_t)total,
						    .low_ns = (uint64_t)fmax(0, total - spread),
						    .high_ns = (uint64_t)(total + spread),
						    .self_ns = (uint64_t)(total / 2),
						    .min_ns = m->timed > 0 ? (uint64_t)m->least : 0,
						    .p50_ns = (uint64_t)mean,
						    .p90_ns = (uint64_t)((mean + m->most) / 2),
						    .p99_ns = (uint64_t)m->most,
						    .max_ns = (uint64_t)(m->most + 0.999),
						    .active = (uint64_t)(m->begun - m->timed),
						    .flags = drawn ? METHOD_DRAWN : 0 });
		tell(report_take, r, out);
	}
}

/* ---- what may not be ---- */

struct judge {
	const struct program *p;
	const char *what;
	unsigned wrong;
	uint64_t rows, in_interval, judged; /* how often the truth was within the interval */
};

static bool hold(struct judge *j, bool held, const char *rule, uint32_t id, double a, double b)
{
	if (!held && j->wrong++ < 5)
		printf("# SEED=%llu: %s: %s: method %u: %.3f and %.3f\n",
		       (unsigned long long)j->p->seed, j->what, rule, id, a, b);
	return held;
}

static bool no_more(double a, double b)
{
	return a <= b * (1 + 1e-6) + 1.01; /* both are rounded to a ns */
}

static void judge_span(struct judge *j, uint32_t id, const struct span *s)
{
	hold(j, s->low >= 0 && no_more(s->low, s->mid), "low is not above", id, s->low, s->mid);
	hold(j, no_more(s->mid, s->high) && isfinite(s->high), "high is not below", id, s->mid,
	     s->high);
}

static void judge_children(struct judge *j, const struct call_node *n)
{
	double sum = 0, count = 0, own = (double)n->m.self_ns;

	for (const struct call_node *c = n->first; c; c = c->next) {
		hold(j, no_more((double)c->least_ns, (double)n->least_ns), "a child is within",
		     c->m.id, (double)c->least_ns, (double)n->least_ns);
		sum += (double)c->least_ns;
		count++;
	}
	if (n->flags & TREE_OVERLAP || call_node_runs(n))
		return;
	hold(j, sum + own <= (double)n->least_ns * (1 + 1e-6) + count + 2,
	     "children and self are no more than the total", n->m.id, sum + own,
	     (double)n->least_ns);
}

static void judge_node(struct judge *j, const struct call_node *n)
{
	double total = (double)n->m.total_ns, avg = call_node_avg_ns(n);
	bool bounded = call_node_is_bounded(n);

	j->rows++;
	hold(j, n->m.timed <= n->m.calls, "no more timed than calls", n->m.id, (double)n->m.timed,
	     (double)n->m.calls);
	if (n->m.timed) {
		judge_span(j, n->m.id, &n->total);
		hold(j, no_more((double)n->m.self_ns, total), "self is no more than total", n->m.id,
		     (double)n->m.self_ns, total);
		hold(j, no_more(n->self.mid, n->self.high), "self is within its bound", n->m.id,
		     n->self.mid, n->self.high);
		hold(j, !bounded || n->total.high > 0, "a bound is more than 0", n->m.id,
		     n->total.high, 0);
		hold(j, !call_node_self_is_bounded(n) || n->self.high >= 0.5,
		     "a bound of self is more than 0", n->m.id, n->self.high, 0);
		hold(j,
		     bounded || !n->m.max_ns ||
			     (no_more((double)n->m.min_ns, avg) &&
			      no_more(avg, (double)n->m.max_ns)),
		     "a mean is between the shortest and the longest", n->m.id, avg,
		     (double)n->m.max_ns);
	}
	judge_children(j, n);
}

static void judge_tree(struct judge *j, const struct costs *c)
{
	double calls[METHODS + 1] = { 0 };
	struct buf out = { 0 };
	struct call_tree t;

	call_tree_init(&t);
	tell_nodes(j->p, 0, call_tree_take, &t, &out);
	call_tree_compensate(&t, c);
	call_tree_sort(&t);
	CHECK_INT(t.err, 0, NULL);
	for (struct call_node *n = t.root.first; n; n = call_node_after(&t, n)) {
		judge_node(j, n);
		calls[n->m.id] += (double)n->m.calls;
		hold(j, call_node_share(&t, n) <= 1.000001, "a share is no more than all", n->m.id,
		     call_node_share(&t, n), 1);
	}
	for (unsigned id = 1; id <= METHODS; id++) {
		double want = j->p->methods[id].count;

		hold(j, fabs(calls[id] - want) <= 0.01 * want + (double)t.n, "calls stay as many",
		     id, calls[id], want);
	}
	call_tree_release(&t);
	buf_release(&out);
}

static void judge_method(struct judge *j, const struct report_method *r)
{
	const struct wire_method *m = &r->m;
	struct report_calls one = report_calls(r);
	double avg = report_avg_ns(r), n = (double)(m->flags & METHOD_DRAWN ? m->calls : m->timed);
	const double order[] = { one.min, one.p50, one.p90, one.p99, one.max };

	j->rows++;
	if (!m->timed)
		return;
	judge_span(j, m->id, &r->total);
	judge_span(j, m->id, &r->self);
	hold(j, no_more(r->self.mid, r->total.mid), "self is no more than total", m->id,
	     r->self.mid, r->total.mid);
	hold(j, no_more(r->raw_self_ns, r->raw_ns), "raw self is no more than raw", m->id,
	     r->raw_self_ns, r->raw_ns);
	hold(j, !r->bounded || r->total.high > 0, "a bound is more than 0", m->id, r->total.high,
	     0);
	for (size_t i = 1; i < COUNT(order); i++)
		hold(j, no_more(order[i - 1], order[i]), "percentiles are in order", m->id,
		     order[i - 1], order[i]);
	if (r->bounded || r->unknown)
		return;
	hold(j, no_more(one.min, avg) && no_more(avg, one.max),
	     "a mean is between the shortest and the longest", m->id, avg, one.max);
	if (!report_is_recursive(r))
		hold(j, fabs(avg * n - r->total.mid) <= 0.02 * r->total.mid + n,
		     "the mean times calls is the total", m->id, avg * n, r->total.mid);
}

/* A method that only one other calls takes no longer than that. */
static void judge_callers(struct judge *j, const struct report *r)
{
	for (size_t i = 0; i < r->n; i++) {
		const struct report_method *callee = r->all[i];
		uint32_t only = 0;

		for (uint32_t k = 1; k < j->p->n; k++) {
			const struct node *n = &j->p->nodes[k];
			uint32_t up = j->p->nodes[n->parent].id;

			if (n->id == callee->m.id && up != n->id)
				only = only == 0 || only == up ? up : UINT32_MAX;
			if (n->id == callee->m.id && n->parent == 0)
				only = UINT32_MAX;
		}
		for (size_t k = 0; k < r->n; k++)
			if (r->all[k]->m.id == only && !r->all[k]->m.active && r->all[k]->m.timed &&
			    callee->m.timed && !(r->all[k]->flags & TREE_OVERLAP))
				hold(j, no_more(callee->self.mid, r->all[k]->total.mid),
				     "self is no more than the only caller's total", callee->m.id,
				     callee->self.mid, r->all[k]->total.mid);
	}
}

static void judge_truth(struct judge *j, const struct report_method *r)
{
	double truth = j->p->methods[r->m.id].truth;

	if (!r->m.timed || r->bounded || r->m.active || r->flags & TREE_CALLS_ITSELF ||
	    r->m.timed < 20)
		return;
	j->judged++;
	j->in_interval += r->total.low <= truth * 1.02 && truth * 0.98 <= r->total.high;
}

static void judge_report(struct judge *j, const struct costs *c)
{
	struct buf out = { 0 };
	struct report r;

	report_init(&r);
	tell_methods(j->p, &r, &out);
	tell_nodes(j->p, 0, report_take, &r, &out);
	report_compensate(&r, c);
	CHECK_INT(r.err, 0, NULL);
	for (size_t i = 0; i < r.n; i++) {
		judge_method(j, r.all[i]);
		if (c == &j->p->real)
			judge_truth(j, r.all[i]);
	}
	judge_callers(j, &r);
	report_release(&r);
	buf_release(&out);
}

static void judge_program(struct judge *j, struct program *p, uint64_t seed)
{
	make(p, seed);
	play(p);
	j->what = "tree";
	judge_tree(j, &p->told);
	j->what = "raw tree";
	judge_tree(j, NULL);
	j->what = "report";
	judge_report(j, &p->told);
	j->what = "raw report";
	judge_report(j, NULL);
	j->what = "exact report";
	judge_report(j, &p->real);
}

TEST(no_figures_of_any_program_are_impossible)
{
	static const uint64_t bad_once[] = { 1795072485201595 };
	static struct program p;
	const char *given = getenv("SEED");
	uint64_t seed = given ? strtoull(given, NULL, 10) : (uint64_t)time(NULL) * 1000003;
	unsigned rounds = given ? 1 : test_is_short() ? PROGRAMS / 50 : PROGRAMS;
	struct judge j = { .p = &p };

	for (size_t i = 0; !given && i < COUNT(bad_once); i++)
		judge_program(&j, &p, bad_once[i]);
	for (unsigned i = 0; i < rounds && j.wrong < 20; i++)
		judge_program(&j, &p, seed + i);
	CHECK_INT(j.wrong, 0, "impossible figures; seeds are above");
	if (!given && !CHECK(j.judged < 100 || 10 * j.in_interval > 9 * j.judged))
		printf("# from SEED=%llu on: the truth was within %llu of %llu intervals\n",
		       (unsigned long long)seed, (unsigned long long)j.in_interval,
		       (unsigned long long)j.judged);
}
