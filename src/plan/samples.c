/* SPDX-License-Identifier: Apache-2.0 */
/* samples.c - the tree of samples. */
#define _GNU_SOURCE /* memrchr() */
#include "plan/samples.h"

#include "base/err.h"
#include "plan/kind.h"

void samples_init(struct samples *s)
{
	memset(s, 0, sizeof(*s));
	arena_init(&s->mem);
	s->last = &s->root;
}

void samples_release(struct samples *s)
{
	arena_release(&s->mem);
}

/* ---- names -------------------------------------------------------------------------------- */

struct slice sample_plain(struct slice name)
{
	const uint8_t *bracket = name.n ? memchr(name.p, '(', name.n) : NULL;

	if (bracket)
		name.n = (size_t)(bracket - name.p);
	return name;
}

struct slice sample_desc(struct slice name)
{
	size_t n = sample_plain(name).n;

	return (struct slice){ name.p + n, name.n - n };
}

struct slice sample_class(struct slice name)
{
	struct slice plain = sample_plain(name);
	const uint8_t *dot = plain.n ? memrchr(plain.p, '.', plain.n) : NULL;

	if (dot)
		plain.n = (size_t)(dot - plain.p);
	return plain;
}

struct slice sample_method(struct slice name)
{
	struct slice plain = sample_plain(name);
	size_t class = sample_class(name).n;

	if (class == plain.n)
		return plain;
	return (struct slice){ plain.p + class + 1, plain.n - class - 1 };
}

bool sample_is_jdk(struct slice name)
{
	static const char *const packages[] = { "java.",	"javax.",	 "jdk.",
						"sun.",		"com.sun.",	 "org.xml.sax.",
						"org.w3c.dom.", "org.ietf.jgss." };

	for (size_t i = 0; i < COUNT(packages); i++)
		if (slice_starts(name, slice_str(packages[i])))
			return true;
	return false;
}

/* ---- building ----------------------------------------------------------------------------- */

static struct sample_node *child_of(struct samples *s, struct sample_node *parent,
				    struct slice name)
{
	struct sample_node *n, **at = &parent->first;

	for (; *at; at = &(*at)->next)
		if (slice_eq((*at)->name, name))
			return *at;
	n = arena_zero(&s->mem, sizeof(*n));
	if (n)
		n->name = arena_dup(&s->mem, name);
	if (!n || !n->name.p) {
		s->err = E_NO_MEMORY;
		return NULL;
	}
	n->parent = parent;
	n->depth = parent->depth + 1;
	*at = n;
	s->n++;
	return n;
}

static void add_counts(struct sample_node *n, const struct sample_row *row)
{
	n->flags |= row->flags;
	for (int i = 0; i < SAMPLE_STATES; i++)
		n->self[i] += row->self[i];
	n->stretches += row->stretches;
	n->threads += row->threads;
}

void samples_add(struct samples *s, const struct sample_row *row)
{
	struct sample_node *parent = s->last, *n;

	if (s->err)
		return;
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

const struct sample_node *samples_next(const struct sample_node *n, const struct sample_node *top)
{
	if (n->first)
		return n->first;
	while (n != top && !n->next)
		n = n->parent;
	return n == top ? NULL : n->next;
}

void samples_seal(struct samples *s)
{
	const struct sample_node *c;

	for (c = &s->root; c; c = samples_next(c, &s->root)) {
		struct sample_node *n = (struct sample_node *)(uintptr_t)c;

		n->total = n->busy = 0;
	}
	for (c = &s->root; c; c = samples_next(c, &s->root)) {
		uint64_t total = 0, busy = 0;

		for (int i = 0; i < SAMPLE_STATES; i++) {
			total += c->self[i];
			busy += kind_is_idle(c, (enum sample_state)i) ? 0 : c->self[i];
		}
		for (const struct sample_node *up = c; total && up; up = up->parent) {
			struct sample_node *n = (struct sample_node *)(uintptr_t)up;

			n->total += total;
			n->busy += busy;
		}
	}
	s->last = &s->root;
}

/* Adds n and what is below it as a child of `to`. */
static void graft(struct samples *s, struct sample_node *to, const struct sample_node *n)
{
	const struct sample_node *from = n;

	for (;;) {
		struct sample_row row = { .flags = from->flags,
					  .stretches = from->stretches,
					  .threads = from->threads };
		struct sample_node *copy = child_of(s, to, from->name);

		if (!copy)
			return;
		memcpy(row.self, from->self, sizeof(row.self));
		add_counts(copy, &row);
		if (from->first) {
			from = from->first;
			to = copy;
			continue;
		}
		while (from != n && !from->next) {
			from = from->parent;
			to = to->parent;
		}
		if (from == n)
			return;
		from = from->next;
	}
}

void samples_merge(struct samples *into, const struct samples *more)
{
	struct sample_vitals *v = &into->vitals;
	const struct sample_vitals *m = &more->vitals;

	for (const struct sample_node *n = more->root.first; n; n = n->next)
		graft(into, &into->root, n);
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
			graft(out, &out->root, n);
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
