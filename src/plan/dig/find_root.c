/* SPDX-License-Identifier: Apache-2.0 */
/* find_root.c - which transaction is slow, if any. */
#define _GNU_SOURCE /* memmem() */
#include "plan/dig/find.h"
#include "plan/dig/judge.h"
#include "rule/pattern.h"

static const double gc_much = 0.12;
static const double busy = 0.3;		   /* share of the time that threads wait for a processor */
static const double least_calls = 5;	   /* so few can be anything */
static const double worth_waiting = 0.04;  /* share of the looks that have met a candidate */
static const double worth_telling = 0.002; /* of one thread's time */

static double share(uint64_t part, uint64_t whole)
{
	return whole ? (double)part / (double)whole : 0;
}

void find_tell_look(struct dig *d)
{
	const struct sample_vitals *v = &d->all.vitals;
	uint64_t own = v->gc_cpu + v->jit_cpu + v->own_cpu;

	own = v->cpu > own ? v->cpu - own : 0; /* of the program's threads */
	d->answer.gc_share = share(v->gc, v->wall);
	d->answer.gc_cpu_share = share(v->gc_cpu, v->cpu);
	d->answer.delay_share = share(v->delay, own + v->delay);
	buf_printf(&d->said,
		   "Looked %llu times at %u threads in %.1f s: %.0f %% of one processor used, "
		   "garbage collection %.0f %% of the time.\n",
		   (unsigned long long)v->samples, v->threads, (double)v->wall / 1e9,
		   100 * share(v->cpu, v->wall), 100 * d->answer.gc_share);
}

/* Where processors have to be waited for, a single collection takes half a second: then it must
 * also have much of what the program had of them. */
bool find_is_gc(const struct dig_answer *a)
{
	return a->gc_share >= gc_much && (a->delay_share < busy || a->gc_cpu_share >= gc_much);
}

static bool has_returned(const struct dig *d, struct slice name)
{
	struct measured m;

	return measure_method(&d->measure, name, &m) && measure_ns(&d->measure, &m) > 0;
}

static bool fits(struct slice pattern, enum pattern_kind kind, struct slice name)
{
	struct arena mem;
	struct pattern p;
	struct pattern_trouble trouble;
	bool fit;

	arena_init(&mem);
	fit = pattern_compile(&mem, pattern, kind, &p, &trouble) < 0 || pattern_match(&p, name);
	arena_release(&mem);
	return fit;
}

/* com.shop.*::check*; what is no pattern but a rule may mean any method. */
static bool fits_pattern(struct slice asked, struct slice name)
{
	const uint8_t *colons = memmem(asked.p, asked.n, "::", 2);
	struct slice class, method, inner = sample_node_class(name);
	char text[1024];

	if (!colons || memchr(asked.p, ' ', asked.n) || inner.n >= sizeof(text))
		return true;
	class = (struct slice){ asked.p, (size_t)(colons - asked.p) };
	method = sample_node_plain(
		(struct slice){ colons + 2, asked.n - (size_t)(colons + 2 - asked.p) });
	memcpy(text, inner.p, inner.n);
	for (size_t i = 0; i < inner.n; i++)
		text[i] = text[i] == '.' ? '/' : text[i];
	return fits(class, PATTERN_CLASS, (struct slice){ (uint8_t *)text, inner.n }) &&
	       fits(method, PATTERN_METHOD, sample_node_method(name));
}

bool find_is_asked_for(const struct dig *d, struct slice name)
{
	struct slice asked = d->options.method;
	struct buf target = { 0 };
	bool is;

	if (!asked.n)
		return true;
	if (memchr(asked.p, '*', asked.n) || memchr(asked.p, '?', asked.n) ||
	    memchr(asked.p, ' ', asked.n))
		return fits_pattern(asked, name);
	dig_put_target(&target, name);
	is = target.err || (slice_starts(buf_slice(&target), asked) &&
			    (target.n == asked.n || target.p[asked.n] == '('));
	buf_release(&target);
	return is;
}

/* It does nothing but ask a queue, as a worker does that has nothing to do. */
static bool waits_for_work(const struct dig *d, const struct sample_node *n)
{
	return n->queued > n->busy && judge_nature(d, n->name).resting > 0.8;
}

bool find_root(const struct dig *d)
{
	if (d->options.method.n) {
		for (const struct dig_figures *f = d->figures; f; f = f->next)
			if (f->timed && find_is_asked_for(d, f->name))
				return true;
		return false;
	}
	for (unsigned i = 0; i < d->n_roots; i++)
		if (has_returned(d, d->roots[i]->name) && !waits_for_work(d, d->roots[i]))
			return true;
	return false;
}

/* It has been called since it was hooked, and that call runs still: the outermost method that returns
 * may be this one. */
static bool will_return(const struct dig *d, const struct sample_node *n)
{
	const struct dig_figures *f = dig_figures_of(d, n->name);

	return f && f->calls && !f->timed &&
	       (double)n->busy > worth_waiting * (double)d->all.vitals.samples;
}

bool find_root_is_whole(const struct dig *d)
{
	struct presence s;

	for (unsigned i = 0; !d->options.method.n && i < d->n_roots; i++)
		if (will_return(d, d->roots[i]) ||
		    (judge_seen(d, d->roots[i], &s) && s.looks > worth_waiting &&
		     (s.hooks < s.looks / 3 || s.calls < least_calls)))
			return false;
	return true;
}

static bool returns_above(const struct dig *d, const struct sample_node *n)
{
	for (; n && n->parent; n = n->parent)
		if (has_returned(d, n->name))
			return true;
	return false;
}

bool find_root_is_deeper(const struct dig *d)
{
	const struct sample_node *top = &d->all.root;
	uint64_t missed = 0;

	if (d->options.method.n || d->root_depth >= TRAIL_ROOT_DEPTH)
		return false;
	for (const struct sample_node *n = top->first; n; n = samples_next(n, top))
		if (!sample_node_is_jdk(n->name) && trail_depth(n) == d->root_depth + 1 &&
		    !returns_above(d, n))
			missed += n->busy;
	return missed * 10 > d->all.vitals.samples;
}

/* Some caller of it returns, too: then that one is the root. */
static bool is_below_root(const struct dig *d, const struct sample_node *n)
{
	for (const struct sample_node *up = n->parent; up; up = up->parent)
		for (unsigned i = 0; i < d->n_roots; i++)
			if (slice_eq(d->roots[i]->name, up->name) && has_returned(d, up->name))
				return true;
	return false;
}

/* All that was measured becomes part of the past, but for what breaks with it. */
static void keep_runs(const struct dig *d)
{
	for (const struct dig_figures *f = d->figures; f && d->options.known; f = f->next) {
		struct nature is = judge_nature(d, f->name);
		struct known_run run = judge_run(d, f);

		run.mean /= judge_stretch(d, is.computing);
		if (!known_is_broken(known_past_of(d->options.known, f->name), &run))
			known_set_run(d->options.known, f->name, &run, 0);
	}
}

static void tell_candidate(struct dig *d, const struct candidate *c)
{
	const struct dig_figures *f = c->figures;

	buf_text(&d->said, "  ");
	dig_put_name(&d->said, f->name);
	buf_printf(&d->said, " returns %.*f times a second: usually ", f->rate < 10, f->rate);
	dig_put_time(&d->said, c->spread.median);
	buf_text(&d->said, ", 99 % within ");
	dig_put_time(&d->said, stats_quantile(f->low, f->count, f->n, 0.99));
	if (c->slow && c->limit > 0 && !c->stuck && !c->rests) {
		buf_text(&d->said, "; ");
		dig_put_share(&d->said, c->spread.slow_calls);
		buf_text(&d->said, " of the calls take over ");
		dig_put_time(&d->said, c->limit);
		buf_printf(&d->said, " and have %.0f %% of the time: slow",
			   100 * c->spread.slow_time);
	} else if (c->stuck) {
		buf_text(&d->said, "; but others have not returned for long: slow");
	} else if (c->statements > 0) {
		buf_printf(&d->said, ", most of that in %.0f statements for each call: slow",
			   c->statements);
	} else if (c->rests) {
		buf_text(&d->said, "; it rests");
	} else if (c->slow && !c->breaks) {
		buf_printf(&d->said, ", %.0f %% of that waiting for locks: slow", 100 * c->waiting);
	}
	if (c->breaks) {
		buf_text(&d->said, "; on average ");
		dig_put_time(&d->said, (double)f->total_ns / (double)f->timed);
		buf_text(&d->said, ", but in earlier looks ");
		dig_put_time(&d->said, known_usual(c->past));
		buf_text(&d->said, ": slow");
	} else if (c->slow && known_usual(c->past) > 0) {
		buf_text(&d->said, ", as ever");
	}
	buf_text(&d->said, "\n");
}

static void take_root(struct dig *d, const struct candidate *c)
{
	const struct dig_figures *f = c->figures;
	struct dig_answer *a = &d->answer;

	a->root = dig_keep(d, f->name);
	a->root_mean = f->timed ? (double)f->total_ns / (double)f->timed : 0;
	a->root_p50 = c->spread.median;
	a->root_p99 = stats_quantile(f->low, f->count, f->n, 0.99);
	a->root_rate = f->rate;
	a->slow_share = c->spread.slow_calls;
	a->slow_ns = c->spread.slow_mean;
	a->limit_ns = c->slow || c->differs ? c->limit : 0;
	a->statements = c->slow ? c->statements : 0;
	a->root_usual = known_usual(c->past);
	a->root_earlier = c->past ? c->past->n : 0;
	a->breaks = c->breaks;
}

/* The candidates as they are judged: the slow one that matters most, and those with most time. */
struct choice {
	struct candidate slow, busiest;
	struct candidate resting; /* time to think, or a job that waits for its next turn */
	struct candidate others[DIG_OTHERS];
	unsigned n_others;
};

/* Keeps the slow ones that are not explained, those with most slow time first. */
static void offer(struct choice *of, const struct candidate *c)
{
	unsigned at = of->n_others;

	if (!c->figures || !c->slow)
		return;
	if (at < DIG_OTHERS)
		of->n_others++;
	else if (of->others[--at].weight >= c->weight)
		return;
	for (; at > 0 && of->others[at - 1].weight < c->weight; at--)
		of->others[at] = of->others[at - 1];
	of->others[at] = *c;
}

static void consider(struct choice *of, const struct candidate *c)
{
	if (c->rests) {
		if (!of->resting.figures || c->figures->total_ns > of->resting.figures->total_ns)
			of->resting = *c;
		return;
	}
	if (c->slow && c->weight > of->slow.weight) {
		offer(of, &of->slow);
		of->slow = *c;
	} else {
		offer(of, c);
	}
	if (!of->busiest.figures || c->figures->total_ns > of->busiest.figures->total_ns)
		of->busiest = *c;
}

static void choose(struct dig *d, struct choice *of)
{
	*of = (struct choice){ 0 };
	for (const struct dig_figures *f = d->figures; f; f = f->next) {
		const struct sample_node *n = NULL;
		struct candidate c;

		for (unsigned i = 0; i < d->n_roots; i++)
			if (slice_eq(d->roots[i]->name, f->name))
				n = d->roots[i];
		if (!f->timed || !find_is_asked_for(d, f->name) ||
		    (!d->options.method.n && (!n || is_below_root(d, n))))
			continue;
		judge_root(d, f, &c);
		judge_stuck(d, n, &c);
		c.rests = c.rests && !d->options.method.n;
		tell_candidate(d, &c);
		consider(of, &c);
	}
	if (!of->busiest.figures)
		of->busiest = of->resting;
}

/* Whoever asks why wants to know where the time goes, slow or not. */
static bool is_worth_telling(struct dig *d, const struct candidate *busiest)
{
	if (judge_weight(d, busiest->figures) < worth_telling)
		return false;
	buf_text(&d->said, "None of them is slow; looking where the time of ");
	dig_put_name(&d->said, d->answer.root);
	buf_text(&d->said, " goes.\n");
	return true;
}

static void keep_others(struct dig *d, const struct choice *of)
{
	struct dig_answer *a = &d->answer;

	a->n_others = 0;
	for (unsigned i = 0; i < of->n_others; i++) {
		const struct dig_figures *f = of->others[i].figures;

		if (dig_waiter_of(d, f->name).n) /* part of another one */
			continue;
		a->others[a->n_others] = dig_keep(d, f->name);
		a->others_mean[a->n_others++] = (double)f->total_ns / (double)f->timed;
	}
}

static bool decide(struct dig *d)
{
	struct choice of;

	if (d->starved >= 0) /* while the times were measured, not while samples were taken */
		d->answer.delay_share = d->starved;
	choose(d, &of);
	if (!of.busiest.figures) {
		buf_text(&d->said, "No method of the program has returned in this time.\n");
		find_unmeasured(d);
		return false;
	}
	take_root(d, of.slow.figures ? &of.slow : &of.busiest);
	keep_others(d, &of);
	d->answer.verdict = of.slow.figures || d->options.method.n ? DIG_METHOD : DIG_NOTHING;
	if (find_is_gc(&d->answer))
		d->answer.verdict = DIG_GC;
	if (d->answer.verdict == DIG_NOTHING)
		return !of.busiest.rests && is_worth_telling(d, &of.busiest);
	buf_text(&d->said, "Digging below ");
	dig_put_name(&d->said, d->answer.root);
	buf_text(&d->said, ".\n");
	return true;
}

bool find_decide(struct dig *d)
{
	bool slow = decide(d);

	keep_runs(d);
	return slow;
}

/* Nothing could be measured: one call goes on for ever, or nothing may be hooked. */
void find_unmeasured(struct dig *d)
{
	const struct sample_node *best = NULL;

	for (unsigned i = 0; i < d->n_roots; i++)
		if (!best || d->roots[i]->busy > best->busy)
			best = d->roots[i];
	d->answer.verdict = DIG_NOTHING;
	if (!best || best->busy * 4 < d->all.vitals.samples)
		return;
	d->answer.verdict = DIG_METHOD;
	d->answer.root = d->dug = best->name;
	find_below(d);
	find_trail(d);
	find_why(d);
	/* One that has nothing to do is not slow. */
	if (d->answer.kind == KIND_SLEEP || d->answer.kind == KIND_WAIT ||
	    d->answer.kind == KIND_QUEUE || d->answer.kind == KIND_FUTURE) {
		d->answer.verdict = DIG_NOTHING;
		d->answer.root.n = 0;
	}
}
