/* SPDX-License-Identifier: Apache-2.0 */
/* find_branch.c - which branch below the root has the time, as hooks have measured it.
 *
 * From the root downwards: as long as what one method calls has half of its time, that is where it
 * goes on.  The same method under its other callers tells in which contexts it is slow. */
#include "plan/dig/find.h"

#include <math.h>

enum {
	FAMILY = 16,
	/* Of the caller; the shares that a few slow ones among them have are luck. */
	FEW_CALLS = 40,
};

/* Of the time of who waits for it: a task has to wait for its thread, too.  Where threads mostly
 * wait for processors, the same goes for what samples say. */
static const double task_enough = 0.35;

static struct measured *root_measured(struct dig *d)
{
	for (struct measured *n = d->measure.root.first; n; n = n->next)
		if (slice_eq(n->name, d->dug))
			return n;
	return NULL;
}

bool find_returns(struct dig *d)
{
	const struct measured *root = root_measured(d);

	return root && measure_ns(&d->measure, root) > 0 && measure_calls(&d->measure, root) >= 3;
}

/* ---- families ------------------------------------------------------------------------------- */

/* Nodes that are judged as one: a method wherever the nodes above have called it; and where none
 * has most of the time by itself, its overloads, or the same method of several classes.  Else time
 * that is divided among them would make each of them innocent. */
struct family {
	struct measured sum; /* its name is that of the largest; without links */
	struct measured *members[FAMILY];
	unsigned n, names;
};

static bool is_same(struct slice a, struct slice b)
{
	return slice_eq(a, b);
}

static bool is_alike(struct slice a, struct slice b)
{
	return slice_eq(sample_node_method(a), sample_node_method(b)) &&
	       (slice_eq(sample_node_class(a), sample_node_class(b)) ||
		slice_eq(sample_node_desc(a), sample_node_desc(b)));
}

static void join(const struct measure *m, struct family *f, struct measured *n)
{
	bool is_new = true;

	if (f->n == FAMILY)
		return;
	for (unsigned i = 0; i < f->n; i++)
		is_new &= !slice_eq(f->members[i]->name, n->name);
	f->names += is_new && measure_calls(m, n) > 0;
	f->members[f->n++] = n;
	for (size_t i = 0; i < WINDOWS_MAX; i++)
		f->sum.calls[i] += n->calls[i], f->sum.ns[i] += n->ns[i];
}

/* The callees of a family that are like one of them. */
static void family_of(const struct measure *m, const struct family *above, struct slice name,
		      bool (*like)(struct slice, struct slice), struct family *out)
{
	*out = (struct family){ .sum = { .name = name } };
	for (unsigned i = 0; i < above->n; i++)
		for (struct measured *c = above->members[i]->first; c; c = c->next)
			if (like(c->name, name))
				join(m, out, c);
}

static void largest_below(const struct measure *m, const struct family *above,
			  bool (*like)(struct slice, struct slice), struct family *out)
{
	double most = 0, own = 0;
	struct family f;

	*out = (struct family){ 0 };
	for (unsigned i = 0; i < above->n; i++)
		for (struct measured *c = above->members[i]->first; c; c = c->next) {
			family_of(m, above, c->name, like, &f);
			if (measure_ns(m, &f.sum) < most ||
			    (measure_ns(m, &f.sum) <= most && measure_ns(m, c) <= own))
				continue;
			most = measure_ns(m, &f.sum);
			own = measure_ns(m, c);
			*out = f;
		}
}

static bool is_below_its_like(const struct measured *n, const struct measured *top)
{
	for (const struct measured *up = n->parent; up && up != top; up = up->parent)
		if (slice_eq(up->name, n->name))
			return true;
	return false;
}

/* A method wherever it was called below those above, however far down. */
static void family_below(const struct measure *m, const struct family *above, struct slice name,
			 struct family *out)
{
	*out = (struct family){ .sum = { .name = name } };
	for (unsigned i = 0; i < above->n; i++)
		for (struct measured *n = above->members[i]->first; n;
		     n = measure_next(n, above->members[i]))
			if (slice_eq(n->name, name) && !is_below_its_like(n, above->members[i]))
				join(m, out, n);
}

/* Where the time divides among callees, which all lead to one method that has it: that one. */
static bool meet_below(const struct measure *m, const struct family *above, struct family *out)
{
	struct family f;
	double most = 0;

	*out = (struct family){ 0 };
	for (unsigned i = 0; i < above->n; i++)
		for (struct measured *n = above->members[i]->first; n;
		     n = measure_next(n, above->members[i])) {
			if (measure_ns(m, n) * FAMILY < measure_ns(m, &above->sum))
				continue;
			family_below(m, above, n->name, &f);
			if (measure_ns(m, &f.sum) > most) {
				most = measure_ns(m, &f.sum);
				*out = f;
			}
		}
	return out->n && most >= 0.5 * measure_ns(m, &above->sum);
}

static double nearly_all_of(const struct measure *m, const struct family *above)
{
	return 0.75 * measure_ns(m, &above->sum);
}

/* One callee of it has. */
static bool has_nearly_all(const struct measure *m, const struct family *above)
{
	struct family f;

	largest_below(m, above, is_same, &f);
	return f.n && measure_ns(m, &f.sum) >= nearly_all_of(m, above);
}

/* Where the samples go on below a method; NULL: they end there. */
static const struct sample_node *sampled_below(const struct dig *d, struct slice name)
{
	const struct trail *t = &d->trail;

	for (unsigned i = 0; i + 1 < t->n; i++)
		if (slice_eq(t->steps[i].node->name, name))
			return t->steps[i + 1].node;
	return NULL;
}

/* Who waits for a task waits in some callee, too, but the task has the time. */
static bool largest_task(const struct dig *d, const struct family *above, struct family *out)
{
	const struct measure *m = &d->measure;
	double most = task_enough * measure_ns(m, &above->sum);

	*out = (struct family){ 0 };
	for (unsigned i = 0; i < above->n; i++)
		for (struct measured *c = above->members[i]->first; c; c = c->next) {
			struct family f;

			if (!dig_waiter_of(d, c->name).n)
				continue;
			family_of(m, above, c->name, is_same, &f);
			if (measure_ns(m, &f.sum) < most)
				continue;
			most = measure_ns(m, &f.sum);
			*out = f;
		}
	return out->n > 0;
}

/* The callees that have most of the time of those above.  Where hooks have seen so few calls that
 * they cannot say, the samples do. */
static bool go_down(const struct dig *d, const struct family *above, struct family *out)
{
	const struct measure *m = &d->measure;
	double enough = 0.5 * measure_ns(m, &above->sum);
	double luck = d->starved > 0.5 ? task_enough * measure_ns(m, &above->sum) : enough;
	const struct sample_node *next = sampled_below(d, above->sum.name);
	struct estimated share;

	if (largest_task(d, above, out))
		return true;
	if (meet_below(m, above, out) && measure_ns(m, &out->sum) >= nearly_all_of(m, above) &&
	    !has_nearly_all(m, above))
		return true;
	largest_below(m, above, is_same, out);
	if (out->n && measure_ns(m, &out->sum) >= enough)
		return true;
	largest_below(m, above, is_alike, out);
	if (out->n && measure_ns(m, &out->sum) >= enough)
		return true;
	if (meet_below(m, above, out))
		return true;
	if (!next)
		return false;
	family_of(m, above, next->name, is_same, out);
	if (out->n && measure_ns(m, &out->sum) >= luck)
		return true;
	share = measure_share(m, &out->sum, &above->sum);
	return out->n && measure_ns(m, &out->sum) > 0 && share.margin >= 0 &&
	       share.value + share.margin >= 0.5 && measure_calls(m, &above->sum) < FEW_CALLS;
}

/* ---- the guilty branch ---------------------------------------------------------------------- */

/* A thread that waits to enter a synchronized method is in its frame already, but its hook has not
 * begun: what hooks see in the caller alone is the callee's. */
static void blame_entry(struct dig *d, const struct family *at, const struct measured *root)
{
	struct dig_answer *a = &d->answer;
	const struct trail *t = &d->trail;
	const struct sample_node *next = sampled_below(d, at->sum.name);
	struct family callee;
	double share, wait;

	if (!next || a->n_path == DIG_PATH || next->self[SAMPLE_BLOCKED] * 10 < next->total * 4)
		return;
	family_of(&d->measure, at, next->name, is_same, &callee);
	share = (double)next->total / (double)t->steps[0].node->total;
	wait = measure_ns(&d->measure, root) * share;
	a->caller = a->guilty;
	a->guilty = a->path[a->n_path++] = dig_keep(d, next->name);
	a->share = (struct estimated){ share, 2 * sqrt(share * (1 - share) /
						       (double)t->steps[0].node->total) };
	if (measure_calls(&d->measure, &callee.sum) < 1)
		return;
	a->mean.value = wait / measure_calls(&d->measure, &callee.sum);
	a->per_root = measure_calls_per(&d->measure, &callee.sum, root);
	a->per_caller = measure_calls_per(&d->measure, &callee.sum, &at->sum);
}

/* By how many methods it is called, if not by those above it; 0: by these. */
static unsigned ways_to(const struct family *f, const struct family *above)
{
	struct slice callers[FAMILY];
	unsigned n = 0;

	for (unsigned i = 0; i < f->n; i++) {
		struct slice caller = f->members[i]->parent->name;
		bool is_new = !slice_eq(caller, above->sum.name);

		for (unsigned k = 0; k < n; k++)
			is_new &= !slice_eq(callers[k], caller);
		if (is_new)
			callers[n++] = caller;
	}
	for (unsigned i = 0; i < above->n; i++)
		for (unsigned k = 0; k < f->n; k++)
			if (f->members[k]->parent == above->members[i])
				return 0;
	return n;
}

void find_crossing(struct dig *d)
{
	struct dig_answer *a = &d->answer;

	a->crossing.n = 0;
	for (unsigned i = 1; i < a->n_path && !a->via.n; i++)
		if (dig_waiter_of(d, a->path[i]).n) {
			a->crossing = a->path[i];
			a->waiter = dig_waiter_of(d, a->path[i]);
		}
}

bool find_branch(struct dig *d)
{
	struct dig_answer *a = &d->answer;
	struct measured *root = root_measured(d);
	struct family at = { 0 }, next, parent = { 0 };
	const struct measure *m = &d->measure;
	bool clear;

	if (!root || measure_ns(m, root) <= 0)
		return false;
	join(m, &at, root);
	at.sum.name = root->name;
	a->n_path = 0;
	a->path[a->n_path++] = root->name;
	while (!trail_is_sql(at.sum.name) && a->n_path < DIG_PATH && go_down(d, &at, &next)) {
		parent = at;
		at = next;
		a->path[a->n_path++] = at.sum.name;
	}
	for (unsigned i = 0; i < a->n_path; i++) /* the measure's memory goes before ours */
		a->path[i] = dig_keep(d, a->path[i]);
	a->guilty = a->path[a->n_path - 1];
	a->n_alike = at.names ? at.names - 1 : 0;
	a->is_measured = true;
	a->share = measure_share(m, &at.sum, root);
	a->mean = measure_mean(m, &at.sum);
	a->calls = measure_calls(m, &at.sum);
	a->per_root = measure_calls_per(m, &at.sum, root);
	a->caller = parent.n ? a->path[a->n_path - 2] : (struct slice){ NULL, 0 };
	a->ways = parent.n ? ways_to(&at, &parent) : 0;
	a->per_caller = parent.n ? measure_calls_per(m, &at.sum, &parent.sum)
				 : (struct estimated){ 0, -1 };
	blame_entry(d, &at, root);
	find_crossing(d);
	if (a->task.n) {
		struct measured task;

		if (measure_method(m, a->task, &task))
			a->task_mean = measure_mean(m, &task);
	}
	/* Calls that have not ended are in the time of their callees, but not yet in their own. */
	clear = a->calls >= 5 && a->mean.margin >= 0 && a->mean.margin < 0.3 * a->mean.value &&
		a->share.margin >= 0 && a->share.margin < 0.15 && a->share.value < 1.1 &&
		find_returns(d);
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
		    (a->n_alike && is_alike(n->name, a->guilty)) ||
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
