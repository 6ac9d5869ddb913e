/* SPDX-License-Identifier: Apache-2.0 */
/* dig.c - the steps of digging down.
 *
 *	look	  samples: which methods of the program are the threads in?
 *	roots	  hook the outermost ones: which of them return, how often, how long do they take?  The
 *		  outermost that returns is a root; it is slow when much of its time is in slow calls.
 *	deeper	  more samples, when too few fell below the root
 *	graph	  what do the methods on the way down call?  Who else calls the one at its end?
 *	branch	  hook the way down, what lies beside it, and the other callers, below the root alone:
 *		  which branch has the time?  Measured until the interval is narrow.
 *	holder	  what do the methods call that others are in, while the guilty one waits?
 *	data	  watch the arguments of the root and of the guilty method
 *
 * Every step that is taken for granted by samples is measured by hooks before it is reported. */
#include "plan/dig/dig.h"

#include "base/err.h"
#include "plan/dig/find.h"
#include "plan/dig/holder.h"
#include "plan/dig/mine.h"

enum { FIGURES_BYTES_MAX = 64 << 20 };

enum {
	PH_LOOK,
	PH_ROOTS_IN,
	PH_ROOTS,
	PH_DEEPER,
	PH_GRAPH,
	PH_BRANCH_IN,
	PH_BRANCH,
	PH_HOLDER,
	PH_DATA,
	PH_WAIT,
	PH_END
};

enum {
	ROOT_DEPTH = 4, /* at first; the less is hooked, the less the JVM has to compile anew */
	ROOT_DEEPER = 3,
	ROOT_WINDOWS = 2,	/* at least */
	ROOTS_AGAIN = 2,	/* hooked once more, when nothing has returned */
	ROOT_WINDOWS_MAX = 8,	/* while less has returned than the samples have seen */
	ROOT_WINDOWS_LONG = 12, /* ... on a machine that is busy with other things */
	BRANCH_WINDOWS = 3,
	BRANCH_CALLS = 10, /* of the guilty method, for contexts */
	/* When it is clear whose the time is, though not how much a call takes. */
	BRANCH_WINDOWS_SHARE = 5,
	BRANCH_WINDOWS_MAX = 8,
	BRANCH_WINDOWS_LONG = 14, /* while the root has hardly returned */
	BESIDE_LEAST = 12, /* one sample in so many: one with fewer cannot have half of the time */
	UNDER_LEAST = 40,  /* samples below the root */
	TASK_WORTH = 16,   /* seconds that must be left to dig below a task, too */
	CALLERS_WORTH = 6, /* seconds to wait for what questions about callers cost */
	DEEPER_MOST = 20,  /* callees that are hooked since a method calls them */
	LEVELS_MOST = 4,   /* so often */
	LEVEL_WORTH = 14,  /* seconds that must be left for another level */
	TOO_HOT = 30000,   /* calls a second */
	HOOK_IS_NOTHING_NS = 2000, /* of a call: twenty times what its hook costs */
	WATCHED_CALLS = 30000,
	WATCHED_LEAST = 60,
	WATCHED_FEW = 20,  /* when nearly all are slow, they can only differ by chance */
	WATCHED_SLOW = 4,  /* so many slow ones, with a condition that tells them from the others */
	WATCHED_MANY = 12, /* after so many there is none */
	WATCHED_S = 25,	   /* so long at most */
	WATCHED_SOONEST = 4,  /* ... and at least, s */
	WATCHED_SLOWEST = 40, /* calls a second, whatever the budget */
	/* What it costs to write down the arguments of a call, in its thread and in the agent's,
	 * ns; and that the JVM compiles the code that does it. */
	WATCHED_NS = 20000,
	WATCHING_NS = 200000000,
	WATCHING_AGAIN = 2, /* ... or so many times what the hooks have cost so far */
};

static const double second = 1e9;

void dig_init(struct dig *d, const struct dig_options *options)
{
	memset(d, 0, sizeof(*d));
	arena_init(&d->mem);
	arena_init(&d->readings);
	samples_init(&d->all);
	samples_init(&d->fresh);
	samples_init(&d->under);
	measure_init(&d->measure);
	d->options = *options;
	d->root_depth = ROOT_DEPTH;
	d->starved = -1;
	for (size_t i = 0; i < COUNT(d->watched); i++)
		split_init(&d->watched[i].split);
}

void dig_release(struct dig *d)
{
	for (size_t i = 0; i < COUNT(d->watched); i++)
		split_release(&d->watched[i].split);
	measure_release(&d->measure);
	find_release_joints(d);
	samples_release(&d->under);
	samples_release(&d->fresh);
	samples_release(&d->all);
	arena_release(&d->readings);
	arena_release(&d->mem);
	buf_release(&d->said);
	buf_release(&d->rules);
}

/* ---- what to do next ----------------------------------------------------------------------- */

static void start_measure(struct dig *d)
{
	measure_release(&d->measure);
	measure_init(&d->measure);
	for (unsigned i = 0; i < d->n_links; i++)
		measure_link(&d->measure, d->links[i].waiter, d->links[i].task);
	d->tries = 0;
	mine_begin(d);
}

static bool is_late(const struct dig *d, double need)
{
	return d->options.for_ns > 0 && d->now - d->began + need > d->options.for_ns;
}

static void finish(struct dig *d)
{
	d->phase = PH_END;
}

/* What it costs to begin to watch.  Most of it is that the JVM compiles the root anew, with the
 * code that writes down arguments, and all that it puts into it: where that was much when the hooks
 * came, it is again. */
static double watching_cost(const struct dig *d)
{
	double cost = WATCHING_AGAIN * d->spent_ns;

	return cost > WATCHING_NS ? cost : WATCHING_NS;
}

/* How many calls a second may be written down: as many as what is then left of the budget pays
 * for. */
static double watch_rate(const struct dig *d)
{
	double elapsed = d->now - d->began, time = d->options.for_ns - elapsed - second, left, n;

	time = time > WATCHED_S * second || time < second ? WATCHED_S * second : time;
	left = (d->options.budget * (elapsed + time) - d->spent_ns - watching_cost(d)) / time;
	left = left < d->options.budget ? left : d->options.budget;
	n = 0.8 * left * second / WATCHED_NS;
	return n < WATCHED_SLOWEST ? WATCHED_SLOWEST : n;
}

/* Long enough for a dozen slow calls to come by and to be drawn; a condition may be clear
 * before. */
static double watch_time(const struct dig *d)
{
	double slow = d->answer.root_rate * d->answer.slow_share; /* a second */
	double rate = 0, time;

	for (unsigned i = 0; i < d->n_watched; i++) {
		const struct dig_figures *f = dig_figures_of(d, d->watched[i].method);

		rate += f ? f->rate : 0;
	}
	if (rate > watch_rate(d))
		slow *= watch_rate(d) / rate;
	time = slow > 0 ? WATCHED_MANY / slow * second : 0;
	return time < WATCHED_SOONEST * second ? WATCHED_SOONEST * second
	       : time > WATCHED_S * second     ? WATCHED_S * second
					       : time;
}

/* ... and no longer than there is time. */
static double watch_for(const struct dig *d)
{
	double time = watch_time(d);
	double left = d->options.for_ns > 0 ? d->options.for_ns - (d->now - d->began) - second
					    : time;

	return time < left || left <= second ? time : left;
}

/* It is slow by how many statements it has: nothing is watched then. */
static bool is_of_statements(const struct dig *d)
{
	return d->answer.statements > 0;
}

/* The time that a phase, and what comes behind it, may need. */
static double time_for(const struct dig *d, int phase)
{
	/* slow calls may be rare, and rarer than they were */
	double watching = phase == PH_DATA ? 1.5 * watch_time(d) + second : 0;

	if (watching > 12 * second)
		return watching < (WATCHED_S + 1) * second ? watching : (WATCHED_S + 1) * second;
	if (is_of_statements(d))
		return 9 * second;
	return phase == PH_DATA ? 12 * second : 24 * second;
}

/* How long nothing should be done before a phase, so that what was spent, and will be in it, is
 * within the budget at its end; time is left for what comes. */
static double wait_time(const struct dig *d, int phase)
{
	double elapsed = d->now - d->began, left = d->options.for_ns - elapsed - time_for(d, phase);
	double expected = phase == PH_DATA
				  ? watching_cost(d) - WATCHED_SOONEST * second * d->options.budget
			  : d->n_hooked ? d->spent_ns / d->n_hooked
					: 0; /* deeper hooks cost about what those before did */
	double time = d->options.budget > 0 ? (d->spent_ns + expected) / d->options.budget - elapsed
					    : 0;

	return time < left ? time : left;
}

/* Goes on with a phase, after a while when too much was spent. */
static void go_on(struct dig *d, int phase)
{
	double time = wait_time(d, phase);

	d->phase = phase;
	if (time < 2 * second)
		return;
	buf_printf(&d->said, "So far it has cost %.1f %%%s: waiting %.0f s.\n",
		   100 * d->spent_ns / (d->now - d->began),
		   phase == PH_DATA ? ", and watching costs something, too" : "", time / second);
	d->waits_for = phase;
	d->phase = PH_WAIT;
}

static bool is_banned(const struct dig *d, struct slice name)
{
	for (unsigned i = 0; i < d->n_banned; i++)
		if (slice_eq(d->banned[i], name))
			return true;
	return false;
}

/* With a template that can show arguments, though they are not asked for yet: a call that runs while
 * its class is redefined goes on in the interpreter, and a slow one would be slower by far until it
 * ends.  So the class is changed once, and what comes later finds its hooks there. */
static void rule_inside(struct dig *d, struct slice name, struct slice inside)
{
	if (is_banned(d, name) || (d->most_rules && d->n_rules >= d->most_rules))
		return;
	d->n_rules++;
	buf_text(&d->rules, "hook ");
	dig_put_target(&d->rules, name);
	if (inside.n && !d->no_inside && !slice_eq(name, inside)) {
		buf_text(&d->rules, " inside ");
		dig_put_target(&d->rules, inside);
	}
	buf_text(&d->rules, " template arguments");
	buf_text(&d->rules, d->lowered ? " timed 1/64\n" : " timed\n");
}

static const struct slice anywhere = { NULL, 0 };

static void rule(struct dig *d, struct slice name)
{
	rule_inside(d, name, anywhere);
}

static void root_rules(struct dig *d)
{
	/* A fiftieth of one thread's time; if nothing of that returns, whatever was seen. */
	uint64_t least = d->again ? 0 : d->all.vitals.samples / 50 + 1;

	buf_clear(&d->rules);
	d->n_rules = 0;
	if (d->options.method.n) {
		buf_printf(&d->rules, "hook %.*s template arguments timed\n",
			   SLICE_FMT(d->options.method));
		return;
	}
	d->n_roots = trail_roots(&d->all, d->root_depth, least, d->roots);
	for (unsigned i = 0; i < d->n_roots; i++)
		rule(d, d->roots[i]->name);
}

static void branch_rule(struct dig *d, struct slice name, struct slice inside)
{
	if (!mine_has_rule(d, name))
		rule_inside(d, name, inside);
}

static void keep_link(struct dig *d, struct slice waiter, struct slice task)
{
	for (unsigned i = 0; i < d->n_links; i++)
		if (slice_eq(waiter, d->links[i].waiter) && slice_eq(task, d->links[i].task))
			return;
	if (d->n_links < STITCH_LINKS)
		d->links[d->n_links++] =
			(struct stitch_link){ dig_keep(d, waiter), dig_keep(d, task) };
}

static bool is_task(const struct dig *d, struct slice name)
{
	return dig_waiter_of(d, name).n > 0;
}

/* What calls the step in its own thread, however far above: a task of another one, or the root. A
 * task itself may be anywhere. */
static struct slice around(const struct dig *d, unsigned step)
{
	const struct trail *t = &d->trail;

	if (is_task(d, t->steps[step].node->name))
		return anywhere;
	while (step-- > 1)
		if (is_task(d, t->steps[step].node->name))
			return t->steps[step].node->name;
	return d->dug;
}

static bool crosses_threads(const struct dig *d)
{
	for (unsigned i = 1; i < d->trail.n; i++)
		if (is_task(d, d->trail.steps[i].node->name))
			return true;
	return false;
}

/* The other callers of the methods on the way down: first those of its end, where they matter
 * most. */
static void caller_rules(struct dig *d)
{
	const struct trail *t = &d->trail;
	struct slice inside = crosses_threads(d) ? anywhere : d->dug;

	for (unsigned s = t->n; s-- > 1;)
		for (unsigned i = 0; i < d->n_graph; i++)
			for (unsigned k = 0; k < d->graph[i].n; k++)
				if (slice_eq(d->graph[i].callees[k], t->steps[s].node->name))
					branch_rule(d, d->graph[i].method, inside);
}

static void beside_rules(struct dig *d, unsigned step)
{
	const struct trail_step *s = &d->trail.steps[step];

	for (unsigned k = 0; k < s->n_beside; k++) {
		const struct sample_node *n = s->beside[k];

		if (trail_can_hook(n) && n->total * BESIDE_LEAST >= s->node->total)
			branch_rule(d, n->name,
				    is_task(d, n->name)		? anywhere
				    : is_task(d, s->node->name) ? s->node->name
								: around(d, step));
	}
}

/* The samples end where a task is waited for, and have not met that task: those that the last
 * methods make may be it. */
static void task_rules(struct dig *d)
{
	const struct trail *t = &d->trail;

	for (unsigned i = 0; t->n && find_ends_waiting(d) && i < d->n_graph; i++)
		for (unsigned k = 0; k < d->graph[i].n; k++)
			for (unsigned s = t->n > 3 ? t->n - 3 : 0; s < t->n; s++) {
				struct slice task = d->graph[i].callees[k];

				if (!slice_eq(d->graph[i].method, t->steps[s].node->name) ||
				    !stitch_is_made_by(task, d->graph[i].method))
					continue;
				keep_link(d, d->graph[i].method, task);
				branch_rule(d, task, anywhere);
			}
}

/* The way that was measured before, and what the method at its end calls. */
static void deeper_rules(struct dig *d)
{
	const struct dig_answer *a = &d->answer;
	struct slice inside = d->dug, near;

	for (unsigned i = 1; i < a->n_path; i++) {
		branch_rule(d, a->path[i], is_task(d, a->path[i]) ? anywhere : inside);
		inside = is_task(d, a->path[i]) ? a->path[i] : inside;
	}
	near = inside;
	for (unsigned i = 0; i < d->n_further; i++) {
		branch_rule(d, d->further[i], is_task(d, d->further[i]) ? anywhere : inside);
		inside = is_task(d, d->further[i]) ? d->further[i] : inside;
	}
	for (unsigned k = 0; d->n_graph && k < d->graph[0].n && k < DEEPER_MOST; k++) {
		struct slice callee = d->graph[0].callees[k];

		if (stitch_is_made_by(callee, d->deeper))
			keep_link(d, d->deeper, callee);
		branch_rule(d, callee, is_task(d, callee) ? anywhere : near);
	}
}

static void branch_rules(struct dig *d)
{
	const struct trail *t = &d->trail;

	buf_clear(&d->rules);
	d->n_rules = 0;
	rule(d, d->dug);
	if (d->deeper.n) {
		deeper_rules(d);
		return;
	}
	task_rules(d);
	for (unsigned i = 1; i < t->n; i++)
		if (trail_can_hook(t->steps[i].node))
			branch_rule(d, t->steps[i].node->name, around(d, i));
	for (unsigned i = 0; i < t->n; i++)
		beside_rules(d, i);
	caller_rules(d);
	if (d->answer.task.n)
		branch_rule(d, d->answer.task, anywhere);
	if (d->answer.via.n)
		branch_rule(d, d->answer.root, anywhere); /* its arguments may be what matters */
}

/* Calls are written down at some cost: of hot methods only one in so many, drawn at random, so that
 * slow and fast calls are met in their proportion. */
static void data_rules(struct dig *d)
{
	static const double rarest = 1e6;
	double may = watch_rate(d);

	buf_clear(&d->rules);
	d->watched_at = d->now;
	for (unsigned i = 0; i < d->n_watched; i++) {
		const struct dig_figures *f = dig_figures_of(d, d->watched[i].method);
		double rate = f ? f->rate : 0, share = may / (d->n_watched - i);
		unsigned one_in = !(rate > share)	  ? 1
				  : rate < share * rarest ? (unsigned)(rate / share) + 1
							  : (unsigned)rarest;

		may -= rate / one_in;
		if (one_in > 1) {
			buf_text(&d->said, "  ");
			dig_put_name(&d->said, d->watched[i].method);
			buf_printf(&d->said,
				   " is called %.0f times a second: one in %u is watched.\n", rate,
				   one_in);
		}
		buf_text(&d->rules, "hook ");
		dig_put_target(&d->rules, d->watched[i].method);
		buf_printf(&d->rules, " template arguments full 1/%u\n", one_in);
	}
}

/* The next method whose callees are wanted; .n 0: none. */
static struct slice next_in_graph(struct dig *d)
{
	return d->asked < d->n_graph ? d->graph[d->asked].method : (struct slice){ NULL, 0 };
}

static void measure(const struct dig *d, struct dig_action *out)
{
	out->step = DIG_MEASURE;
	out->for_ns = (uint64_t)second;
	/* The first reading begins the first window: at once when it is about what returns at all,
	 * and when the JVM has had time to compile anew what was redefined when it is about
	 * times. */
	if (!d->measure.readings && d->phase == PH_ROOTS)
		out->for_ns = 1;
}

static void wait(const struct dig *d, struct dig_action *out)
{
	double time = wait_time(d, d->waits_for);

	out->step = DIG_WAIT;
	out->for_ns = (uint64_t)(time > 0 ? time : 1);
}

static bool ask_callees(struct dig *d, struct slice method, struct dig_action *out)
{
	buf_clear(&d->rules);
	if (!method.n)
		return false;
	dig_put_target(&d->rules, method);
	out->step = DIG_CALLEES;
	out->method = buf_slice(&d->rules);
	return true;
}

void dig_next(struct dig *d, double now_ns, struct dig_action *out)
{
	*out = (struct dig_action){ .step = DIG_DONE };
	d->began = d->began > 0 ? d->began : now_ns;
	d->now = now_ns;
	if (d->err || d->said.err || d->rules.err || d->all.err || d->under.err) {
		d->err = d->err ? d->err : E_NO_MEMORY;
		return;
	}
	switch (d->phase) {
	case PH_LOOK:
	case PH_DEEPER:
		out->step = DIG_SAMPLE;
		out->for_ns = (uint64_t)(4 * second);
		break;
	case PH_ROOTS_IN:
		root_rules(d);
		out->step = d->rules.n ? DIG_HOOK : DIG_DONE;
		break;
	case PH_GRAPH:
		if (ask_callees(d, next_in_graph(d), out))
			break;
		go_on(d, PH_BRANCH_IN);
		if (d->phase == PH_WAIT) {
			wait(d, out);
			break;
		}
		/* fall through */
	case PH_BRANCH_IN:
		branch_rules(d);
		out->step = DIG_HOOK;
		break;
	case PH_ROOTS:
	case PH_BRANCH:
		measure(d, out);
		d->read_at = d->now + (double)out->for_ns;
		break;
	case PH_HOLDER:
		ask_callees(d, holder_next(d), out);
		break;
	case PH_WAIT:
		wait(d, out);
		break;
	case PH_DATA:
		data_rules(d);
		out->step = d->rules.n ? DIG_WATCH : DIG_DONE;
		out->limit = WATCHED_CALLS;
		out->for_ns = (uint64_t)watch_for(d);
		break;
	default:
		break;
	}
	out->rules = buf_slice(&d->rules);
}

/* ---- what came of it ----------------------------------------------------------------------- */

void dig_sampled(struct dig *d)
{
	struct stitch_link links[STITCH_LINKS];
	unsigned n;

	samples_seal(&d->fresh);
	n = stitch_tasks(&d->fresh, links);
	for (unsigned i = 0; i < n; i++)
		keep_link(d, links[i].waiter, links[i].task);
	samples_merge(&d->all, &d->fresh);
	samples_release(&d->fresh);
	samples_init(&d->fresh);
	if (d->phase == PH_LOOK) {
		find_tell_look(d);
		d->phase = PH_ROOTS_IN;
		return;
	}
	if (find_below(d) < UNDER_LEAST && d->tries++ < 1 && !is_late(d, 20 * second))
		return; /* once more */
	find_trail(d);
	d->phase = PH_GRAPH;
}

void dig_hooked(struct dig *d, bool any, bool undecided)
{
	d->n_hooked++;
	if (undecided && !d->no_inside) {
		d->no_inside = true; /* the same once more, without */
		return;
	}
	if (!any && d->phase == PH_ROOTS_IN) {
		buf_text(&d->said, "None of the methods that run can be hooked.\n");
		find_unmeasured(d);
		finish(d);
		return;
	}
	start_measure(d);
	d->most_rules = 0;
	d->phase = d->phase == PH_ROOTS_IN ? PH_ROOTS : PH_BRANCH;
}

bool dig_too_many(struct dig *d)
{
	if (d->n_rules < 2)
		return false;
	d->most_rules = d->n_rules / 2;
	buf_printf(&d->said, "That would hook too many methods: only the first %u.\n",
		   d->most_rules);
	return true;
}

bool dig_method(struct dig *d, const struct dig_figures *f)
{
	struct dig_figures *copy;

	if (!mine_is_hooked(d, f->name))
		return false;
	if (d->readings.total > FIGURES_BYTES_MAX) /* of more methods than were ever hooked */
		return true;
	copy = arena_copy(&d->readings, f, sizeof(*f));
	if (!copy || !(copy->name = arena_dup(&d->readings, f->name)).p) {
		d->err = E_NO_MEMORY;
		return true;
	}
	mine_since(d, copy);
	copy->next = d->figures;
	d->figures = copy;
	return true;
}

void dig_row(struct dig *d, const struct measure_row *row)
{
	if (mine_is_hooked(d, row->name))
		measure_row(&d->measure, row);
	else
		measure_pass(&d->measure, row->depth);
}

/* Below d->dug, with more samples if there are few. */
static void dig_down(struct dig *d)
{
	if (find_below(d) < UNDER_LEAST && !is_late(d, 20 * second)) {
		d->phase = PH_DEEPER;
		d->tries = 0;
		return;
	}
	find_trail(d);
	d->phase = PH_GRAPH;
}

static void roots_measured(struct dig *d)
{
	size_t n = measure_windows(&d->measure);
	bool any = find_root(d), whole = any && find_root_is_whole(d);
	size_t most = d->starved > 0.5 ? ROOT_WINDOWS_LONG : ROOT_WINDOWS_MAX;

	if (!any && d->starved > 0.5)
		most = WINDOWS_MAX;
	if (n >= ROOT_WINDOWS && find_root_is_deeper(d) && !is_late(d, 25 * second)) {
		d->root_depth += ROOT_DEEPER;
		d->phase = PH_ROOTS_IN;
		return;
	}
	/* Somebody else may have unhooked it. */
	if (!any && n >= ROOT_WINDOWS && d->again < ROOTS_AGAIN && !is_late(d, 12 * second)) {
		d->again++;
		d->phase = PH_ROOTS_IN;
		return;
	}
	/* With nothing at all there is no way on, so that is worth more time. */
	if (n < ROOT_WINDOWS || (!whole && n < most && !is_late(d, (any ? 26 : 5) * second)))
		return;
	if (!find_decide(d)) {
		finish(d);
		return;
	}
	d->dug = d->answer.root;
	dig_down(d);
}

static bool is_on_path(const struct dig *d, struct slice name)
{
	for (unsigned i = 0; i < d->answer.n_path; i++)
		if (slice_eq(d->answer.path[i], name))
			return true;
	return slice_eq(name, d->answer.root) || slice_eq(name, d->answer.task);
}

/* So hot that it should go, though the answer needs it.  One whose calls take much longer than its hook
 * is told rightly all the same, and may stay if it is enough to time fewer calls. */
static bool is_too_hot(const struct dig *d, const struct dig_figures *f)
{
	bool is_long = f->timed && f->total_ns / f->timed >= HOOK_IS_NOTHING_NS;

	return f->rate > TOO_HOT && (d->lowered || !is_long || !is_on_path(d, f->name));
}

/* The hooks cost more than they may: the hook that is called most goes, if it is not needed for the
 * answer, or so hot that its own cost would be what is measured; when all are needed, fewer calls are
 * timed.  False: nothing could be saved. */
static bool save_cost(struct dig *d)
{
	const struct dig_figures *most = NULL;

	find_branch(d);
	for (const struct dig_figures *f = d->figures; f; f = f->next)
		if ((is_too_hot(d, f) || (!is_on_path(d, f->name) && f->rate > 100)) &&
		    (!most || f->rate > most->rate))
			most = f;
	if (most && d->n_banned < COUNT(d->banned)) {
		d->banned[d->n_banned++] = dig_keep(d, most->name);
		buf_printf(&d->said, "The hooks cost %.1f %%, more than %.1f %%: without ",
			   100 * d->cost_share, 100 * d->options.budget);
		dig_put_name(&d->said, most->name);
		buf_printf(&d->said, ", which is called %.0f times a second.\n", most->rate);
		return true;
	}
	if (d->lowered)
		return false;
	buf_printf(&d->said,
		   "The hooks cost %.1f %%, more than %.1f %%: one call in 64 is timed.\n",
		   100 * d->cost_share, 100 * d->options.budget);
	d->lowered = true;
	return true;
}

/* Slow calls that are rare leave the mean wide for as long as one looks; on a busy machine that
 * time is better spent on watching them.  A few calls would not show the contexts. */
static bool is_share_clear(const struct dig *d)
{
	const struct estimated *e = &d->answer.share;

	return d->answer.is_measured && d->answer.calls >= BRANCH_CALLS && e->margin >= 0 &&
	       e->margin < 0.05 && e->value > 0.5 && d->starved > 0.5;
}

static void conclude_data(struct dig *d)
{
	find_watched(d);
	if (is_late(d, 6 * second) || !d->n_watched)
		finish(d);
	else
		go_on(d, PH_DATA);
}

static void conclude(struct dig *d)
{
	find_tell_branch(d);
	find_contexts(d);
	find_why(d);
	if (find_goes_to_task(d) && !is_late(d, TASK_WORTH * second)) {
		find_go_to_task(d);
		d->deeper.n = 0;
		dig_down(d);
		return;
	}
	if (!is_late(d, 3 * second) && holder_begin(d))
		d->phase = PH_HOLDER;
	else
		conclude_data(d);
}

static void branch_measured(struct dig *d)
{
	size_t n = measure_windows(&d->measure);
	size_t most = find_returns(d) ? BRANCH_WINDOWS_MAX : BRANCH_WINDOWS_LONG;
	double after = (is_of_statements(d) ? 2 : 8) * second;
	bool clear;

	if (n >= 1 && d->cost_share > d->options.budget && d->phase == PH_BRANCH &&
	    !is_late(d, 12 * second) && save_cost(d)) {
		d->phase = PH_BRANCH_IN;
		return;
	}
	clear = n >= BRANCH_WINDOWS && find_branch(d);
	clear |= n >= BRANCH_WINDOWS_SHARE && is_share_clear(d);
	if (n < BRANCH_WINDOWS || (!clear && n < most && !is_late(d, after)))
		return;
	if (d->levels < LEVELS_MOST && !is_late(d, LEVEL_WORTH * second) && find_is_deeper(d)) {
		find_ask_deeper(d);
		d->phase = PH_GRAPH;
		return;
	}
	conclude(d);
}

void dig_measured(struct dig *d)
{
	if (d->measure.err)
		d->err = d->measure.err;
	else if (d->phase == PH_ROOTS)
		roots_measured(d);
	else
		branch_measured(d);
	if (d->phase == PH_ROOTS || d->phase == PH_BRANCH) {
		d->figures = NULL; /* the next reading has them all again */
		arena_reset(&d->readings);
	}
}

void dig_callee(struct dig *d, struct slice name)
{
	struct slice kept;
	unsigned n;

	if (d->phase == PH_HOLDER) {
		holder_callee(d, name);
		return;
	}
	n = d->graph[d->asked].n;
	if (find_is_lookup(name))
		d->graph[d->asked].looks_up = true;
	if (find_is_sending(name))
		d->graph[d->asked].sends = true;
	if (n >= COUNT(d->graph[0].callees) || sample_node_is_jdk(name) ||
	    !sample_node_can_be_named(name))
		return;
	for (unsigned i = 0; i < n; i++)
		if (slice_eq(d->graph[d->asked].callees[i], name))
			return;
	kept = dig_keep(d, name);
	if (kept.p)
		d->graph[d->asked].callees[d->graph[d->asked].n++] = kept;
}

/* Who else calls the methods on the way is worth to wait some time for, but not any: each question
 * takes milliseconds. */
static bool has_spent_enough(const struct dig *d)
{
	return d->asked >= d->trail.n && d->options.budget > 0 &&
	       d->spent_ns > d->options.budget * (d->now - d->began + CALLERS_WORTH * second);
}

static void tell_level(struct dig *d)
{
	if (!d->graph[0].n && !d->n_further)
		return;
	buf_text(&d->said, "Hooking what ");
	dig_put_name(&d->said, d->deeper);
	buf_text(&d->said,
		 d->n_further ? " calls.\n" : " calls, since samples are too few to tell.\n");
}

void dig_callees_end(struct dig *d)
{
	if (d->phase == PH_HOLDER) {
		holder_asked(d);
		if (holder_next(d).n && !is_late(d, 2 * second))
			return;
		holder_end(d);
		conclude_data(d);
		return;
	}
	if (d->asked < d->n_graph)
		d->asked++;
	if (d->deeper.n) {
		tell_level(d);
		if (!d->graph[0].n && !d->n_further && d->answer.is_measured)
			conclude(d);
		return;
	}
	if (is_late(d, 20 * second) || has_spent_enough(d))
		d->asked = d->n_graph;
	else
		find_more_graph(d);
}

static struct split *split_of(struct dig *d, struct slice name)
{
	for (unsigned i = 0; i < d->n_watched; i++)
		if (slice_eq(d->watched[i].method, name))
			return &d->watched[i].split;
	return NULL;
}

void dig_call(struct dig *d, struct slice name, double ns)
{
	d->taking = split_of(d, name);
	if (d->taking)
		split_call(d->taking, ns);
}

void dig_value(struct dig *d, unsigned number, struct slice text)
{
	if (d->taking)
		split_value(d->taking, number, text);
}

/* Does a watched method say all that it will? */
static bool has_both(struct dig *d, unsigned i, bool in_time)
{
	const struct dig_answer *a = &d->answer;
	struct split *s = &d->watched[i].split;
	struct split_answer c;

	if (s->n < (a->slow_share >= 0.8 ? WATCHED_FEW : WATCHED_LEAST))
		return false;
	if (a->slow_share >= 0.8)
		return !in_time;
	find_split(d, i, &c);
	if (c.condition.n)
		return c.slow_met >= WATCHED_SLOW;
	return !in_time && split_count(s, find_limit(d, i)) >= WATCHED_MANY;
}

bool dig_has_enough(struct dig *d, double now_ns)
{
	bool in_time = now_ns < d->watched_at + watch_time(d);

	if (now_ns - d->began + 1.5 * second > d->options.for_ns)
		return true;
	if (now_ns < d->watched_at + 2 * second)
		return false;
	for (unsigned i = 0; i < d->n_watched; i++)
		if (has_both(d, i, in_time))
			return true;
	return d->n_watched == 0;
}

void dig_waited(struct dig *d)
{
	d->phase = d->waits_for;
}

void dig_watched(struct dig *d)
{
	find_condition(d);
	finish(d);
}
