/* SPDX-License-Identifier: Apache-2.0 */
/* answer.c - what dig has found, in two lines, and as rules. */
#define _GNU_SOURCE /* memrchr() */
#include "plan/dig/dig.h"

#include "rule/kept.h"

/* pkg.Class.method, with the package. */
static void put_whole(struct buf *out, struct slice name)
{
	struct slice plain = sample_node_plain(name);

	for (size_t i = 0; i < plain.n; i++)
		buf_u8(out, plain.p[i] < ' ' || plain.p[i] == 127 ? '?' : plain.p[i]);
}

static void put_margin(struct buf *out, struct estimated e)
{
	if (e.margin < 0.005 * e.value || e.margin > e.value)
		return;
	buf_text(out, " +- ");
	dig_put_time(out, e.margin);
}

static void print_slow(const struct dig_answer *a, struct buf *out)
{
	buf_text(out, "Slow:  ");
	put_whole(out, a->root);
	if (a->root_mean <= 0) {
		buf_text(out, ", which does not return.\n");
		return;
	}
	buf_text(out, ", ");
	dig_put_time(out, a->root_mean);
	buf_text(out, " on average (usually ");
	dig_put_time(out, a->root_p50);
	buf_text(out, ", 99 % within ");
	dig_put_time(out, a->root_p99);
	buf_printf(out, "), %.*f calls a second", a->root_rate < 10, a->root_rate);
	if (a->limit_ns > 0 && a->slow_share > 0) {
		buf_text(out, "; ");
		dig_put_share(out, a->slow_share);
		buf_text(out, " of them take over ");
		dig_put_time(out, a->limit_ns);
	}
	if (a->root_usual > 0) {
		buf_printf(out, "; in %u earlier looks ", a->root_earlier);
		dig_put_time(out, a->root_usual);
		buf_text(out, a->breaks ? " on average" : " on average, so that is not new");
	}
	buf_text(out, ".\n");
}

/* How many callers, from the guilty method outwards, a context has in common with the guilty
 * way. */
static unsigned common(const struct dig_answer *a, const struct dig_context *c)
{
	unsigned n = 0, own = a->n_path ? a->n_path - 1 : 0; /* without the guilty one itself */

	while (n < own && n < c->n && slice_eq(a->path[own - 1 - n], c->callers[c->n - 1 - n]))
		n++;
	return n;
}

/* ", called by A (but 3 us when called by B)"; when both are called by A, what is above A makes the
 * difference: ", called by A below C (but 3 us below D)". */
static void put_contexts(const struct dig_answer *a, struct buf *out)
{
	unsigned own = a->n_path ? a->n_path - 1 : 0, told = 0;

	if (a->caller.n) {
		if (a->ways > 1)
			buf_printf(out, ", called by %u methods below ", a->ways);
		else
			buf_text(out, a->ways ? ", called below " : ", called by ");
		put_whole(out, a->caller);
	}
	for (unsigned i = 0; i < a->n_contexts; i++) {
		const struct dig_context *c = &a->contexts[i];
		unsigned same = common(a, c);

		if (c->slow || same >= c->n)
			continue;
		if (same && same < own && told != same) {
			buf_text(out, " below ");
			put_whole(out, a->path[own - 1 - same]);
			told = same;
		}
		buf_text(out, " (but ");
		dig_put_time(out, c->mean.value);
		buf_text(out, same ? " below " : " when called by ");
		put_whole(out, c->callers[c->n - 1 - same]);
		buf_text(out, ")");
	}
}

static void put_queue(const struct dig_answer *a, struct buf *out)
{
	double wait = a->mean.value, run = a->task_mean.value;

	if (!a->task.n)
		return;
	if (a->task_threads > 1)
		buf_printf(out, "; the pool's %u threads are busy in ", a->task_threads);
	else
		buf_text(out, "; the pool is busy in ");
	put_whole(out, a->task);
	if (a->task_mean.margin >= 0 && run > 0) {
		buf_text(out, " (");
		dig_put_time(out, run);
		buf_text(out, " a task)");
	}
	if (a->is_behind)
		buf_text(out, ", and tasks queue behind that");
	else if (run > 0 && wait > 1.3 * run)
		buf_printf(out, ", so tasks queue for about %.0f %% of the wait",
			   100 * (1 - run / wait));
}

static void put_holder(const struct dig_answer *a, struct buf *out)
{
	if (!a->taken_by.n)
		return;
	buf_text(out, "; ");
	put_whole(out, a->taken_by);
	buf_printf(out,
		   a->taken_surely ? ", which takes the same, %s meanwhile"
				   : ", which takes something of that kind, too, %s meanwhile",
		   kind_text(a->taken_kind));
	if (a->taken_share < 0.995)
		buf_printf(out, " (in %.0f %% of the looks)", 100 * a->taken_share);
}

static void put_why(const struct dig_answer *a, struct buf *out)
{
	bool many = a->per_root.value >= 10;

	if (many && trail_is_sql(a->guilty))
		buf_printf(out, "; %.0f statements for each call of ", a->per_root.value);
	else if (many)
		buf_printf(out, "; called %.0f times for each call of ", a->per_root.value);
	if (many)
		dig_put_name(out, a->via.n ? a->via : a->root);
	if (a->looks_up && a->per_caller.value >= 0.7 && a->per_caller.value <= 1.5)
		buf_printf(out, "; its caller looks into a cache first and misses in %.0f %%",
			   100 * (a->per_caller.value < 1 ? a->per_caller.value : 1));
	buf_printf(out, ".  It %s (%.0f %% of its time%s%s)", kind_text(a->kind),
		   100 * a->kind_share, a->doing ? ", mostly " : "",
		   a->doing ? a->doing->text : "");
	if (a->where.n) {
		buf_text(out, " in ");
		put_whole(out, a->where);
	}
	if (a->lock_class.n) {
		buf_text(out, ", a ");
		buf_put(out, a->lock_class);
		if (a->lock_holder.n) {
			buf_printf(out, " held by thread \"%.*s\" in ", SLICE_FMT(a->lock_thread));
			put_whole(out, a->lock_holder);
		}
	}
	put_queue(a, out);
	put_holder(a, out);
}

static void put_starved(const struct dig_answer *a, struct buf *out, const char *begin)
{
	buf_printf(out,
		   "%s machine is busy: threads waited for a processor %.0f %% of the time they "
		   "wanted one.\n",
		   begin, 100 * a->delay_share);
}

static const double stolen_much = 0.1;

static void print_stolen(const struct dig_answer *a, struct buf *out)
{
	if (a->stolen_share < stolen_much)
		return;
	buf_printf(
		out,
		"Note:  this is a virtual machine, and its host kept %.0f %% of the processor time "
		"that was wanted from it (steal); what computes is slower by that.\n",
		100 * a->stolen_share);
}

/* The cause is in another thread. */
static void put_via(const struct dig_answer *a, struct buf *out)
{
	struct slice task = a->via.n ? a->via : a->crossing;

	if (!task.n)
		return;
	if (!a->via.n)
		buf_text(out, ",");
	buf_text(out, slice_eq(a->guilty, task) ? " of a task" : " of the task ");
	if (!slice_eq(a->guilty, task))
		put_whole(out, task);
	buf_text(out, " that ");
	put_whole(out, a->waiter);
	if (!a->via.n) {
		buf_text(out, " waits for");
		return;
	}
	buf_printf(out, " waits for (%.0f %% of the time of ", 100 * a->waiter_share.value);
	dig_put_name(out, a->root);
	buf_text(out, ")");
}

static void print_cause(const struct dig_answer *a, struct buf *out)
{
	buf_text(out, a->verdict == DIG_NOTHING ? "Where: " : "Cause: ");
	if (a->verdict == DIG_GC) {
		buf_printf(out,
			   "garbage collection stops the program for %.0f %% of the time and has "
			   "%.0f %% of its processor time; most work meanwhile is in ",
			   100 * a->gc_share, 100 * a->gc_cpu_share);
		put_whole(out, a->guilty);
		buf_text(out, ".\n");
		return;
	}
	put_whole(out, a->guilty);
	if (a->n_alike)
		buf_printf(out, " and %u more of that name", a->n_alike);
	if (a->is_measured) {
		buf_text(out, ", ");
		dig_put_time(out, a->mean.value);
		put_margin(out, a->mean);
		buf_printf(out, " a call, %.0f %%", 100 * a->share.value);
		if (a->share.margin >= 0.005 && a->share.margin <= a->share.value)
			buf_printf(out, " +- %.0f %%", 100 * a->share.margin);
		buf_text(out, " of the time");
	}
	put_via(a, out);
	if (a->is_measured && a->share.margin > a->share.value)
		buf_text(out, " (seen too seldom to be sure; --for 2m would tell)");
	put_contexts(a, out);
	if (a->condition.condition.n) {
		buf_printf(out, ", when %.*s", SLICE_FMT(a->condition.condition));
		if (!slice_eq(a->condition_at, a->guilty)) {
			buf_text(out, " of ");
			dig_put_name(out, a->condition_at);
		}
		buf_text(out, " (");
		dig_put_time(out, a->condition.slow_ns);
		buf_text(out, " a call, else ");
		dig_put_time(out, a->condition.fast_ns);
		buf_text(out, ")");
	}
	put_why(a, out);
	if (a->delay_share > 0.4)
		put_starved(a, out, "; the");
	else
		buf_text(out, ".\n");
}

/* What else is slow, with the words that explain it. */
static void print_others(const struct dig_answer *a, struct buf *out)
{
	for (unsigned i = 0; i < a->n_others; i++) {
		buf_text(out, i ? ", " : "Also slow: ");
		put_whole(out, a->others[i]);
		buf_text(out, " (");
		dig_put_time(out, a->others_mean[i]);
		buf_text(out, " a call)");
	}
	if (a->n_others)
		buf_printf(out, "; `sonde dig TARGET METHOD` explains %s.\n",
			   a->n_others > 1 ? "each" : "it");
}

void dig_print(const struct dig *d, struct buf *out)
{
	const struct dig_answer *a = &d->answer;

	if (a->verdict == DIG_NOTHING && !a->root.n && d->options.method.n) {
		buf_printf(
			out,
			"%.*s has not returned while it was watched, so nothing is known of it.\n",
			SLICE_FMT(d->options.method));
		print_stolen(a, out);
		return;
	}
	if (a->verdict == DIG_NOTHING) {
		buf_text(out, "Nothing is slow here.\n");
		if (!a->root.n) {
			print_stolen(a, out);
			return;
		}
		buf_text(out, "Most of the time is in ");
		put_whole(out, a->root);
		buf_text(out, ": usually ");
		dig_put_time(out, a->root_p50);
		buf_text(out, ", 99 % within ");
		dig_put_time(out, a->root_p99);
		buf_printf(out, ", %.*f calls a second.\n", a->root_rate < 10, a->root_rate);
		if (a->is_measured && a->guilty.n)
			print_cause(a, out);
		else if (a->delay_share > 0.4)
			put_starved(a, out, "The");
		print_stolen(a, out);
		return;
	}
	print_slow(a, out);
	print_cause(a, out);
	print_others(a, out);
	print_stolen(a, out);
}

/* What was found, as rules; how many. */
static unsigned put_rules(const struct dig_answer *a, bool conditions, struct buf *out)
{
	buf_text(out, "hook ");
	dig_put_target(out, a->root);
	buf_text(out, " timed\n");
	if (slice_eq(a->guilty, a->root) || !a->guilty.n)
		return 1;
	buf_text(out, "hook ");
	dig_put_target(out, a->guilty);
	buf_text(out, " inside ");
	for (unsigned i = 0; i + 1 < a->n_path && i < 8; i++) {
		buf_text(out, i ? " >> " : "");
		dig_put_target(out, a->path[i]);
	}
	if (conditions && a->condition.condition.n && slice_eq(a->condition_at, a->guilty))
		buf_printf(out, " if %.*s", SLICE_FMT(a->condition.condition));
	buf_text(out, " timed\n");
	return 2;
}

/* Conditions are made of what calls were seen with, and that may be anything. */
void dig_print_rules(const struct dig *d, struct buf *out)
{
	const struct dig_answer *a = &d->answer;
	struct buf text = { 0 };
	unsigned n;

	if (a->verdict == DIG_NOTHING || !a->root.n)
		return;
	n = put_rules(a, true, &text);
	if (!text.err && !kept_is_good(buf_slice(&text), n)) {
		buf_clear(&text);
		n = put_rules(a, false, &text);
	}
	if (text.err)
		out->err = text.err;
	else if (kept_is_good(buf_slice(&text), n))
		buf_put(out, buf_slice(&text));
	buf_release(&text);
}

void dig_print_short(const struct dig *d, struct buf *out)
{
	const struct dig_answer *a = &d->answer;

	dig_put_name(out, a->root);
	if (a->verdict == DIG_GC) {
		buf_text(out, ": garbage collection");
		return;
	}
	if (a->is_measured && !slice_eq(a->guilty, a->root))
		buf_printf(out, ": %.0f %% of the time", 100 * a->share.value);
	buf_text(out, slice_eq(a->guilty, a->root) ? "" : " in ");
	if (!slice_eq(a->guilty, a->root))
		dig_put_name(out, a->guilty);
	buf_printf(out, ", which %s", kind_text(a->kind));
	if (a->condition.condition.n)
		buf_printf(out, ", when %.*s", SLICE_FMT(a->condition.condition));
}
