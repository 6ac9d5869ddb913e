/* SPDX-License-Identifier: Apache-2.0 */
/* samples.c - the tree of samples. */
#include "plan/dig/samples.h"

#include "base/err.h"
#include "plan/dig/kind.h"

/* An agent tells 30,000 nodes at most, of stacks of 400 frames. */
enum { DEPTH_MAX = 1000, KEPT_MAX = 256 << 20 };

void samples_init(struct samples *s)
{
	memset(s, 0, sizeof(*s));
	arena_init(&s->mem);
	s->last = &s->root;
}

void samples_release(struct samples *s)
{
	arena_release(&s->mem);
	map_release(&s->children);
}

/* What a node is found by; .p NULL: out of memory.  A node may have any number of children. */
static struct slice key_of(struct samples *s, const struct sample_node *parent, struct slice name)
{
	uint8_t *key = arena_alloc(&s->mem, sizeof(parent) + name.n);

	if (!key)
		return (struct slice){ NULL, 0 };
	memcpy(key, &parent, sizeof(parent));
	if (name.n)
		memcpy(key + sizeof(parent), name.p, name.n);
	return (struct slice){ key, sizeof(parent) + name.n };
}

static struct sample_node *child_of(struct samples *s, struct sample_node *parent,
				    struct slice name)
{
	struct slice key = key_of(s, parent, name);
	uintptr_t *place = key.p ? map_get(&s->children, key) : NULL;
	struct sample_node *n;

	if (place) {
		arena_trim(&s->mem, (void *)(uintptr_t)key.p, key.n, 0);
		return (struct sample_node *)*place;
	}
	n = key.p ? arena_zero(&s->mem, sizeof(*n)) : NULL;
	place = n ? map_put(&s->children, key, NULL) : NULL;
	if (!place) {
		s->err = E_NO_MEMORY;
		return NULL;
	}
	*place = (uintptr_t)n;
	n->name = (struct slice){ key.p + sizeof(parent), name.n };
	n->parent = parent;
	n->depth = parent->depth + 1;
	*(parent->last ? &parent->last->next : &parent->first) = n;
	parent->last = n;
	s->n++;
	return n;
}

static void add_counts(struct sample_node *n, const struct sample_row *row)
{
	n->flags |= row->flags | (sample_node_can_be_named(n->name) ? 0 : SAMPLE_IS_FIXED);
	for (int i = 0; i < SAMPLE_STATES; i++)
		n->self[i] += row->self[i];
	n->stretches += row->stretches;
	n->threads += row->threads;
}

void samples_add(struct samples *s, const struct sample_row *row)
{
	struct sample_node *parent = s->last, *n;

	if (s->err || row->depth >= DEPTH_MAX)
		return;
	if (s->mem.total > KEPT_MAX) {
		s->err = E_LIMIT;
		return;
	}
	while (parent->parent && parent->depth > row->depth)
		parent = parent->parent;
	n = child_of(s, parent, row->name);
	if (!n)
		return;
	add_counts(n, row);
	s->last = n;
}

static struct slice keep(struct samples *s, struct slice text)
{
	struct slice copy = arena_dup(&s->mem, text);

	if (copy.p || !text.n)
		return copy;
	s->err = E_NO_MEMORY;
	return (struct slice){ NULL, 0 };
}

void samples_add_lock(struct samples *s, const struct sample_lock *lock)
{
	struct sample_lock *l = arena_copy(&s->mem, lock, sizeof(*lock));

	if (!l) {
		s->err = E_NO_MEMORY;
		return;
	}
	l->class = keep(s, lock->class);
	l->waiter = keep(s, lock->waiter);
	l->thread = keep(s, lock->thread);
	l->holder = keep(s, lock->holder);
	l->next = s->locks;
	s->locks = l;
}

void samples_seal(struct samples *s)
{
	const struct sample_node *c;

	for (c = &s->root; c; c = samples_next(c, &s->root)) {
		struct sample_node *n = (struct sample_node *)(uintptr_t)c;

		n->total = n->busy = n->queued = 0;
	}
	for (c = &s->root; c; c = samples_next(c, &s->root)) {
		uint64_t total = 0, busy = 0, queued = 0;

		for (int i = 0; i < SAMPLE_STATES; i++) {
			total += c->self[i];
			busy += kind_is_idle(c, (enum sample_state)i) ? 0 : c->self[i];
			queued += kind_is_at_queue(c, (enum sample_state)i) ? c->self[i] : 0;
		}
		for (const struct sample_node *up = c; total && up; up = up->parent) {
			struct sample_node *n = (struct sample_node *)(uintptr_t)up;

			n->total += total;
			n->busy += busy;
			n->queued += queued;
		}
	}
	s->last = &s->root;
}

/* The place of n below `to`: a method that calls itself, directly or through the JDK, stays where it
 * is, since what its inner calls do is what the outermost one does. */
static struct sample_node *folded(struct sample_node *to, const struct sample_node *n)
{
	struct sample_node *up = to;

	while (up->parent && sample_node_is_jdk(up->name))
		up = up->parent;
	return up->parent && !sample_node_is_jdk(n->name) && slice_eq(up->name, n->name) ? up
											 : NULL;
}

/* Copies n with all below it.  Of calls of a method by itself only the outermost is a node when
 * `fold`. */
static void graft(struct samples *s, struct sample_node *top, const struct sample_node *n,
		  bool fold)
{
	struct sample_node *at[DEPTH_MAX + 2] = { top };

	for (const struct sample_node *from = n; from; from = samples_next(from, n)) {
		uint32_t depth = from->depth - n->depth;
		struct sample_row row = { .flags = from->flags,
					  .stretches = from->stretches,
					  .threads = from->threads };
		struct sample_node *copy = fold ? folded(at[depth], from) : NULL;

		if (copy)
			row.stretches = row.threads = 0;
		else
			copy = child_of(s, at[depth], from->name);
		if (!copy)
			return;
		memcpy(row.self, from->self, sizeof(row.self));
		add_counts(copy, &row);
		at[depth + 1] = copy;
	}
}

void samples_graft(struct samples *s, struct sample_node *under, const struct sample_node *n,
		   double part)
{
	struct sample_node *at[DEPTH_MAX + 2] = { under };
	double rest = 0; /* of rounding, so that many small counts keep their sum */

	for (const struct sample_node *from = n; from; from = samples_next(from, n)) {
		uint32_t depth = from->depth - n->depth;
		struct sample_row row = { .flags = from->flags,
					  .stretches = from->stretches,
					  .threads = from->threads };
		struct sample_node *copy;

		if (under->depth + depth >= DEPTH_MAX)
			continue;
		copy = child_of(s, at[depth], from->name);
		if (!copy)
			return;
		for (int i = 0; i < SAMPLE_STATES; i++) {
			double share = (double)from->self[i] * part;

			if (!from->self[i])
				continue;
			row.self[i] = share + rest > 0 ? (uint64_t)(share + rest + 0.5) : 0;
			rest += share - (double)row.self[i];
		}
		add_counts(copy, &row);
		at[depth + 1] = copy;
	}
}

void samples_merge(struct samples *into, const struct samples *more)
{
	struct sample_vitals *v = &into->vitals;
	const struct sample_vitals *m = &more->vitals;

	for (const struct sample_node *n = more->root.first; n; n = n->next)
		graft(into, &into->root, n, false);
	for (const struct sample_lock *l = more->locks; l; l = l->next)
		samples_add_lock(into, l);
	v->wall += m->wall, v->cost += m->cost, v->gc += m->gc, v->cpu += m->cpu;
	v->delay += m->delay, v->gc_cpu += m->gc_cpu, v->jit_cpu += m->jit_cpu;
	v->own_cpu += m->own_cpu, v->samples += m->samples, v->gcs += m->gcs;
	v->threads = m->threads, v->cpus = m->cpus;
	v->answers += m->answers;
	samples_seal(into);
}

uint64_t samples_under(const struct samples *s, struct slice method, struct samples *out)
{
	const struct sample_node *n = s->root.first;

	while (n) {
		const struct sample_node *next = samples_next(n, &s->root);

		if (slice_eq(n->name, method)) {
			graft(out, &out->root, n, true);
			while (n != &s->root && !n->next)
				n = n->parent;
			next = n == &s->root ? NULL : n->next;
		}
		n = next;
	}
	out->vitals = s->vitals;
	out->locks = s->locks; /* a view */
	samples_seal(out);
	return out->root.total;
}
