/* SPDX-License-Identifier: Apache-2.0 */
/* find.c - the way down from the root: by samples, by byte code, by hooks. */
#define _GNU_SOURCE /* memmem() */
#include "plan/find.h"

#include <math.h>

uint64_t find_below(struct dig *d)
{
	samples_release(&d->under);
	samples_init(&d->under);
	return samples_under(&d->all, d->answer.root, &d->under);
}

/* ---- the trail and the graph of calls ------------------------------------------------------ */

static bool is_in_graph(const struct dig *d, struct slice name)
{
	for (unsigned i = 0; i < d->n_graph; i++)
		if (slice_eq(d->graph[i].method, name))
			return true;
	return false;
}

static void ask_graph(struct dig *d, struct slice name)
{
	if (d->n_graph < DIG_GRAPH && !is_in_graph(d, name) && !sample_is_jdk(name)) {
		memset(&d->graph[d->n_graph], 0, sizeof(d->graph[0]));
		d->graph[d->n_graph++].method = name;
	}
}

static void tell_trail(struct dig *d)
{
	const struct trail *t = &d->trail;

	buf_printf(&d->said, "%llu samples below it; most of them are in ",
		   (unsigned long long)d->under.root.total);
	for (unsigned i = t->n > 5 ? t->n - 5 : 0; i < t->n; i++) {
		if (i && i + 5 == t->n)
			buf_text(&d->said, "... > ");
		dig_put_name(&d->said, t->steps[i].node->name);
		buf_printf(&d->said, " (%.0f %%)%s",
			   100 * (double)t->steps[i].node->total /
				   (double)(d->under.root.total ? d->under.root.total : 1),
			   i + 1 < t->n ? " > " : "");
	}
	buf_text(&d->said, ".\n");
}

/* What the threads of a pool are busy with, while the root waits for a task of theirs. */
static void find_task(struct dig *d)
{
	const struct sample_node *best = NULL;

	for (const struct sample_node *n = d->all.root.first; n;
	     n = samples_next(n, &d->all.root)) {
		struct trail below;

		if (!slice_starts(n->name,
				  slice_str("java.util.concurrent.ThreadPoolExecutor.runWorker")) &&
		    !slice_starts(n->name,
				  slice_str("java.util.concurrent.ForkJoinPool.runWorker")))
			continue;
		trail_follow(&below, n);
		for (unsigned i = 0; i < below.n; i++) {
			const struct sample_node *s = below.steps[i].node;

			if (trail_can_hook(s) && !slice_eq(s->name, d->answer.root)) {
				if (!best || s->busy > best->busy)
					best = s;
				break;
			}
		}
		for (unsigned i = 0; below.n == 1 && i < below.steps[0].n_beside; i++) {
			const struct sample_node *s = below.steps[0].beside[i];

			if (trail_can_hook(s) && !slice_eq(s->name, d->answer.root) &&
			    (!best || s->busy > best->busy))
				best = s;
		}
	}
	if (!best)
		return;
	d->answer.task = best->name;
	d->answer.task_threads = best->threads;
}

void find_trail(struct dig *d)
{
	struct trail *t = &d->trail;
	uint64_t by[KINDS];
	enum kind kind;

	trail_follow(t, d->under.root.first ? d->under.root.first : &d->under.root);
	if (!d->under.root.first)
		return;
	tell_trail(d);
	kind_divide(t->steps[t->n - 1].node, by);
	kind = kind_largest(by);
	if (kind == KIND_FUTURE || kind == KIND_QUEUE)
		find_task(d);
	d->answer.guilty = t->steps[t->n - 1].node->name;
	for (unsigned i = 0; i < t->n && i < DIG_PATH; i++)
		d->answer.path[d->answer.n_path++] = t->steps[i].node->name;
	d->n_graph = d->asked = 0;
	if (t->n == 1)
		return;
	/* Its caller first, then from the root on: who else calls it? */
	ask_graph(d, t->steps[t->n - 2].node->name);
	for (unsigned i = 0; i + 1 < t->n; i++)
		ask_graph(d, t->steps[i].node->name);
}

void find_more_graph(struct dig *d)
{
	unsigned at = d->asked - 1;

	for (unsigned k = 0; k < d->graph[at].n; k++)
		if (!slice_eq(d->graph[at].callees[k], d->answer.guilty))
			ask_graph(d, d->graph[at].callees[k]);
}

bool find_is_lookup(struct slice name)
{
	static const char *const methods[] = { "get", "containsKey", "getIfPresent", "getOrDefault",
					       "computeIfAbsent" };
	struct slice class = sample_class(name), method = sample_method(name);

	if (!memmem(class.p, class.n, "Map", 3) && !memmem(class.p, class.n, "Cache", 5))
		return false;
	for (size_t i = 0; i < COUNT(methods); i++)
		if (slice_is(method, methods[i]))
			return true;
	return false;
}

/* ---- what hooks have measured --------------------------------------------------------------- */

static struct measured *root_measured(struct dig *d)
{
	for (struct measured *n = d->measure.root.first; n; n = n->next)
		if (slice_eq(n->name, d->answer.root))
			return n;
	return NULL;
}

static struct measured *largest_child(const struct dig *d, const struct measured *n)
{
	struct measured *best = NULL;

	for (struct measured *c = n->first; c; c = c->next)
		if (!best || measure_ns(&d->measure, c) > measure_ns(&d->measure, best))
			best = c;
	return best;
}

bool find_returns(struct dig *d)
{
	const struct measured *root = root_measured(d);

	return root && measure_ns(&d->measure, root) > 0 && measure_calls(&d->measure, root) >= 3;
}

/* A thread that waits to enter a synchronized method is in its frame already, but its hook has not
 * begun: what hooks see in the caller alone is the callee's. */
static void blame_entry(struct dig *d, const struct measured *at, const struct measured *root)
{
	struct dig_answer *a = &d->answer;
	const struct trail *t = &d->trail;
	const struct sample_node *next = NULL;
	struct measured *callee = NULL;
	double share, wait;

	for (unsigned i = 0; i + 1 < t->n; i++)
		if (slice_eq(t->steps[i].node->name, at->name))
			next = t->steps[i + 1].node;
	if (!next || a->n_path == DIG_PATH || next->self[SAMPLE_BLOCKED] * 10 < next->total * 4)
		return;
	for (struct measured *c = at->first; c; c = c->next)
		if (slice_eq(c->name, next->name))
			callee = c;
	share = (double)next->total / (double)t->steps[0].node->total;
	wait = measure_ns(&d->measure, root) * share;
	a->caller = a->guilty;
	a->guilty = a->path[a->n_path++] = dig_keep(d, next->name);
	a->share = (struct estimated){ share, 2 * sqrt(share * (1 - share) /
						       (double)t->steps[0].node->total) };
	if (!callee || measure_calls(&d->measure, callee) < 1)
		return;
	a->mean.value = wait / measure_calls(&d->measure, callee);
	a->per_root = measure_calls_per(&d->measure, callee, root);
	a->per_caller = measure_calls_per(&d->measure, callee, at);
}

bool find_branch(struct dig *d)
{
	struct dig_answer *a = &d->answer;
	struct measured *root = root_measured(d), *at = root, *next, *parent = NULL;
	const struct measure *m = &d->measure;
	bool clear;

	if (!root || measure_ns(m, root) <= 0)
		return false;
	a->n_path = 0;
	a->path[a->n_path++] = root->name;
	while (!trail_is_sql(at->name) && (next = largest_child(d, at)) && a->n_path < DIG_PATH &&
	       measure_ns(m, next) >= 0.5 * measure_ns(m, at)) {
		parent = at;
		at = next;
		a->path[a->n_path++] = at->name;
	}
	for (unsigned i = 0; i < a->n_path; i++) /* the measure's memory goes before ours */
		a->path[i] = dig_keep(d, a->path[i]);
	a->guilty = a->path[a->n_path - 1];
	a->is_measured = true;
	a->share = measure_share(m, at, root);
	a->mean = measure_mean(m, at);
	a->per_root = measure_calls_per(m, at, root);
	a->caller = parent ? a->path[a->n_path - 2] : (struct slice){ NULL, 0 };
	a->per_caller = parent ? measure_calls_per(m, at, parent) : (struct estimated){ 0, -1 };
	blame_entry(d, at, root);
	if (a->task.n) {
		struct measured task;

		if (measure_method(m, a->task, &task))
			a->task_mean = measure_mean(m, &task);
	}
	/* Calls that have not ended are in the time of their callees, but not yet in their own. */
	clear = measure_calls(m, at) >= 5 && a->mean.margin >= 0 &&
		a->mean.margin < 0.3 * a->mean.value && a->share.margin >= 0 &&
		a->share.margin < 0.15 && a->share.value < 1.1 && find_returns(d);
	if (a->share.value > 1)
		a->share.value = 1;
	return clear;
}

void find_tell_branch(struct dig *d)
{
	struct dig_answer *a = &d->answer;
	struct measured *root = root_measured(d);

	buf_printf(&d->said, "Measured %zu s: ", measure_windows(&d->measure));
	if (!a->is_measured || !root) {
		buf_text(&d->said, "the root has not returned.\n");
		return;
	}
	dig_put_name(&d->said, a->guilty);
	buf_printf(&d->said, " has %.0f %% (+-%.0f) of the time of the root, ",
		   100 * a->share.value, 100 * (a->share.margin > 0 ? a->share.margin : 0));
	dig_put_time(&d->said, a->mean.value);
	buf_printf(&d->said, " a call, %.3g calls for each.\n", a->per_root.value);
	for (struct measured *n = root; n; n = measure_next(n, root)) {
		double part = measure_ns(&d->measure, n) / measure_ns(&d->measure, root);

		if (n == root || part >= 0.5 || slice_eq(n->name, a->guilty) ||
		    measure_calls(&d->measure, n) < 1 || n->depth > root->depth + 2)
			continue;
		buf_text(&d->said, "  innocent: ");
		dig_put_name(&d->said, n->name);
		buf_printf(&d->said, ", %.1f %%\n", 100 * part);
	}
}

static void add_context(struct dig *d, const struct measured *n)
{
	struct dig_answer *a = &d->answer;
	struct dig_context *c;
	const struct measured *up;

	if (a->n_contexts == DIG_CONTEXTS)
		return;
	c = &a->contexts[a->n_contexts];
	*c = (struct dig_context){ .mean = measure_mean(&d->measure, n),
				   .calls = measure_calls(&d->measure, n) };
	if (c->calls < 3)
		return;
	for (up = n->parent; up && up->parent && c->n < DIG_PATH; up = up->parent)
		c->n++;
	up = n->parent;
	for (unsigned i = c->n; i-- > 0; up = up->parent)
		c->callers[i] = dig_keep(d, up->name);
	a->n_contexts++;
}

void find_contexts(struct dig *d)
{
	struct dig_answer *a = &d->answer;
	struct measured *top = &d->measure.root;
	double most = 0;

	a->n_contexts = 0;
	for (struct measured *n = top; n; n = measure_next(n, top))
		if (slice_eq(n->name, a->guilty) && n->parent && n->parent->parent)
			add_context(d, n);
	for (unsigned i = 0; i < a->n_contexts; i++)
		if (a->contexts[i].mean.value > most)
			most = a->contexts[i].mean.value;
	for (unsigned i = 0; i < a->n_contexts; i++)
		a->contexts[i].slow = a->contexts[i].mean.value > most / 4;
	for (unsigned i = 0; i < a->n_contexts && a->n_contexts > 1; i++) {
		const struct dig_context *c = &a->contexts[i];

		buf_printf(&d->said, "  %s under ", c->slow ? "slow" : "fast");
		for (unsigned k = 0; k < c->n; k++) {
			buf_text(&d->said, k ? " > " : "");
			dig_put_name(&d->said, c->callers[k]);
		}
		buf_text(&d->said, ": ");
		dig_put_time(&d->said, c->mean.value);
		buf_printf(&d->said, " a call, %.0f calls\n", c->calls);
	}
}

/* ---- why it takes so long ------------------------------------------------------------------- */

static void find_lock(struct dig *d)
{
	const struct sample_lock *best = NULL;
	bool parked = d->answer.kind != KIND_MONITOR;

	for (const struct sample_lock *l = d->all.locks; l; l = l->next)
		if (l->parked == parked && l->holder.n && (!best || l->samples > best->samples))
			best = l;
	for (const struct sample_lock *l = d->all.locks; l && !best; l = l->next)
		if (l->parked == parked)
			best = l;
	if (!best)
		return;
	d->answer.lock_class = best->class;
	d->answer.lock_holder = best->holder;
	d->answer.lock_thread = best->thread;
}

void find_why(struct dig *d)
{
	struct dig_answer *a = &d->answer;
	const struct sample_node *top;
	uint64_t by[KINDS], n;
	struct samples below;
	struct trail t;

	samples_init(&below);
	samples_under(&d->under, a->guilty, &below);
	top = below.root.first ? below.root.first : &d->under.root;
	n = kind_divide(top, by);
	a->kind = kind_largest(by);
	a->kind_share = n ? (double)by[a->kind] / (double)n : 0;
	top = kind_where(top, a->kind);
	a->where = top ? dig_keep(d, top->name) : (struct slice){ NULL, 0 };
	a->n_spread = 0;
	if (below.root.first) {
		trail_follow(&t, below.root.first);
		for (unsigned i = 0; t.n == 1 && i < t.steps[0].n_beside; i++)
			if (t.steps[0].beside[i]->total * 10 > below.root.total)
				a->spread[a->n_spread++] = dig_keep(d, t.steps[0].beside[i]->name);
	}
	samples_release(&below);
	if (a->kind == KIND_MONITOR || a->kind == KIND_LOCK)
		find_lock(d);
	for (unsigned i = 0; i < d->n_graph; i++)
		if (a->caller.n && slice_eq(d->graph[i].method, a->caller))
			a->looks_up = d->graph[i].looks_up;
	buf_text(&d->said, "  ");
	dig_put_name(&d->said, a->guilty);
	buf_printf(&d->said, " %s in %.0f %% of %llu samples", kind_text(a->kind),
		   100 * a->kind_share, (unsigned long long)n);
	if (a->where.n) {
		buf_text(&d->said, ", in ");
		dig_put_name(&d->said, a->where);
	}
	buf_text(&d->said, ".\n");
}

/* ---- data ------------------------------------------------------------------------------------ */

static void add_watched(struct dig *d, struct slice name)
{
	struct slice desc = sample_desc(name);

	if (!name.n || (desc.n > 1 && desc.p[1] == ')') || d->n_watched == COUNT(d->watched))
		return;
	for (unsigned i = 0; i < d->n_watched; i++)
		if (slice_eq(d->watched[i].method, name))
			return;
	d->watched[d->n_watched++].method = name;
}

void find_watched(struct dig *d)
{
	const struct dig_answer *a = &d->answer;

	if (a->verdict != DIG_METHOD)
		return;
	add_watched(d, a->guilty);
	if (a->n_path > 2)
		add_watched(d, a->path[a->n_path - 2]);
	add_watched(d, a->root);
}

void find_condition(struct dig *d)
{
	struct dig_answer *a = &d->answer;
	double best = 0;
	size_t calls = 0;

	for (unsigned i = 0; i < d->n_watched; i++) {
		struct split *s = &d->watched[i].split;
		double limit = split_limit(s), score;
		struct split_answer c;

		calls += s->n;
		if (slice_eq(d->watched[i].method, a->root) && a->slow_share < 0.8 &&
		    a->limit_ns > 0)
			limit = a->limit_ns;
		if (limit <= 0)
			continue;
		split_find(s, limit, &c);
		score = c.slow && c.fast ? (double)c.slow_met / (double)c.slow -
						   (double)c.fast_met / (double)c.fast
					 : 0;
		if (c.condition.n && score > best + 0.02) {
			best = score;
			a->condition = c;
			a->condition_at = d->watched[i].method;
		}
	}
	buf_printf(&d->said, "Watched %zu calls: ", calls);
	if (!a->condition.condition.n) {
		buf_text(&d->said, "no argument tells slow calls from others.\n");
		return;
	}
	dig_put_name(&d->said, a->condition_at);
	buf_printf(&d->said,
		   " is slow when %.*s: so in %zu of %zu slow calls, and in %zu of %zu others.\n",
		   SLICE_FMT(a->condition.condition), a->condition.slow_met, a->condition.slow,
		   a->condition.fast_met, a->condition.fast);
}
