/* SPDX-License-Identifier: Apache-2.0 */
/* measure.c - windows of what hooks have measured. */
#include "plan/measure.h"

#include "base/err.h"

void measure_init(struct measure *m)
{
	memset(m, 0, sizeof(*m));
	arena_init(&m->mem);
}

void measure_release(struct measure *m)
{
	arena_release(&m->mem);
}

struct measured *measure_next(struct measured *n, struct measured *top)
{
	if (n->first)
		return n->first;
	while (n != top && !n->next)
		n = n->parent;
	return n == top ? NULL : n->next;
}

void measure_begin(struct measure *m)
{
	m->at = &m->root;
	for (struct measured *n = &m->root; n; n = measure_next(n, &m->root))
		n->seen = false;
}

static struct measured *child_of(struct measure *m, struct measured *parent, struct slice name)
{
	struct measured *n, **at = &parent->first;

	for (; *at; at = &(*at)->next)
		if (slice_eq((*at)->name, name))
			return *at;
	n = arena_zero(&m->mem, sizeof(*n));
	if (n)
		n->name = arena_dup(&m->mem, name);
	if (!n || !n->name.p) {
		m->err = E_NO_MEMORY;
		return NULL;
	}
	n->parent = parent;
	n->depth = parent->depth + 1;
	*at = n;
	return n;
}

void measure_row(struct measure *m, const struct measure_row *row)
{
	struct measured *parent = m->at, *n;
	size_t w = m->readings;

	if (m->err)
		return;
	while (parent->parent && parent->depth > row->depth)
		parent = parent->parent;
	n = child_of(m, parent, row->name);
	if (!n)
		return;
	m->at = n;
	if (n->seen) /* the same method twice below one caller: woven anew; the first one counts */
		return;
	n->seen = true;
	if (w > 0 && w <= WINDOWS_MAX) {
		n->calls[w - 1] = row->calls > n->last_calls ? (double)(row->calls - n->last_calls)
							     : 0;
		/* The agent finds the length of its ticks out better and better, so the sum creeps. */
		n->ns[w - 1] = row->ended != n->last_ended && row->ns > n->last_ns
				       ? (double)(row->ns - n->last_ns)
				       : 0;
	}
	n->last_calls = row->calls;
	n->last_ended = row->ended;
	n->last_ns = row->ns;
}

void measure_end(struct measure *m)
{
	m->readings++;
}

size_t measure_windows(const struct measure *m)
{
	size_t n = m->readings ? m->readings - 1 : 0;

	return n < WINDOWS_MAX ? n : WINDOWS_MAX;
}

static double sum(const double *v, size_t n)
{
	double s = 0;

	for (size_t i = 0; i < n; i++)
		s += v[i];
	return s;
}

double measure_calls(const struct measure *m, const struct measured *n)
{
	return sum(n->calls, measure_windows(m));
}

double measure_ns(const struct measure *m, const struct measured *n)
{
	return sum(n->ns, measure_windows(m));
}

struct estimated measure_mean(const struct measure *m, const struct measured *n)
{
	return stats_ratio(n->ns, n->calls, measure_windows(m));
}

struct estimated measure_share(const struct measure *m, const struct measured *n,
			       const struct measured *of)
{
	return stats_ratio(n->ns, of->ns, measure_windows(m));
}

struct estimated measure_calls_per(const struct measure *m, const struct measured *n,
				   const struct measured *of)
{
	return stats_ratio(n->calls, of->calls, measure_windows(m));
}

static bool is_below_itself(const struct measured *n)
{
	for (const struct measured *up = n->parent; up; up = up->parent)
		if (slice_eq(up->name, n->name))
			return true;
	return false;
}

bool measure_method(const struct measure *m, struct slice name, struct measured *out)
{
	struct measured *top = (struct measured *)(uintptr_t)&m->root;
	bool found = false;

	memset(out, 0, sizeof(*out));
	out->name = name;
	for (struct measured *n = top; n; n = measure_next(n, top)) {
		if (!slice_eq(n->name, name) || is_below_itself(n))
			continue;
		found = true;
		for (size_t i = 0; i < WINDOWS_MAX; i++)
			out->calls[i] += n->calls[i], out->ns[i] += n->ns[i];
	}
	return found;
}
