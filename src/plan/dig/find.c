/* SPDX-License-Identifier: Apache-2.0 */
/* find.c - the way down from the root: by samples and byte code, why it takes so long, and for
 * which data. */
#define _GNU_SOURCE /* memmem() */
#include "plan/dig/find.h"

enum { TELLING = 12 }; /* samples below a method that say where its time goes */

static const double slow_least = 20e6, slow_times = 10; /* ns; so many times as long as others */
static const double queued_much = 2; /* a wait is so many times as long as the task runs */

uint64_t find_below(struct dig *d)
{
	samples_release(&d->under);
	samples_init(&d->under);
	return samples_under(&d->all, d->dug, &d->under);
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
	if (d->n_graph < DIG_GRAPH && !is_in_graph(d, name) && !sample_node_is_jdk(name)) {
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

/* A method that waits for a task is not in it. */
static bool is_on_trail(const struct dig *d, struct slice name)
{
	for (unsigned i = 0; i < d->trail.n; i++)
		if (slice_eq(d->trail.steps[i].node->name, name))
			return true;
	return slice_eq(name, d->dug) || slice_eq(name, d->answer.root);
}

static bool is_made_on_trail(const struct dig *d, struct slice task)
{
	for (unsigned i = 0; i < d->trail.n; i++)
		if (stitch_is_made_by(task, d->trail.steps[i].node->name))
			return true;
	return false;
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

			if (trail_can_hook(s) && !is_on_trail(d, s->name)) {
				if (!best || s->busy > best->busy)
					best = s;
				break;
			}
		}
		for (unsigned i = 0; below.n == 1 && i < below.steps[0].n_beside; i++) {
			const struct sample_node *s = below.steps[0].beside[i];

			if (trail_can_hook(s) && !is_on_trail(d, s->name) &&
			    (!best || s->busy > best->busy))
				best = s;
		}
	}
	if (!best)
		return;
	d->answer.task = best->name;
	/* Else the samples would have been put below the trail. */
	d->answer.is_behind = stitch_names_maker(best->name) && !is_made_on_trail(d, best->name);
	d->answer.task_threads = best->threads;
}

void find_release_joints(struct dig *d)
{
	while (d->n_joints)
		samples_release(&d->joint[--d->n_joints]);
}

/* Where the time divides, it may come together again further down. */
static void follow(struct dig *d)
{
	struct trail *t = &d->trail;
	struct slice joint;

	find_release_joints(d);
	trail_follow(t, d->under.root.first ? d->under.root.first : &d->under.root);
	trail_cut(t);
	while (d->n_joints < DIG_JOINTS && (joint = trail_joint(t)).n) {
		struct samples *below = &d->joint[d->n_joints++];

		samples_init(below);
		samples_under(&d->under, joint, below);
		trail_extend(t, below->root.first);
	}
}

bool find_ends_waiting(const struct dig *d)
{
	uint64_t by[KINDS];

	if (!d->trail.n)
		return false;
	kind_divide(d->trail.steps[d->trail.n - 1].node, by);
	return kind_largest(by) == KIND_FUTURE;
}

void find_trail(struct dig *d)
{
	struct trail *t = &d->trail;
	uint64_t by[KINDS];
	enum kind kind;

	follow(d);
	if (!d->under.root.first) {
		d->answer.guilty = d->answer.path[0] = d->dug;
		d->answer.n_path = 1;
		find_ask_deeper(d);
		return;
	}
	tell_trail(d);
	kind_divide(t->steps[t->n - 1].node, by);
	kind = kind_largest(by);
	if ((kind == KIND_FUTURE || kind == KIND_QUEUE) && !d->answer.via.n)
		find_task(d);
	d->answer.guilty = t->steps[t->n - 1].node->name;
	d->answer.n_path = 0;
	for (unsigned i = 0; i < t->n && i < DIG_PATH; i++)
		d->answer.path[d->answer.n_path++] = t->steps[i].node->name;
	find_crossing(d);
	d->n_graph = d->asked = 0;
	if (find_ends_waiting(d))
		ask_graph(d, t->steps[t->n - 1].node->name); /* which tasks does it make? */
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

/* Where samples go on below the guilty method, unless hooks have seen that already. */
static void follow_samples(struct dig *d, const struct samples *below)
{
	struct measured hooked;
	struct trail t;

	d->n_further = 0;
	if (!below->root.first)
		return;
	trail_follow(&t, below->root.first);
	if (t.n > 1 && measure_method(&d->measure, t.steps[1].node->name, &hooked))
		return;
	for (unsigned i = 1; i < t.n && d->n_further < COUNT(d->further); i++)
		if (trail_can_hook(t.steps[i].node))
			d->further[d->n_further++] = dig_keep(d, t.steps[i].node->name);
}

/* Samples that mean something lead through it to others, and those have hooks. */
static bool is_passed(const struct dig *d, struct slice name)
{
	const struct trail *t = &d->trail;

	for (unsigned i = 0; i + 1 < t->n; i++)
		if (slice_eq(t->steps[i].node->name, name))
			return t->steps[i + 1].node->total >= TELLING;
	return false;
}

bool find_is_deeper(struct dig *d)
{
	const struct dig_answer *a = &d->answer;
	struct samples below;
	uint64_t n;

	if (!a->is_measured || !a->guilty.n || trail_is_sql(a->guilty) ||
	    slice_eq(a->guilty, d->deeper) || is_passed(d, a->guilty))
		return false;
	samples_init(&below);
	n = samples_under(&d->under, a->guilty, &below);
	follow_samples(d, &below);
	samples_release(&below);
	return n < TELLING || d->n_further;
}

/* A lambda that the method makes may run in another thread. */
void find_ask_deeper(struct dig *d)
{
	d->deeper = d->answer.guilty;
	d->levels++;
	d->n_graph = d->asked = 0;
	ask_graph(d, d->deeper);
}

bool find_is_lookup(struct slice name)
{
	static const char *const methods[] = { "get", "containsKey", "getIfPresent", "getOrDefault",
					       "computeIfAbsent" };
	struct slice class = sample_node_class(name), method = sample_node_method(name);

	if (!memmem(class.p, class.n, "Map", 3) && !memmem(class.p, class.n, "Cache", 5))
		return false;
	for (size_t i = 0; i < COUNT(methods); i++)
		if (slice_is(method, methods[i]))
			return true;
	return false;
}

bool find_is_sending(struct slice name)
{
	return slice_starts(name, slice_str("java.net.http.HttpClient.sendAsync("));
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

/* The future that the guilty method waits for is the answer of another process: it, or who has
 * called it, asks for that. */
static bool is_sent(const struct dig *d)
{
	const struct dig_answer *a = &d->answer;

	for (unsigned i = 0; i < d->n_graph; i++) {
		if (!d->graph[i].sends)
			continue;
		if (slice_eq(d->graph[i].method, a->guilty))
			return true;
		for (unsigned k = 0; k < a->n_path; k++)
			if (slice_eq(d->graph[i].method, a->path[k]))
				return true;
	}
	return false;
}

void find_why(struct dig *d)
{
	struct dig_answer *a = &d->answer;
	const struct sample_node *top;
	uint64_t by[KINDS], n, of_kind;
	struct samples below;
	struct trail t;

	samples_init(&below);
	samples_under(&d->under, a->guilty, &below);
	top = below.root.first ? below.root.first : &d->under.root;
	n = kind_divide(top, by);
	a->kind = kind_largest(by);
	of_kind = a->kind == KIND_CPU ? by[KIND_CPU] + by[KIND_THROWING] : by[a->kind];
	a->kind_share = n ? (double)of_kind / (double)n : 0;
	a->doing = kind_is_computing(a->kind) ? kind_doing(top) : NULL;
	top = kind_where(top, a->kind);
	if (a->kind == KIND_FUTURE && is_sent(d)) {
		a->kind = KIND_SOCKET;
		a->task.n = 0;
	}
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
	struct slice desc = sample_node_desc(name);

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

	/* Too many statements are too many for any data.  Where nothing is slow, data can only tell
	 * why calls differ much. */
	if (a->statements > 0 ||
	    (a->verdict != DIG_METHOD && (a->verdict != DIG_NOTHING || a->limit_ns <= 0)))
		return;
	d->n_watched = 0;
	add_watched(d, a->guilty);
	if (a->n_path > 2)
		add_watched(d, a->path[a->n_path - 2]);
	add_watched(d, a->root);
	add_watched(d, a->via);
}

/* The root waits for a task, and that one runs for most of the wait: then the cause is there.  If
 * tasks queue instead, the pool is. */
bool find_goes_to_task(const struct dig *d)
{
	const struct dig_answer *a = &d->answer;

	return a->task.n && !a->is_behind && !a->via.n && a->is_measured &&
	       a->task_mean.value > 0 && (a->kind == KIND_FUTURE || a->kind == KIND_QUEUE) &&
	       a->mean.value < queued_much * a->task_mean.value;
}

void find_go_to_task(struct dig *d)
{
	struct dig_answer *a = &d->answer;

	a->waiter = a->guilty;
	a->waiter_share = a->share;
	a->via = d->dug = a->task;
	a->task.n = 0;
	a->is_measured = false;
	a->n_path = a->n_contexts = a->n_alike = 0;
	a->caller.n = 0;
	a->looks_up = false;
	buf_text(&d->said, "That waits for ");
	dig_put_name(&d->said, a->via);
	buf_text(&d->said, " in another thread: digging below that one.\n");
}

/* What is slow of the root is known.  Of another method it is the same, when it is that which the
 * root waits for; else its own times tell. */
double find_limit(struct dig *d, unsigned watched)
{
	const struct dig_answer *a = &d->answer;
	struct split *s = &d->watched[watched].split;
	bool has_limit = a->slow_share < 0.8 && a->limit_ns > 0;
	size_t slow = has_limit ? split_count(s, a->limit_ns) : 0;

	if (has_limit && (slow >= 2 || slice_eq(d->watched[watched].method, a->root)))
		return a->limit_ns;
	return split_limit(s);
}

/* On a busy machine the root's limit is longer by what its calls wait for a processor on average,
 * and slow calls that had better luck stay below it: then the calls that have the time are compared
 * with the others, wherever the line between them is. */
void find_split(struct dig *d, unsigned watched, struct split_answer *out)
{
	struct split *s = &d->watched[watched].split;
	double limit = find_limit(d, watched), limits[SPLIT_LIMITS];

	*out = (struct split_answer){ .condition = { NULL, 0 } };
	if (limit > 0)
		split_find(s, limit, out);
	if (!out->condition.n && d->answer.slow_share < 0.8)
		split_find_among(s, limits, split_limits(s, limits), out);
}

/* On a busy machine calls that differ are not called slow, since that may be luck.  It is not when
 * their data tell them from the others. */
static bool is_slow_by_data(const struct dig_answer *a)
{
	const struct split_answer *c = &a->condition;

	return a->verdict == DIG_NOTHING && a->limit_ns > 0 && c->slow_ns >= slow_least &&
	       c->slow_ns >= slow_times * c->fast_ns;
}

void find_condition(struct dig *d)
{
	struct dig_answer *a = &d->answer;
	size_t calls = 0;

	for (unsigned i = 0; i < d->n_watched; i++) {
		struct split_answer c;

		calls += d->watched[i].split.n;
		find_split(d, i, &c);
		if (c.condition.n && c.score > a->condition.score + 0.02) {
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
	if (is_slow_by_data(a)) {
		a->verdict = DIG_METHOD;
		buf_text(&d->said, "  That is no matter of luck: slow.\n");
	}
}
