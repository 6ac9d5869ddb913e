/* SPDX-License-Identifier: Apache-2.0 */
/* judge.c - is a method that returns slow? By its calls' times, by what samples have seen below it,
 * and by its past. */
#include "plan/dig/judge.h"

static const double slow_default = 50e6; /* ns */
static const double slow_time = 0.25;	 /* share of its time that is in slow calls */
static const double odd_times = 10, odd_least = 20e6, odd_time = 0.3; /* much slower than usual */
static const double busy = 0.3;	      /* share of the time that threads wait for a processor */
static const double one_method = 0.4; /* of what computes: that one may be to blame */
static const double waiting_much = 0.4;
static const double usual_much = 0.5;
static const double undisturbed = 0.1; /* the tenth of the calls that had to wait least */
enum { STUCK_WINDOWS = 6, UNDISTURBED_CALLS = 50 }; /* of fewer calls none need be undisturbed */
static const double least_calls = 5;		    /* so few can be anything */
/* Calls differ: some take at least so long, much longer than usual, and have most of the time, which
 * is much of a thread's. */
static const double uneven_least = 5e5, uneven_time = 0.6, uneven_much = 0.1, differ_least = 2e4;
/* Where all takes so many times as long, calls differ by their luck. */
static const double too_busy = 3, starving = 0.9;
static const double statements_many = 20, statements_time = 0.4, statements_least = 1e6;
/* What a root weighs that is slow, but no slower than it ever was; and one that only sleeps, or
 * waits for somebody to wake it: maybe it has nothing to do; and one that a timer calls, since nobody
 * waits for that. */
static const double as_ever = 0.1, asleep = 0.01, nobody_waits = 0.05;

static double share(uint64_t part, uint64_t whole)
{
	return whole ? (double)part / (double)whole : 0;
}

bool judge_seen(const struct dig *d, const struct sample_node *n, struct presence *out)
{
	double looks = (double)(d->all.vitals.samples ? d->all.vitals.samples : 1);
	double wall = (double)measure_windows(&d->measure) * 1e9;
	struct measured m;

	if (!measure_method(&d->measure, n->name, &m) || measure_ns(&d->measure, &m) <= 0)
		return false;
	*out = (struct presence){ (double)n->busy / looks, measure_ns(&d->measure, &m) / wall,
				  measure_calls(&d->measure, &m) };
	return true;
}

enum {
	REST_DEPTH = 2,
	TASKS_TELLING = 8, /* samples of tasks, or of what computes */
};

/* Methods of the program from the outermost to here; the bridges that javac makes are called alike. */
static unsigned steps_to(const struct sample_node *n)
{
	struct slice last = { NULL, 0 };
	unsigned steps = 0;

	for (; n->parent; n = n->parent) {
		struct slice plain = sample_node_plain(n->name);

		if (sample_node_is_jdk(n->name) || slice_eq(plain, last))
			continue;
		last = plain;
		steps++;
	}
	return steps;
}

/* Samples that wait so near to the outermost method that there is hardly a way down to it. */
static uint64_t resting(const struct samples *under, enum kind of)
{
	uint64_t sum = 0;

	for (const struct sample_node *n = under->root.first; n;
	     n = samples_next(n, &under->root)) {
		if (steps_to(n) > REST_DEPTH)
			continue;
		for (int i = 0; i < SAMPLE_STATES; i++) {
			enum kind kind = kind_of(n, (enum sample_state)i, &under->root);

			sum += kind == of ? n->self[i] : 0;
		}
	}
	return sum;
}

static bool is_worker(const struct sample_node *n)
{
	return slice_starts(n->name, slice_str("java.util.concurrent.ThreadPoolExecutor.run")) ||
	       slice_starts(n->name, slice_str("java.util.concurrent.ForkJoinPool.run"));
}

struct tasks {
	uint64_t all, computing; /* samples */
};

/* A task that waits for another one is as that one is. */
static void add_tasks(struct tasks *t, const struct sample_node *worker)
{
	for (const struct sample_node *n = worker; n; n = samples_next(n, worker))
		for (int i = 0; i < SAMPLE_STATES; i++) {
			enum kind kind = kind_of(n, (enum sample_state)i, worker);

			if (!n->self[i] || kind_is_idle(n, (enum sample_state)i) ||
			    kind == KIND_FUTURE || kind == KIND_QUEUE)
				continue;
			t->all += n->self[i];
			t->computing += kind_is_computing(kind) ? n->self[i] : 0;
		}
}

/* How much of their time the tasks that are waited for want a processor: those of pools, or those that
 * have been put below the root already, which are in `by`.  All of it where none has been met: then it
 * is handing over that takes long, and that is waiting for a processor. */
static double tasks_computing(const struct dig *d, const uint64_t by[KINDS], uint64_t n)
{
	const struct sample_node *top = &d->all.root;
	struct tasks t = { 0 };

	for (const struct sample_node *at = top->first; at; at = samples_next(at, top))
		if (at->busy && is_worker(at) && !(at->parent && is_worker(at->parent)))
			add_tasks(&t, at);
	if (t.all < TASKS_TELLING)
		t = (struct tasks){ n - by[KIND_FUTURE], kind_computing(by) };
	return t.all < TASKS_TELLING ? 1 : share(t.computing, t.all);
}

enum { METHODS = 64 };

/* Of the samples that compute below a method, the part that the one of the program's methods has
 * which has most. */
static double concentrated(const struct samples *under)
{
	struct slice names[METHODS];
	uint64_t by[METHODS] = { 0 }, sum = 0, most = 0;
	const struct sample_node *top = &under->root;
	unsigned n_names = 0;

	for (const struct sample_node *n = top->first; n; n = samples_next(n, top)) {
		const struct sample_node *own = n;
		uint64_t computing = 0;
		unsigned i = 0;

		for (int k = 0; k < SAMPLE_STATES; k++)
			if (n->self[k] && kind_is_computing(kind_of(n, (enum sample_state)k, top)))
				computing += n->self[k];
		while (own->parent && sample_node_is_jdk(own->name))
			own = own->parent;
		while (i < n_names && !slice_eq(names[i], own->name))
			i++;
		sum += computing;
		if (!computing || i == METHODS)
			continue;
		names[i] = own->name;
		n_names += i == n_names;
		by[i] += computing;
		most = by[i] > most ? by[i] : most;
	}
	return sum < TASKS_TELLING ? 0 : share(most, sum);
}

/* Of its samples, those that a timer has called. */
static double scheduled(const struct samples *all, struct slice name)
{
	static const char *const timers[] = {
		"java.util.concurrent.ScheduledThreadPoolExecutor$ScheduledFutureTask.",
		"java.util.TimerThread.", "org.quartz.core.JobRunShell."
	};
	const struct sample_node *top = &all->root;
	uint64_t sum = 0, by_timer = 0;

	for (const struct sample_node *n = top->first; n; n = samples_next(n, top)) {
		bool is = false;

		if (!slice_eq(n->name, name))
			continue;
		for (const struct sample_node *up = n->parent; up->parent && !is; up = up->parent)
			for (size_t i = 0; i < COUNT(timers); i++)
				is |= slice_starts(up->name, slice_str(timers[i]));
		sum += n->total;
		by_timer += is ? n->total : 0;
	}
	return share(by_timer, sum);
}

struct nature judge_nature(const struct dig *d, struct slice name)
{
	struct samples under;
	uint64_t by[KINDS], n, queue;
	struct nature is = { 0 };

	samples_init(&under);
	samples_under(&d->all, name, &under);
	n = kind_divide(&under.root, by);
	queue = resting(&under, KIND_QUEUE);
	is.resting = share(resting(&under, KIND_SLEEP) + resting(&under, KIND_WAIT) + queue, n);
	is.concentrated = concentrated(&under);
	is.scheduled = scheduled(&d->all, name);
	samples_release(&under);
	if (n >= 20)
		is.waiting = share(by[KIND_MONITOR] + by[KIND_LOCK] + by[KIND_SEMAPHORE], n);
	is.sleeping = share(by[KIND_SLEEP] + by[KIND_WAIT] + queue, n);
	is.handing = share(by[KIND_FUTURE], n);
	is.tasks_computing = is.handing > 0 ? is.handing * tasks_computing(d, by, n) : 0;
	is.computing = n ? share(kind_computing(by), n) : 1;
	return is;
}

/* How much longer the root takes since the machine has too few processors for all that runs on it.
 * That is no fault of the program's. */
double judge_stretch(const struct dig *d, double computing)
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

/* All that its calls take beyond what is usual is no more than what the program's threads have
 * waited for processors meanwhile, and there is no method that could be to blame. */
static bool is_of_the_machine(const struct dig *d, const struct candidate *c,
			      const struct nature *is)
{
	const struct dig_figures *f = c->figures;
	double usual = (double)f->timed * c->spread.median, wants = is->computing + is->handing;
	double waited = d->starved < 1 ? d->ran_ns * d->starved / (1 - d->starved) : d->ran_ns;

	return d->starved > busy && wants > 0.5 && is->concentrated < one_method &&
	       is->computing + is->tasks_computing > 0.5 &&
	       wants * ((double)f->total_ns - usual) <= waited;
}

struct known_run judge_run(const struct dig *d, const struct dig_figures *f)
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
	struct known_run now = judge_run(d, c->figures);
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

/* Its share of one thread's time, by the calls that have returned. */
double judge_weight(const struct dig *d, const struct dig_figures *f)
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
	c->slow = longer < too_busy && s.slow_mean >= uneven_least * longer &&
		  judge_weight(d, f) >= uneven_much;
}

/* Where hardly any thread gets a processor when it wants one, neither does who works for it. */
static double slow_limit(const struct dig *d, double longer, double unsteady)
{
	if (d->options.slow_ns > 0)
		return d->options.slow_ns;
	return slow_default * (d->answer.delay_share > starving ? unsteady : longer);
}

void judge_root(const struct dig *d, const struct dig_figures *f, struct candidate *c)
{
	struct nature is = judge_nature(d, f->name);
	double longer = judge_stretch(d, is.computing + is.tasks_computing);
	double unsteady = judge_stretch(d, is.computing + is.handing);
	double limit = slow_limit(d, longer, unsteady);
	double mean;

	*c = (struct candidate){ .figures = f, .limit = limit, .waiting = is.waiting };
	c->spread = stats_spread(f->low, f->count, f->n, limit);
	c->slow = c->spread.slow_time >= slow_time;
	if (!c->slow && d->options.slow_ns <= 0) {
		double odd = odd_times * c->spread.median;
		struct spread s;

		odd = odd > odd_least * unsteady ? odd : odd_least * unsteady;
		s = stats_spread(f->low, f->count, f->n, odd);
		if (s.slow_time >= odd_time) {
			c->slow = true;
			c->limit = odd;
			c->spread = s;
		}
	}
	if (!c->slow && d->options.slow_ns <= 0)
		judge_uneven(d, c, unsteady);
	if (c->slow && d->options.slow_ns <= 0 && is_of_the_machine(d, c, &is))
		c->slow = false;
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
	c->rests = is.resting > 0.8;
	if (c->sleeps)
		c->weight *= asleep;
	else if (is.scheduled > 0.8)
		c->weight *= nobody_waits;
}

/* All calls that have returned were fast, but samples have seen it at work much longer than these
 * took: there are others, which have not returned.  Where threads wait for processors, samples may
 * have been taken in a worse moment than the calls. */
void judge_stuck(const struct dig *d, const struct sample_node *n, struct candidate *c)
{
	struct presence s;
	double computing;

	if (c->slow || !n || measure_windows(&d->measure) < STUCK_WINDOWS ||
	    !judge_seen(d, n, &s) || s.looks < 0.25)
		return;
	computing = judge_nature(d, n->name).computing;
	if (computing < 0.5 || s.hooks > s.looks / 3 / judge_stretch(d, computing))
		return;
	c->slow = c->stuck = true;
	c->weight = (s.looks - s.hooks) * (double)measure_windows(&d->measure) * 1e9;
}
