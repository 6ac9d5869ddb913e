/* SPDX-License-Identifier: Apache-2.0 */
/* api_tree.c - the call trees of all processes of an application, as one.
 *
 * A node is known by the hash of the methods on its path; nodes of several processes with one path
 * are one node. */
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/json.h"
#include "manager/http/request.h"

enum { DEEPEST = WIRE_DEPTH_MAX + 1, IS_HOOKED = 1, HAS_DATA = 2, IS_CONDITIONAL = 4 };

struct node {
	uint64_t id;
	struct node *parent, *first, *last, *next, *twin; /* twin: of the same bucket */
	const struct name *name;
	uint32_t depth, flags;
	uint64_t calls, errors, timed, total_ns, self_ns, min_ns, max_ns;
};

struct merged {
	struct arena *mem;
	struct node root;
	struct node **buckets;
	size_t n_buckets, total, shown, instances;
	uint64_t depth;
	double least_ns;
	int err;
};

static uint64_t step(uint64_t h, uint64_t name)
{
	h = (h ^ name) * 0x9e3779b97f4a7c15u;
	return h ^ h >> 29;
}

static struct node *child(struct merged *m, struct node *parent, const struct name *name)
{
	uint64_t id = step(parent->id, name->hash);
	struct node **at = &m->buckets[id % m->n_buckets], *n;

	for (n = *at; n; n = n->twin)
		if (n->id == id && n->parent == parent)
			return n;
	n = arena_zero(m->mem, sizeof(*n));
	if (!n) {
		m->err = E_NO_MEMORY;
		return parent;
	}
	*n = (struct node){ .id = id, .parent = parent, .name = name, .twin = *at };
	n->depth = parent == &m->root ? 0 : parent->depth + 1;
	*at = n;
	if (parent->last)
		parent->last->next = n;
	else
		parent->first = n;
	parent->last = n;
	m->total++;
	return n;
}

static void add_row(struct node *n, const struct tree_row *r, uint32_t flags)
{
	n->calls += r->calls;
	n->errors += r->errors;
	n->timed += r->timed;
	n->total_ns += r->total_ns;
	n->self_ns += r->self_ns;
	n->min_ns = !n->min_ns || (r->min_ns && r->min_ns < n->min_ns) ? r->min_ns : n->min_ns;
	n->max_ns = r->max_ns > n->max_ns ? r->max_ns : n->max_ns;
	n->flags |= flags | (r->calls ? HAS_DATA : 0u);
}

/* name -> flags of the methods that are hooked there */
static void see_methods(struct map *hooked, const struct instance *i)
{
	for (size_t k = 0; k < i->n; k++) {
		const struct figure *g = &i->figures[k];
		uintptr_t *at = map_put(hooked, g->name->text, NULL);

		if (at && !(g->flags & (METHOD_GONE | METHOD_ANCHOR)))
			*at |= IS_HOOKED | (g->flags & METHOD_PARTLY ? IS_CONDITIONAL : 0u);
	}
}

static void add_tree(struct merged *m, const struct instance *i)
{
	struct node *path[DEEPEST];
	struct map hooked = { 0 };
	uint32_t deepest = 0;

	see_methods(&hooked, i);
	for (size_t k = 0; k < i->n_tree && !m->err; k++) {
		const struct tree_row *r = &i->tree[k];
		uintptr_t *at = map_get(&hooked, r->name->text);
		uint32_t depth = r->depth < deepest ? r->depth : deepest;

		path[depth] = child(m, depth ? path[depth - 1] : &m->root, r->name);
		deepest = depth + 1 < DEEPEST ? depth + 1 : DEEPEST - 1;
		add_row(path[depth], r, at ? (uint32_t)*at : 0);
	}
	map_release(&hooked);
	m->instances++;
}

static bool is_shown(const struct merged *m, const struct node *n)
{
	return n->depth < m->depth && (double)n->total_ns >= m->least_ns;
}

/* The next in pre-order; below == false: not what is below n. */
static struct node *after(const struct merged *m, struct node *n, bool below)
{
	if (below && n->first)
		return n->first;
	while (n != &m->root && !n->next)
		n = n->parent;
	return n == &m->root ? NULL : n->next;
}

/* ---- rows ---- */

static void put_id(struct json *j, const char *key, uint64_t id)
{
	char text[24];

	snprintf(text, sizeof(text), "%016llx", (unsigned long long)id);
	json_put_nonempty(j, key, text);
}

static void put_node(struct json *j, const struct merged *m, const struct node *n)
{
	json_open(j, '{');
	put_id(j, "id", n->id);
	if (n->parent != &m->root)
		put_id(j, "parent", n->parent->id);
	json_put_u64(j, "depth", n->depth);
	json_put_str(j, "method", n->name->text);
	json_put_u64(j, "calls", n->calls);
	json_put_u64(j, "errors", n->errors);
	json_put_u64(j, "timed", n->timed);
	if (n->timed) {
		json_put_u64(j, "total_ns", n->total_ns);
		json_put_u64(j, "self_ns", n->self_ns);
		json_put_u64(j, "min_ns", n->min_ns);
		json_put_u64(j, "max_ns", n->max_ns);
	}
	json_put_bool(j, "hooked", n->flags & IS_HOOKED);
	json_put_bool(j, "has_data", n->flags & HAS_DATA);
	json_put_bool(j, "conditional", n->flags & IS_CONDITIONAL);
	json_close(j, '}');
}

static void put_rows(struct json *j, struct merged *m)
{
	json_put_open(j, "nodes", '[');
	for (struct node *n = m->root.first; n;) {
		bool shown = is_shown(m, n);

		if (shown)
			put_node(j, m, n);
		m->shown += shown;
		n = after(m, n, shown);
	}
	json_close(j, ']');
}

/* ---- columns ---- */

static uint64_t value_of(const struct node *n, int column)
{
	switch (column) {
	case 0:
		return n->depth;
	case 2:
		return n->calls;
	case 3:
		return n->errors;
	case 4:
		return n->total_ns;
	case 5:
		return n->self_ns;
	default:
		return n->flags;
	}
}

static void put_names(struct json *j, struct merged *m, struct map *numbers)
{
	uintptr_t next = 0;
	bool fresh;

	json_put_open(j, "methods", '[');
	for (struct node *n = m->root.first; n; n = after(m, n, is_shown(m, n))) {
		uintptr_t *at = is_shown(m, n) ? map_put(numbers, n->name->text, &fresh) : NULL;

		if (!at)
			continue;
		m->shown++;
		if (!fresh)
			continue;
		*at = next++;
		json_str(j, n->name->text);
	}
	json_close(j, ']');
}

static void put_columns(struct json *j, struct merged *m)
{
	static const char *const names[] = { "depth",	 "method",  "calls", "errors",
					     "total_ns", "self_ns", "flags" };
	struct map numbers = { 0 };

	put_names(j, m, &numbers);
	json_put_open(j, "columns", '{');
	for (int column = 0; column < (int)COUNT(names); column++) {
		json_put_open(j, names[column], '[');
		for (struct node *n = m->root.first; n; n = after(m, n, is_shown(m, n))) {
			uintptr_t *at = is_shown(m, n) ? map_get(&numbers, n->name->text) : NULL;

			if (at)
				json_u64(j, column == 1 ? *at : value_of(n, column));
		}
		json_close(j, ']');
	}
	json_close(j, '}');
	map_release(&numbers);
}

/* ---- the whole ---- */

static bool is_meant(const struct instance *i, const struct app *a, struct slice id)
{
	return i->app == a && i->tree &&
	       (id.n ? slice_is(id, i->id) : i->state == INSTANCE_CONNECTED);
}

static void merge(struct merged *m, struct fleet *f, const struct app *a, struct slice id)
{
	uint64_t all = 0;
	size_t rows = 16;

	for (struct instance *i = f->instances; i; i = i->next) {
		if (i->app == a)
			i->tree_asked_ms = clock_steady_ms();
		rows += is_meant(i, a, id) ? i->n_tree : 0;
	}
	m->n_buckets = rows | 1;
	m->buckets = arena_zero(m->mem, m->n_buckets * sizeof(*m->buckets));
	if (!m->buckets) {
		m->err = E_NO_MEMORY;
		return;
	}
	for (struct instance *i = f->instances; i && !m->err; i = i->next)
		if (is_meant(i, a, id))
			add_tree(m, i);
	for (struct node *n = m->root.first; n; n = n->next)
		all += n->total_ns;
	m->least_ns *= (double)all / 100;
}

int api_tree(struct api_request *c)
{
	struct slice share = query_get(&c->query, "min_share"),
		     format = query_get(&c->query, "format");
	struct merged m = { .mem = &c->mem, .depth = DEEPEST };
	struct app *a;
	struct json j;

	m.least_ns = share.n ? strtod((const char *)share.p, NULL) : 0;
	if (!query_number(&c->query, "depth", 1, DEEPEST, &m.depth) || !(m.least_ns >= 0))
		return request_fail(c, 400, "usage", "depth is a number, min_share percent");
	pthread_mutex_lock(&c->f->lock);
	a = request_app(c);
	if (a)
		merge(&m, c->f, a, request_instance(c));
	pthread_mutex_unlock(&c->f->lock);
	if (!a)
		return 404;
	if (m.err)
		return request_fail(c, 500, "memory", "out of memory");
	j = request_json(c); /* names stay, and nodes are ours */
	if (slice_is(format, "columns"))
		put_columns(&j, &m);
	else
		put_rows(&j, &m);
	json_put_u64(&j, "total", m.total);
	json_put_u64(&j, "omitted", m.total - m.shown);
	json_put_u64(&j, "instances", m.instances);
	return request_end(&j, 200);
}
