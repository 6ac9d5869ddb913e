/* SPDX-License-Identifier: Apache-2.0 */
/* measure.c - windows of what hooks have measured. */
#include "plan/dig/measure.h"

#include "base/err.h"
#include "base/mem.h"
#include "tree/tree.h"

/* So many calls may have begun and not ended; when there are more, not all of them are timed. */
enum { UNDER_WAY = 100 };

/* More than hooks of dig ever make, and deeper than the probe's stack: made up. */
enum { NODES_MAX = 20000, DEPTH_MAX = 1000 };

void measure_init(struct measure *m)
{
	memset(m, 0, sizeof(*m));
	arena_init(&m->mem);
}

void measure_release(struct measure *m)
{
	map_release(&m->numbers);
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
	if (!m->at)
		m->at = arena_alloc(&m->mem, (DEPTH_MAX + 1) * sizeof(*m->at));
	if (!m->at) {
		m->err = E_NO_MEMORY;
		return;
	}
	m->at[0] = &m->root;
	m->deep = 1;
	for (struct measured *n = &m->root; n; n = measure_next(n, &m->root))
		n->seen = false, n->now_calls = n->now_ended = n->now_ns = 0;
}

static bool number(struct measure *m, struct measured *n)
{
	bool fresh = false;
	uintptr_t *at = n->name.p ? map_put(&m->numbers, n->name, &fresh) : NULL;

	if (at && fresh)
		*at = m->numbers.n;
	if (at)
		n->number = (uint32_t)*at;
	return at != NULL;
}

/* NULL: there are too many, or m->err says why. */
static struct measured *child_of(struct measure *m, struct measured *parent, struct slice name)
{
	struct measured *n, **at = &parent->first;

	for (; *at; at = &(*at)->next)
		if (slice_eq((*at)->name, name))
			return *at;
	if (m->n == NODES_MAX)
		return NULL;
	n = arena_zero(&m->mem, sizeof(*n));
	if (n)
		n->name = arena_dup(&m->mem, name);
	if (!n || !number(m, n)) {
		m->err = E_NO_MEMORY;
		return NULL;
	}
	n->parent = parent;
	n->depth = parent->depth + 1;
	*at = n;
	m->n++;
	return n;
}

/* ---- tasks of other threads ------------------------------------------------------------------ */

void measure_link(struct measure *m, struct slice waiter, struct slice task)
{
	if (m->n_links == LINKS_MAX)
		return;
	m->links[m->n_links].waiter = waiter;
	m->links[m->n_links].task = task;
	m->links[m->n_links++].at = NULL;
}

/* What an outermost call is read below: the root of all, or who waits for it. */
static struct measured *owner_of(struct measure *m, struct slice name)
{
	for (unsigned i = 0; i < m->n_links; i++)
		if (m->links[i].at && slice_eq(m->links[i].task, name))
			return m->links[i].at;
	return &m->root;
}

static bool is_in(const struct measured *n, const struct measured *top)
{
	while (n && n != top)
		n = n->parent;
	return n != NULL;
}

/* The node of that name with the most calls, but none below `but`. */
static struct measured *most_called(struct measure *m, struct slice name,
				    const struct measured *but)
{
	struct measured *best = NULL;

	for (struct measured *n = m->root.first; n; n = measure_next(n, &m->root))
		if (slice_eq(n->name, name) && !is_in(n, but) &&
		    (!best || n->now_calls > best->now_calls))
			best = n;
	return best;
}

static void put_below(struct measured *n, struct measured *parent)
{
	struct measured **at = &n->parent->first;
	uint32_t deeper = parent->depth + 1 - n->depth;

	while (*at != n)
		at = &(*at)->next;
	*at = n->next;
	n->next = NULL;
	for (at = &parent->first; *at; at = &(*at)->next)
		;
	*at = n;
	n->parent = parent;
	for (struct measured *c = n; c; c = measure_next(c, n))
		c->depth += deeper;
}

/* Tasks that are outermost still go below who waits for them, if that one has been seen. */
static void link_tasks(struct measure *m)
{
	for (unsigned i = 0; i < m->n_links; i++) {
		struct measured *task = m->root.first;

		while (task && !slice_eq(task->name, m->links[i].task))
			task = task->next;
		if (!task || m->links[i].at)
			continue;
		m->links[i].at = most_called(m, m->links[i].waiter, task);
		if (m->links[i].at)
			put_below(task, m->links[i].at);
	}
}

void measure_row(struct measure *m, const struct measure_row *row)
{
	struct measured *parent, *n;
	uint32_t depth = row->depth < m->deep ? row->depth : m->deep - 1;

	if (m->err || row->depth >= DEPTH_MAX)
		return;
	parent = m->at[depth];
	if (parent == &m->root)
		parent = owner_of(m, row->name);
	m->deep = depth + 2;
	if (slice_eq(parent->name, row->name)) {
		m->at[depth + 1] = parent;
		return;
	}
	n = child_of(m, parent, row->name);
	if (!n) {
		m->deep = depth + 1;
		return;
	}
	m->at[depth + 1] = n;
	/* The same method may come twice below one caller: of two class loaders, or woven anew. */
	n->seen = true;
	n->now_calls += row->calls;
	n->now_ended += row->ended;
	n->now_ns += row->ns;
}

void measure_pass(struct measure *m, uint32_t depth)
{
	if (m->err || depth >= DEPTH_MAX)
		return;
	depth = depth < m->deep ? depth : m->deep - 1;
	m->at[depth + 1] = m->at[depth];
	m->deep = depth + 2;
}

static double grown(uint64_t now, uint64_t before)
{
	return now > before ? (double)(now - before) : 0;
}

/* What a node has grown by since the reading before. */
static struct tree_figures growth(const struct measured *n)
{
	struct tree_figures f = { .id = n->number, .depth = n->depth - 1 };

	if (!n->seen)
		return f;
	f.calls = grown(n->now_calls, n->last_calls);
	f.timed = grown(n->now_ended, n->last_ended);
	/* The agent finds the length of its ticks out better and better, so the sum creeps. */
	f.raw = f.timed > 0 ? grown(n->now_ns, n->last_ns) : 0;
	if (n->now_calls < n->now_ended + UNDER_WAY)
		f.timed = f.calls;
	return f;
}

static struct slice name_of(const struct measure *m, uint32_t number)
{
	for (struct map_slot *s = NULL; (s = map_next(&m->numbers, s));)
		if (s->value == number)
			return s->key;
	return (struct slice){ NULL, 0 };
}

/* Writes a window: the nodes of the tree in their order, of which the last may be new ones. */
static void take_window(struct measure *m, const struct tree *t, struct measured **of)
{
	size_t w = m->readings - 1;

	for (uint32_t i = 0; i < t->n; i++) {
		const struct tree_node *n = &t->nodes[i];
		struct measured *parent = n->parent == TREE_NONE ? &m->root : of[n->parent];

		if (!of[i])
			of[i] = child_of(m, parent, name_of(m, n->f.id));
		if (!of[i])
			return;
		of[i]->calls[w] = n->f.calls;
		of[i]->ns[w] = n->f.raw;
	}
}

static void end_window(struct measure *m)
{
	struct measured **of = NULL;
	struct tree t;
	size_t i = 0;

	tree_init(&t);
	for (struct measured *n = m->root.first; n; n = measure_next(n, &m->root)) {
		struct tree_figures f = growth(n);

		tree_add(&t, &f);
	}
	tree_gather(&t);
	of = t.err ? NULL : mem_alloc((t.n + 1) * sizeof(struct measured *));
	if (!of) {
		m->err = E_NO_MEMORY;
	} else {
		memset(of, 0, t.n * sizeof(struct measured *));
		for (struct measured *n = m->root.first; n; n = measure_next(n, &m->root))
			of[i++] = n;
		take_window(m, &t, of);
	}
	mem_free(of);
	tree_release(&t);
}

void measure_end(struct measure *m)
{
	link_tasks(m);
	if (m->readings && m->readings <= WINDOWS_MAX && !m->err)
		end_window(m);
	for (struct measured *n = m->root.first; n; n = measure_next(n, &m->root))
		if (n->seen) {
			n->last_calls = n->now_calls;
			n->last_ended = n->now_ended;
			n->last_ns = n->now_ns;
		}
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
