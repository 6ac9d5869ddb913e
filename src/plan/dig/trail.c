/* SPDX-License-Identifier: Apache-2.0 */
/* trail.c - follows the time down. */
#define _GNU_SOURCE /* memmem() */
#include "plan/dig/trail.h"

static const double most = 0.55; /* of its caller's samples: the way goes on */
static const double nearly_all = 0.75;
enum {
	JOINT_WAYS = 16, /* a way to a joint has one sample in so many */
	JOINTS = 200,	 /* methods that are tried */
};

bool trail_is_sql(struct slice name)
{
	struct slice class = sample_node_class(name), method = sample_node_method(name);

	return !sample_node_is_jdk(name) && slice_starts(method, slice_str("execute")) &&
	       memmem(class.p, class.n, "Statement", 9) != NULL;
}

bool trail_can_hook(const struct sample_node *n)
{
	return !(n->flags & (SAMPLE_IS_NATIVE | SAMPLE_IS_FIXED)) && !sample_node_is_jdk(n->name);
}

/* Keeps the list in order, with the largest first. */
static void keep(struct trail_step *step, const struct sample_node *n)
{
	unsigned at = step->n_beside;

	if (at < TRAIL_BESIDE)
		step->n_beside++;
	else if (step->beside[--at]->total >= n->total)
		return;
	for (; at > 0 && step->beside[at - 1]->total < n->total; at--)
		step->beside[at] = step->beside[at - 1];
	step->beside[at] = n;
}

/* The nearest methods below n that are the program's; the largest is the first. */
static void look_below(const struct sample_node *n, struct trail_step *step)
{
	const struct sample_node *at = n->first;

	while (at) {
		const struct sample_node *next;

		if (sample_node_is_jdk(at->name) || at->flags & SAMPLE_IS_FIXED) {
			next = samples_next(at, n);
		} else {
			keep(step, at);
			while (at != n && !at->next)
				at = at->parent;
			next = at == n ? NULL : at->next;
		}
		at = next;
	}
}

static bool is_in(const struct trail *t, struct slice name)
{
	for (unsigned i = 0; i < t->n; i++)
		if (slice_eq(t->steps[i].node->name, name))
			return true;
	return false;
}

/* Samples of the largest callee, with those of its overloads and of the same method of other
 * classes. */
static uint64_t together(const struct trail_step *step)
{
	struct slice name = step->beside[0]->name;
	uint64_t sum = 0;

	for (unsigned i = 0; i < step->n_beside; i++) {
		struct slice other = step->beside[i]->name;

		if (slice_eq(sample_node_method(name), sample_node_method(other)) &&
		    (slice_eq(sample_node_class(name), sample_node_class(other)) ||
		     slice_eq(sample_node_desc(name), sample_node_desc(other))))
			sum += step->beside[i]->total;
	}
	return sum;
}

void trail_follow(struct trail *t, const struct sample_node *top)
{
	t->n = 0;
	trail_extend(t, top);
}

void trail_extend(struct trail *t, const struct sample_node *top)
{
	while (top && t->n < TRAIL_MAX) {
		struct trail_step step = { .node = top };
		const struct sample_node *best;

		if (!trail_is_sql(top->name))
			look_below(top, &step);
		best = step.n_beside ? step.beside[0] : NULL;
		if (!best || (double)together(&step) < most * (double)top->total) {
			best = NULL;
		} else {
			memmove(step.beside, step.beside + 1,
				(TRAIL_BESIDE - 1) * sizeof(step.beside[0]));
			step.n_beside--;
		}
		if (!is_in(t, top->name)) /* else it is called by what it calls */
			t->steps[t->n++] = step;
		top = best;
	}
}

/* All samples in and below n whose name this is, those inside of each other once. */
static uint64_t total_of(const struct sample_node *top, struct slice name)
{
	const struct sample_node *n = top->first;
	uint64_t sum = 0;

	while (n) {
		const struct sample_node *next = samples_next(n, top);

		if (slice_eq(n->name, name)) {
			sum += n->total;
			while (n != top && !n->next)
				n = n->parent;
			next = n == top ? NULL : n->next;
		}
		n = next;
	}
	return sum;
}

struct slice trail_joint(const struct trail *t)
{
	const struct sample_node *top = t->n ? t->steps[t->n - 1].node : NULL;
	const struct sample_node *best = NULL;
	uint64_t most_samples = 0;
	unsigned tried = 0;

	if (!top || trail_is_sql(top->name))
		return (struct slice){ NULL, 0 };
	for (const struct sample_node *n = top->first; n && tried < JOINTS;
	     n = samples_next(n, top)) {
		uint64_t sum;

		if (!trail_can_hook(n) || n->total * JOINT_WAYS < top->total || is_in(t, n->name))
			continue;
		tried++;
		sum = total_of(top, n->name);
		if (sum > most_samples)
			best = n, most_samples = sum;
	}
	if (!best || (double)most_samples < most * (double)top->total)
		return (struct slice){ NULL, 0 };
	return best->name;
}

void trail_cut(struct trail *t)
{
	for (unsigned i = 0; i + 1 < t->n; i++) {
		double all = (double)t->steps[i].node->total;
		struct trail above = { .n = i + 1 };
		struct slice joint;

		if ((double)t->steps[i + 1].node->total >= nearly_all * all)
			continue;
		memcpy(above.steps, t->steps, (i + 1) * sizeof(t->steps[0]));
		joint = trail_joint(&above);
		if (joint.n && (double)total_of(t->steps[i].node, joint) >= nearly_all * all) {
			t->n = i + 1;
			return;
		}
	}
}

unsigned trail_depth(const struct sample_node *n)
{
	unsigned depth = 0;

	for (; n->parent; n = n->parent)
		depth += !sample_node_is_jdk(n->name);
	return depth;
}

static bool add_root(const struct sample_node **out, unsigned *n, const struct sample_node *node)
{
	for (unsigned i = 0; i < *n; i++)
		if (slice_eq(out[i]->name, node->name))
			return true;
	if (*n == TRAIL_ROOTS)
		return false;
	out[(*n)++] = node;
	return true;
}

unsigned trail_roots(const struct samples *s, unsigned depth, uint64_t least,
		     const struct sample_node *out[TRAIL_ROOTS])
{
	unsigned n = 0;

	/* Outermost first, so that a long way down one thread does not use up the room. */
	for (unsigned d = 1; d <= depth; d++)
		for (const struct sample_node *at = s->root.first; at;
		     at = samples_next(at, &s->root))
			if (at->busy + at->queued > least && trail_can_hook(at) &&
			    trail_depth(at) == d && !add_root(out, &n, at))
				return n;
	for (const struct sample_node *at = s->root.first; at; at = samples_next(at, &s->root))
		if (at->busy > 5 * least && trail_can_hook(at) && trail_is_sql(at->name) &&
		    !(at->parent && trail_is_sql(at->parent->name)) && !add_root(out, &n, at))
			return n;
	return n;
}
