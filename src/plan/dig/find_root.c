/* SPDX-License-Identifier: Apache-2.0 */
/* find_root.c - which transaction is slow, if any. */
#include "plan/dig/find.h"

static const double slow_default = 50e6; /* ns */
static const double slow_time = 0.25;	 /* share of its time that is in slow calls */
static const double odd_times = 10, odd_least = 20e6, odd_time = 0.3; /* much slower than usual */
static const double gc_much = 0.12;
static const double busy = 0.3; /* share of the time that threads wait for a processor */
static const double waiting_much = 0.4;
static const double usual_much = 0.5;
static const double undisturbed = 0.1; /* the tenth of the calls that had to wait least */
enum { STUCK_WINDOWS = 6, UNDISTURBED_CALLS = 50 }; /* of fewer calls none need be undisturbed */
static const double least_calls = 5;		    /* so few can be anything */
/* Calls differ: some take at least so long, much longer than usual, and have most of the time, which
 * is much of a thread's. */
static const double uneven_least = 5e5, uneven_time = 0.6, uneven_much = 0.1, differ_least = 2e4;
static const double worth_telling = 0.05; /* of one thread's time */
static const double statements_many = 20, statements_time = 0.4, statements_least = 1e6;
/* What a root weighs that is slow, but no slower than it ever was; and one that only sleeps, or
 * waits for somebody to wake it: maybe it has nothing to do. */
static const double as_ever = 0.1, asleep = 0.01;

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

/* Other hooks may be in the program, too: is it the method that is to be explained?  A pattern may
 * mean any. */
static bool is_asked_for(const struct dig *d, struct slice name)
{
	struct slice asked = d->options.method;
	struct buf target = { 0 };
	bool is;

	if (!asked.n || memchr(asked.p, '*', asked.n))
		return true;
	dig_put_target(&target, name);
	is = target.err || (slice_starts(buf_slice(&target), asked) &&
			    (target.n == asked.n || target.p[asked.n] == '('));
	buf_release(&target);
	return is;
}

bool find_root(const struct dig *d)
{
	if (d->options.method.n) {
		for (const struct dig_figures *f = d->figures; f; f = f->next)
			if (f->timed && is_asked_for(d, f->name))
				return true;
		return false;
	}
	for (unsigned i = 0; i < d->n_roots; i++)
		if (has_returned(d, d->roots[i]->name))
			return true;
	return false;
}

struct seen {	      /* of a candidate, as shares of one thread's time */
	double looks; /* by samples */
	double hooks; /* by calls that have returned */
	double calls; /* so many */
};

static bool seen_of(const struct dig *d, const struct sample_node *n, struct seen *out)
{
	double looks = (double)(d->all.vitals.samples ? d->all.vitals.samples : 1);
	double wall = (double)measure_windows(&d->measure) * 1e9;
	struct measured m;

	if (!measure_method(&d->measure, n->name, &m) || measure_ns(&d->measure, &m) <= 0)
		return false;
	*out = (struct seen){ (double)n->busy / looks, measure_ns(&d->measure, &m) / wall,
			      measure_calls(&d->measure, &m) };
	return true;
}

bool find_root_is_whole(const struct dig *d)
{
	struct seen s;

	for (unsigned i = 0; !d->options.method.n && i < d->n_roots; i++)
		if (seen_of(d, d->roots[i], &s) && s.looks > 0.04 &&
		    (s.hooks < s.looks / 3 || s.calls < least_calls))
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

struct candidate {
	const struct dig_figures *figures;
	struct spread spread;
	double limit; /* of slow calls, ns; 0: all of them */
	bool slow;
	double weight;	   /* ns of slow calls */
	double waiting;	   /* share of the samples that wait for locks */
	double statements; /* so many for each call; 0: that is not what makes it slow */
	const struct known_past *past;
	bool breaks;  /* with its past */
	bool stuck;   /* calls of it run still that have begun long ago */
	bool differs; /* few calls that take much longer than others have most of the time */
	bool sleeps;  /* most of its time */
};

struct nature {		  /* of a root, by samples */
	double waiting;	  /* share of the samples that wait for locks */
	double computing; /* ... that want a processor */
	double sleeping;  /* ... that sleep or wait to be notified */
};

static struct nature nature_of(const struct dig *d, struct slice name)
{
	struct samples under;
	uint64_t by[KINDS], n;
	struct nature is = { 0 };

	samples_init(&under);
	samples_under(&d->all, name, &under);
	n = kind_divide(&under.root, by);
	samples_release(&under);
	if (n >= 20)
		is.waiting = share(by[KIND_MONITOR] + by[KIND_LOCK] + by[KIND_SEMAPHORE], n);
	is.sleeping = share(by[KIND_SLEEP] + by[KIND_WAIT] + by[KIND_QUEUE], n);
	is.computing = n ? share(kind_computing(by), n) : 1;
	return is;
}

/* How much longer the root takes since the machine has too few processors for all that runs on it.
 * That is no fault of the program's. */
static double stretch(const struct dig *d, double computing)
{
	double lost = d->answer.delay_share * computing;

	return lost < busy ? 1 : lost < 0.95 ? 1 / (1 - lost) : 20;
}

/* A few statements are what a root is for.  Many of them that have most of its time, one for each
 * row of another one, are a fault, however fast each is. */
static double statements_of(const struct dig *d, const struct dig_figures *root)
{
	for (const struct dig_figures *f = d->figures; f; f = f->next) {
		double n = root->calls ? (double)f->calls / (double)root->calls : 0;

		if (n >= statements_many && trail_is_sql(f->name) &&
		    (double)f->total_ns >= statements_time * (double)root->total_ns)
			return n;
	}
	return 0;
}

/* Its slow calls are none of its doing: the calls that take as long as usual account for what the
 * program had of processors, so the slow ones have only waited for one. */
static bool only_waits(const struct dig *d, const struct candidate *c, double computing)
{
	const struct dig_figures *f = c->figures;
	double usual = (double)f->calls * stats_quantile(f->low, f->count, f->n, undisturbed);

	return computing > 0.5 && c->spread.slow_calls < 0.3 && d->ran_ns > 0 &&
	       f->timed >= UNDISTURBED_CALLS && usual > usual_much * d->ran_ns;
}

static struct known_run run_of(const struct dig *d, const struct dig_figures *f)
{
	return (struct known_run){ .when = d->options.when,
				   .calls = (double)f->timed,
				   .mean = f->timed ? (double)f->total_ns / (double)f->timed : 0,
				   .p50 = stats_quantile(f->low, f->count, f->n, 0.5),
				   .p99 = stats_quantile(f->low, f->count, f->n, 0.99) };
}

/* Against its own past, in which the machine may have been less busy. */
static void judge_past(const struct dig *d, struct candidate *c, double longer)
{
	struct known_run now = run_of(d, c->figures);
	double usual;

	c->past = d->options.known ? known_past_of(d->options.known, c->figures->name) : NULL;
	usual = known_usual(c->past);
	now.mean /= longer;
	c->breaks = known_is_broken(c->past, &now);
	if (c->breaks && !c->slow) {
		c->slow = true;
		c->limit = 0;
		c->spread = stats_spread(c->figures->low, c->figures->count, c->figures->n, 0);
		c->weight = (double)c->figures->total_ns * (1 - usual / now.mean);
	} else if (!c->breaks && usual > 0) {
		c->weight *= as_ever;
	}
}

/* All that was measured becomes part of the past, but for what breaks with it. */
static void keep_runs(const struct dig *d)
{
	for (const struct dig_figures *f = d->figures; f && d->options.known; f = f->next) {
		struct nature is = nature_of(d, f->name);
		struct known_run run = run_of(d, f);

		run.mean /= stretch(d, is.computing);
		if (!known_is_broken(known_past_of(d->options.known, f->name), &run))
			known_set_run(d->options.known, f->name, &run, 0);
	}
}

/* Its share of one thread's time, by the calls that have returned. */
static double weight_of(const struct dig *d, const struct dig_figures *f)
{
	double wall = (double)measure_windows(&d->measure) * 1e9;

	return wall > 0 ? (double)f->total_ns / wall : 0;
}

/* Few calls that are far from what is usual have the time: slow when they are long, too.  When they
 * are not, their limit is kept, to find out what they have in common. */
static void judge_uneven(const struct dig *d, struct candidate *c, double longer)
{
	const struct dig_figures *f = c->figures;
	double odd = odd_times * c->spread.median;
	struct spread s;

	odd = odd > differ_least * longer ? odd : differ_least * longer;
	s = stats_spread(f->low, f->count, f->n, odd);
	if (s.slow_time < uneven_time || s.slow_calls * (double)f->timed < least_calls)
		return;
	c->limit = odd;
	c->spread = s;
	c->differs = true;
	c->slow = s.slow_mean >= uneven_least * longer && weight_of(d, f) >= uneven_much;
}

static void judge(const struct dig *d, const struct dig_figures *f, struct candidate *c)
{
	struct nature is = nature_of(d, f->name);
	double longer = stretch(d, is.computing);
	double limit = d->options.slow_ns > 0 ? d->options.slow_ns : slow_default * longer;
	double mean;

	*c = (struct candidate){ .figures = f, .limit = limit, .waiting = is.waiting };
	c->spread = stats_spread(f->low, f->count, f->n, limit);
	c->slow = c->spread.slow_time >= slow_time;
	if (!c->slow && d->options.slow_ns <= 0) {
		double odd = odd_times * c->spread.median;
		struct spread s;

		odd = odd > odd_least * longer ? odd : odd_least * longer;
		s = stats_spread(f->low, f->count, f->n, odd);
		if (s.slow_time >= odd_time) {
			c->slow = true;
			c->limit = odd;
			c->spread = s;
		}
	}
	if (!c->slow && d->options.slow_ns <= 0)
		judge_uneven(d, c, longer);
	if (c->slow && longer > 1 && only_waits(d, c, is.computing))
		c->slow = false;
	mean = f->timed ? (double)f->total_ns / (double)f->timed : 0;
	if (!c->slow && d->options.slow_ns <= 0 && mean > statements_least * longer)
		c->statements = statements_of(d, f);
	if (!c->slow && (c->statements > 0 || (mean > 2e6 && c->waiting >= waiting_much))) {
		c->slow = true;
		c->limit = 0;
		c->spread = stats_spread(f->low, f->count, f->n, 0);
	}
	c->weight = c->spread.slow_time * (double)f->total_ns;
	judge_past(d, c, longer);
	c->sleeps = is.sleeping > 0.8;
	if (c->sleeps)
		c->weight *= asleep;
}

/* All calls that have returned were fast, but samples have seen it at work much longer than these
 * took: there are others, which have not returned. */
static void judge_stuck(const struct dig *d, const struct sample_node *n, struct candidate *c)
{
	struct seen s;

	if (c->slow || !n || measure_windows(&d->measure) < STUCK_WINDOWS || !seen_of(d, n, &s) ||
	    s.looks < 0.25 || s.hooks > s.looks / 3 || nature_of(d, n->name).computing < 0.5)
		return;
	c->slow = c->stuck = true;
	c->weight = (s.looks - s.hooks) * (double)measure_windows(&d->measure) * 1e9;
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
	if (c->slow && c->limit > 0 && !c->stuck) {
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

static bool decide(struct dig *d)
{
	struct candidate best = { 0 }, busiest = { 0 }, c;

	if (d->starved >= 0) /* while the times were measured, not while samples were taken */
		d->answer.delay_share = d->starved;
	for (const struct dig_figures *f = d->figures; f; f = f->next) {
		const struct sample_node *n = NULL;

		for (unsigned i = 0; i < d->n_roots; i++)
			if (slice_eq(d->roots[i]->name, f->name))
				n = d->roots[i];
		if (!f->timed || !is_asked_for(d, f->name) ||
		    (!d->options.method.n && (!n || is_below_root(d, n))))
			continue;
		judge(d, f, &c);
		judge_stuck(d, n, &c);
		tell_candidate(d, &c);
		if (c.slow && c.weight > best.weight)
			best = c;
		if (!busiest.figures || f->total_ns > busiest.figures->total_ns)
			busiest = c;
	}
	if (!busiest.figures) {
		buf_text(&d->said, "No method of the program has returned in this time.\n");
		find_unmeasured(d);
		return false;
	}
	if (best.figures) {
		take_root(d, &best);
		d->answer.verdict = DIG_METHOD;
	} else {
		take_root(d, &busiest);
		d->answer.verdict = d->options.method.n ? DIG_METHOD : DIG_NOTHING;
	}
	if (find_is_gc(&d->answer))
		d->answer.verdict = DIG_GC;
	if (d->answer.verdict != DIG_NOTHING) {
		buf_text(&d->said, "Digging below ");
		dig_put_name(&d->said, d->answer.root);
		buf_text(&d->said, ".\n");
	}
	/* Whoever asks why wants to know where the time goes, slow or not. */
	if (d->answer.verdict != DIG_NOTHING)
		return true;
	if (busiest.sleeps || weight_of(d, busiest.figures) < worth_telling)
		return false;
	buf_text(&d->said, "None of them is slow; looking where the time of ");
	dig_put_name(&d->said, d->answer.root);
	buf_text(&d->said, " goes.\n");
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
