/* SPDX-License-Identifier: Apache-2.0 */
/* turns.c - chooses sets of methods that do not call each other.
 *
 * The one that has waited longest, for how often it is called, begins a set.  The others are asked
 * in turn, and join when no node of theirs lies above or below a node that was taken.  Nodes are in
 * pre-order, so what is below one is a range. */
#include "plan/inplace/turns.h"

#include <string.h>

#include "base/search.h"
#include "base/err.h"
#include "base/mem.h"

enum {
	NODES_MAX = 1 << 13, /* deeper and rarer ones are not looked at */
	DEPTH_MAX = 1 << 12,
};

void turns_init(struct turns *t)
{
	*t = (struct turns){ 0 };
}

void turns_release(struct turns *t)
{
	mem_free(t->nodes);
	mem_free(t->methods);
	mem_free(t->depths);
	turns_init(t);
}

/* The array with room for one more than n; NULL: out of memory. */
static void *roomy(struct turns *t, void *array, size_t *room, size_t n, size_t size)
{
	size_t more = *room ? 2 * *room : 64;

	if (n < *room)
		return array;
	array = mem_realloc(array, more * size);
	if (array)
		*room = more;
	else
		t->err = E_NO_MEMORY;
	return array;
}

static size_t place_of(const struct turns *t, uint32_t id)
{
	return SEARCH(t->n_methods, i, t->methods[i].id < id);
}

/* The method, a new one when it is not there; the places of others may change. */
static struct turns_method *method_for(struct turns *t, uint32_t id)
{
	size_t at = place_of(t, id);
	struct turns_method *m;

	if (at < t->n_methods && t->methods[at].id == id)
		return &t->methods[at];
	m = roomy(t, t->methods, &t->methods_room, t->n_methods, sizeof(*m));
	if (!m)
		return NULL;
	t->methods = m;
	m += at;
	memmove(m + 1, m, (t->n_methods - at) * sizeof(*m));
	*m = (struct turns_method){ .id = id };
	t->n_methods++;
	return m;
}

void turns_begin(struct turns *t)
{
	t->n = t->depth = 0;
	for (size_t i = 0; i < t->n_methods; i++) {
		t->methods[i].calls = 0;
		t->methods[i].nested = false;
		t->methods[i].first = 0;
	}
}

/* The way is cut to that depth; nodes that it leaves are complete. */
static void cut(struct turns *t, size_t depth)
{
	while (t->depth > depth) {
		uint32_t node = t->depths[--t->depth];

		if (node)
			t->nodes[node - 1].end = (uint32_t)t->n;
	}
}

void turns_node(struct turns *t, uint32_t id, unsigned depth, uint64_t calls)
{
	struct turns_method *m = t->err ? NULL : method_for(t, id);
	uint32_t *depths;
	struct turns_node *nodes;

	if (!m)
		return;
	m->calls += calls;
	cut(t, depth);
	if (t->n >= NODES_MAX || depth >= DEPTH_MAX)
		return;
	depths = roomy(t, t->depths, &t->depths_room, t->depth, sizeof(*depths));
	t->depths = depths ? depths : t->depths;
	nodes = roomy(t, t->nodes, &t->room, t->n, sizeof(*nodes));
	t->nodes = nodes ? nodes : t->nodes;
	if (!depths || !nodes)
		return;
	nodes[t->n] = (struct turns_node){ .method = id,
					   .parent = t->depth ? t->depths[t->depth - 1] : 0 };
	t->depths[t->depth++] = (uint32_t)++t->n;
}

/* Ids become places, and the nodes of a method a list. */
void turns_end(struct turns *t)
{
	cut(t, 0);
	for (size_t i = t->n; i-- > 0;) {
		struct turns_node *n = &t->nodes[i];
		struct turns_method *m;

		n->method = (uint32_t)place_of(t, n->method);
		m = &t->methods[n->method];
		n->same = m->first;
		m->nested |= n->same && n->same <= n->end; /* the next one is below this one */
		m->first = (uint32_t)i + 1;
	}
}

/* How much it is a method's turn. */
static double need(const struct turns_method *m)
{
	if (m->out || !m->calls)
		return 0;
	return (64 - __builtin_clzll(m->calls | 1)) / (1 + m->turns); /* bits: a logarithm */
}

static bool is_free(const struct turns *t, const struct turns_method *m)
{
	for (uint32_t i = m->first; i; i = t->nodes[i - 1].same)
		if (t->nodes[i - 1].taken)
			return false;
	return true;
}

static void take(struct turns *t, struct turns_method *m)
{
	m->turns++;
	for (uint32_t i = m->first; i; i = t->nodes[i - 1].same) {
		for (uint32_t up = i; up; up = t->nodes[up - 1].parent)
			t->nodes[up - 1].taken = true;
		for (uint32_t k = i; k < t->nodes[i - 1].end; k++)
			t->nodes[k].taken = true;
	}
}

size_t turns_next(struct turns *t, uint32_t *ids, size_t most)
{
	struct turns_method *first = NULL;
	size_t n = 0, at;

	if (t->err || !most)
		return 0;
	for (size_t i = 0; i < t->n; i++)
		t->nodes[i].taken = false;
	for (size_t i = 0; i < t->n_methods; i++)
		if (need(&t->methods[i]) > (first ? need(first) : 0))
			first = &t->methods[i];
	if (!first)
		return 0;
	at = (size_t)(first - t->methods);
	for (size_t i = 0; i < t->n_methods && n < most; i++) {
		struct turns_method *m = &t->methods[(at + i) % t->n_methods];

		if (!(need(m) > 0) || !is_free(t, m))
			continue;
		take(t, m);
		ids[n++] = m->id;
	}
	return n;
}

bool turns_is_nested(const struct turns *t, uint32_t id)
{
	size_t at = place_of(t, id);

	return at < t->n_methods && t->methods[at].id == id && t->methods[at].nested;
}

void turns_leave_out(struct turns *t, uint32_t id)
{
	struct turns_method *m = t->err ? NULL : method_for(t, id);

	if (m)
		m->out = true;
}
