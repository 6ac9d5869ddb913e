/* SPDX-License-Identifier: Apache-2.0 */
/* stitch.c - finds who waits for which task, and moves the task's samples there.
 *
 * Tasks wait for tasks: those that wait for no other are moved first, so that what is moved later
 * takes along what it waited for. */
#define _GNU_SOURCE /* memrchr() */
#include "plan/dig/stitch.h"

#include "plan/dig/kind.h"

enum { TASKS = 64, WAITS = 512 };

struct task {
	struct slice name;
	uint64_t total; /* samples in it, wherever it runs */
	double waited;	/* samples that wait for it */
	bool moved;
};

struct wait {
	struct sample_node *leaf;
	int state;
	double n; /* its samples; of several tasks that the owner has made each gets its part */
	struct sample_node *owner; /* the nearest caller that has made the task */
	int task;
	int within; /* the task in which it waits, or -1 */
};

struct stitch {
	struct samples *s;
	struct task tasks[TASKS];
	int n_tasks;
	struct wait waits[WAITS];
	int n_waits;
};

/* ---- names ---------------------------------------------------------------------------------- */

static bool is_number(struct slice s)
{
	for (size_t i = 0; i < s.n; i++)
		if (s.p[i] < '0' || s.p[i] > '9')
			return false;
	return s.n > 0;
}

/* What is before the last '$', when a number is behind it; else .n is 0. */
static struct slice before_number(struct slice s)
{
	const uint8_t *at = s.n ? memrchr(s.p, '$', s.n) : NULL;
	size_t n = at ? (size_t)(at - s.p) : 0;

	if (!n || !is_number((struct slice){ at + 1, s.n - n - 1 }))
		return (struct slice){ NULL, 0 };
	return (struct slice){ s.p, n };
}

/* m of lambda$m$3, of which the rest may be a lambda in a lambda; .n 0: it is none. */
static struct slice lambda_of(struct slice method)
{
	static const char begin[] = "lambda$";
	struct slice s = before_number(method);

	if (!slice_starts(s, slice_str(begin)))
		return (struct slice){ NULL, 0 };
	return (struct slice){ s.p + sizeof(begin) - 1, s.n - (sizeof(begin) - 1) };
}

bool stitch_is_made_by(struct slice task, struct slice method)
{
	struct slice class = sample_node_class(task), by = sample_node_class(method);
	struct slice made = lambda_of(sample_node_method(task));
	struct slice name = sample_node_method(method), outer = lambda_of(name);

	if (slice_eq(task, method))
		return false;
	if (!made.n)
		return slice_eq(before_number(class), by);
	return slice_eq(class, by) && slice_eq(made, outer.n ? outer : name);
}

bool stitch_names_maker(struct slice task)
{
	return lambda_of(sample_node_method(task)).n || before_number(sample_node_class(task)).n;
}

/* ---- tasks and waits ------------------------------------------------------------------------ */

/* Nobody in its own thread has made it. */
static bool is_task(const struct sample_node *n)
{
	if (sample_node_is_jdk(n->name) || !stitch_names_maker(n->name))
		return false;
	for (const struct sample_node *up = n->parent; up->parent; up = up->parent)
		if (stitch_is_made_by(n->name, up->name) || slice_eq(up->name, n->name))
			return false;
	return true;
}

static int task_named(const struct stitch *t, struct slice name)
{
	for (int i = 0; i < t->n_tasks; i++)
		if (slice_eq(t->tasks[i].name, name))
			return i;
	return -1;
}

static void find_tasks(struct stitch *t)
{
	const struct sample_node *top = &t->s->root;

	for (const struct sample_node *n = top->first; n; n = samples_next(n, top)) {
		int i;

		if (!n->busy || !is_task(n))
			continue;
		i = task_named(t, n->name);
		if (i < 0 && t->n_tasks == TASKS)
			continue;
		i = i < 0 ? t->n_tasks++ : i;
		t->tasks[i].name = n->name;
		t->tasks[i].total += n->busy;
	}
}

static bool makes(const struct stitch *t, int task, const struct sample_node *n)
{
	return stitch_is_made_by(t->tasks[task].name, n->name);
}

/* Its nearest caller that has made tasks, and how many samples these have; NULL: none has. */
static struct sample_node *owner_of(const struct stitch *t, struct sample_node *leaf,
				    uint64_t *samples)
{
	for (struct sample_node *up = leaf; up->parent; up = up->parent) {
		*samples = 0;
		for (int i = 0; i < t->n_tasks && !sample_node_is_jdk(up->name); i++)
			*samples += makes(t, i, up) ? t->tasks[i].total : 0;
		if (*samples)
			return up;
	}
	return NULL;
}

static int task_around(const struct stitch *t, const struct sample_node *n)
{
	for (; n->parent; n = n->parent) {
		int i = task_named(t, n->name);

		if (i >= 0 && is_task(n))
			return i;
	}
	return -1;
}

static void add_waits(struct stitch *t, struct sample_node *leaf, int state)
{
	uint64_t samples;
	struct sample_node *owner = owner_of(t, leaf, &samples);
	int within = task_around(t, leaf);

	for (int i = 0; owner && i < t->n_tasks && t->n_waits < WAITS; i++) {
		double part = (double)t->tasks[i].total / (double)samples;

		if (!makes(t, i, owner) || i == within)
			continue;
		t->waits[t->n_waits++] = (struct wait){ .leaf = leaf,
							.state = state,
							.n = part * (double)leaf->self[state],
							.owner = owner,
							.task = i,
							.within = within };
		t->tasks[i].waited += part * (double)leaf->self[state];
	}
}

static void find_waits(struct stitch *t)
{
	const struct sample_node *top = &t->s->root;

	for (const struct sample_node *c = top->first; c; c = samples_next(c, top))
		for (int i = 0; i < SAMPLE_STATES; i++)
			if (c->self[i] && kind_of(c, (enum sample_state)i, top) == KIND_FUTURE)
				add_waits(t, (struct sample_node *)(uintptr_t)c, i);
}

/* ---- moving --------------------------------------------------------------------------------- */

static bool is_ready(const struct stitch *t, int task)
{
	if (t->tasks[task].moved || t->tasks[task].waited <= 0)
		return false;
	for (int i = 0; i < t->n_waits; i++)
		if (t->waits[i].within == task && !t->tasks[t->waits[i].task].moved)
			return false;
	return true;
}

static void forget(struct sample_node *top)
{
	for (const struct sample_node *c = top; c; c = samples_next(c, top)) {
		struct sample_node *n = (struct sample_node *)(uintptr_t)c;

		memset(n->self, 0, sizeof(n->self));
	}
}

static bool is_within(const struct sample_node *n, const struct sample_node *top)
{
	while (n && n != top)
		n = n->parent;
	return n != NULL;
}

/* A copy of the task below each that waits for it, with its part of the samples. */
static void copy(struct stitch *t, int task, const struct sample_node *from)
{
	const struct task *k = &t->tasks[task];
	double part = k->waited < (double)k->total ? k->waited / (double)k->total : 1;

	for (int i = 0; i < t->n_waits; i++) {
		const struct wait *w = &t->waits[i];

		if (w->task == task && !is_within(w->owner, from))
			samples_graft(t->s, w->owner, from, part * w->n / k->waited);
	}
}

static void move(struct stitch *t, int task)
{
	struct task *k = &t->tasks[task];
	struct sample_node *from[WAITS];
	const struct sample_node *top = &t->s->root;
	int n = 0;
	double left = k->waited > (double)k->total ? 1 - (double)k->total / k->waited : 0;

	for (const struct sample_node *c = top->first; c && n < WAITS; c = samples_next(c, top))
		if (slice_eq(c->name, k->name) && c->busy && is_task(c))
			from[n++] = (struct sample_node *)(uintptr_t)c;
	for (int i = 0; i < n; i++)
		copy(t, task, from[i]);
	for (int i = 0; i < n; i++)
		forget(from[i]);
	for (int i = 0; i < t->n_waits; i++)
		if (t->waits[i].task == task) {
			uint64_t *self = &t->waits[i].leaf->self[t->waits[i].state];

			double stay = (double)*self - t->waits[i].n * (1 - left);

			*self = stay > 0 ? (uint64_t)(stay + 0.5) : 0;
		}
	k->moved = true;
}

static unsigned link(const struct stitch *t, struct stitch_link links[STITCH_LINKS])
{
	unsigned n = 0;

	for (int i = 0; i < t->n_waits && n < STITCH_LINKS; i++) {
		struct stitch_link l = { t->waits[i].owner->name, t->tasks[t->waits[i].task].name };
		bool is_new = t->tasks[t->waits[i].task].moved;

		for (unsigned k = 0; k < n; k++)
			is_new &= !slice_eq(links[k].waiter, l.waiter) ||
				  !slice_eq(links[k].task, l.task);
		if (is_new)
			links[n++] = l;
	}
	return n;
}

unsigned stitch_tasks(struct samples *s, struct stitch_link links[STITCH_LINKS])
{
	struct stitch t = { .s = s };

	find_tasks(&t);
	find_waits(&t);
	for (int round = 0; round < t.n_tasks && !s->err; round++)
		for (int i = 0; i < t.n_tasks; i++)
			if (is_ready(&t, i))
				move(&t, i);
	samples_seal(s);
	return link(&t, links);
}
