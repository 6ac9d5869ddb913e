/* SPDX-License-Identifier: Apache-2.0 */
/* tree_rows.c - the call tree of hooked methods, built from the agent's rows. */
#include "cli/tree_rows.h"

#include <stdlib.h>

#include "base/map.h"
#include "base/mem.h"
#include "cli/cli.h"
#include "cli/report_types.h"
#include "cli/states.h"

void call_tree_init(struct call_tree *t)
{
	*t = (struct call_tree){ 0 };
	arena_init(&t->mem);
	t->last = &t->root;
}

void call_tree_clear(struct call_tree *t)
{
	arena_reset(&t->mem);
	t->root = (struct call_node){ 0 };
	t->last = &t->root;
	t->n = 0;
	t->seen = (struct sequences){ 0 };
	t->total_ns = t->pruned = t->bound_ns = t->bound_calls = 0;
}

void call_tree_release(struct call_tree *t)
{
	arena_release(&t->mem);
}

/* Where a node of this depth belongs: below the last one that is less deep. */
static struct call_node *parent_for(struct call_tree *t, uint32_t depth)
{
	struct call_node *n = t->last;

	while (n != &t->root && n->m.depth >= depth)
		n = n->parent;
	return n;
}

static void take_status(struct call_tree *t, struct slice payload)
{
	struct wire_status s;

	if (wire_get_status(payload, &s) < 0)
		return;
	t->pruned = s.contexts_pruned;
	t->bound_ns = s.bound_ns;
	t->bound_calls = s.bound_calls;
	t->memory_limit = s.memory_limit;
	t->pulse_ns = s.pulse_ns;
}

bool call_tree_take(void *ctx, unsigned type, struct slice payload)
{
	struct call_tree *t = ctx;
	struct sequence sequence;
	struct call_node *n;

	if (type == WIRE_sequence && report_sequence(payload, &sequence))
		sequences_add(&t->seen, &sequence);
	if (type == WIRE_status)
		take_status(t, payload);
	if (type != WIRE_node)
		return true;
	n = arena_zero(&t->mem, sizeof(*n));
	if (!n)
		goto no_memory;
	if (wire_get_node(payload, &n->m) < 0)
		return true; /* a row that is cut is passed over */
	n->m.name = arena_dup(&t->mem, n->m.name);
	if (!n->m.name.p)
		goto no_memory;
	method_name_split(n->m.name, &n->name);
	n->parent = parent_for(t, n->m.depth);
	n->next = n->parent->first;
	n->parent->first = n;
	n->parent->n_children++;
	t->last = n;
	t->n++;
	return true;
no_memory:
	t->err = E_NO_MEMORY;
	return false;
}

static int compare(const void *left, const void *right)
{
	const struct call_node *a = *(struct call_node *const *)left;
	const struct call_node *b = *(struct call_node *const *)right;

	if (a->least_ns != b->least_ns)
		return a->least_ns < b->least_ns ? 1 : -1;
	if (a->m.calls != b->m.calls)
		return a->m.calls < b->m.calls ? 1 : -1;
	return slice_cmp(a->m.name, b->m.name);
}

/* The node after n in pre-order, or NULL. */
static struct call_node *after(const struct call_tree *t, struct call_node *n)
{
	if (n->first)
		return n->first;
	while (n != &t->root && !n->next)
		n = n->parent;
	return n == &t->root ? NULL : n->next;
}

static void sort_children(struct call_tree *t, struct call_node *parent)
{
	size_t n = parent->n_children, i = 0;
	struct call_node **list;

	if (n < 2)
		return;
	list = mem_alloc(n * sizeof(*list));
	if (!list) {
		t->err = E_NO_MEMORY;
		return;
	}
	for (struct call_node *c = parent->first; c; c = c->next)
		list[i++] = c;
	qsort(list, n, sizeof(*list), compare);
	parent->first = list[0];
	for (i = 0; i < n; i++)
		list[i]->next = i + 1 < n ? list[i + 1] : NULL;
	mem_free(list);
}

/* The first node of that name but for its parameters; NULL: out of memory. */
static struct call_node *first_of_name(struct map *seen, struct call_node *n)
{
	struct slice bare = { n->m.name.p, n->m.name.n - n->name.desc.n };
	uintptr_t *place = map_put(seen, bare, NULL);

	if (place && !*place)
		*place = (uintptr_t)n;
	return place ? (struct call_node *)*place : NULL;
}

static void find_overloads(struct call_tree *t)
{
	struct map seen = { 0 };

	for (struct call_node *n = t->root.first; n; n = after(t, n)) {
		struct call_node *first = first_of_name(&seen, n);

		if (!first) {
			t->err = E_NO_MEMORY;
			goto done;
		}
		first->overloaded |= method_name_overloads(&first->name, &n->name);
	}
	for (struct call_node *n = t->root.first; n; n = after(t, n))
		n->overloaded = first_of_name(&seen, n)->overloaded;
done:
	map_release(&seen);
}

/* As deep as the tree, which is no deeper than the probe's stack. */
static void sum_up(struct call_node *n)
{
	uint64_t below = 0;

	for (struct call_node *c = n->first; c; c = c->next) {
		sum_up(c);
		below += c->least_ns;
	}
	n->least_ns = n->m.total_ns > below ? n->m.total_ns : below;
}

void call_tree_sort(struct call_tree *t)
{
	sum_up(&t->root);
	t->total_ns = t->root.least_ns;
	sort_children(t, &t->root);
	for (struct call_node *n = t->root.first; n; n = after(t, n))
		sort_children(t, n);
	find_overloads(t);
}

double call_node_share(const struct call_tree *t, const struct call_node *n)
{
	return t->total_ns ? (double)n->least_ns / (double)t->total_ns : 0;
}

/* ---- JSON ---- */

struct limits {
	double least;
	unsigned depth;
};

static void nodes_json(const struct call_tree *t, const struct call_node *first, struct json *j,
		       struct limits limits);

static uint64_t left_out(const struct call_tree *t, const struct call_node *first,
			 struct limits limits)
{
	uint64_t n = 0;

	for (; first; first = first->next)
		n += !limits.depth || call_node_share(t, first) < limits.least;
	return n;
}

static void node_json(const struct call_tree *t, const struct call_node *n, struct json *j,
		      struct limits limits)
{
	const struct wire_node *m = &n->m;
	struct states all = states_of_node(m), own = states_of_node_self(m);
	uint64_t out = left_out(t, n->first, limits);

	json_open(j, '{');
	json_key(j, "method");
	json_str(j, m->name);
	if (m->flags & NODE_PRUNED) {
		json_key(j, "pruned");
		json_bool(j, true);
	}
	cli_json_count(j, "calls", m->calls);
	cli_json_count(j, "errors", m->errors);
	cli_json_count(j, "timed", m->timed);
	cli_json_count(j, "total_ns", m->total_ns);
	cli_json_count(j, "self_ns", m->self_ns);
	cli_json_count(j, "min_ns", m->min_ns);
	cli_json_count(j, "max_ns", m->max_ns);
	states_json(j, &all, &own);
	json_key(j, "compensated");
	json_bool(j, n->compensated);
	cli_json_count(j, "raw_ns", n->compensated ? (uint64_t)n->raw_ns : m->total_ns);
	cli_json_count(j, "low_ns", n->compensated ? (uint64_t)n->total.low : m->total_ns);
	cli_json_count(j, "high_ns", n->compensated ? (uint64_t)n->total.high : m->total_ns);
	json_key(j, "share");
	json_double(j, call_node_share(t, n));
	if (out)
		cli_json_count(j, "left_out", out);
	json_key(j, "children");
	nodes_json(t, n->first, j, limits);
	json_close(j, '}');
}

static void nodes_json(const struct call_tree *t, const struct call_node *first, struct json *j,
		       struct limits limits)
{
	json_open(j, '[');
	for (; first && limits.depth; first = first->next)
		if (call_node_share(t, first) >= limits.least)
			node_json(t, first, j, (struct limits){ limits.least, limits.depth - 1 });
	json_close(j, ']');
}

void call_tree_json(const struct call_tree *t, struct json *j, double least, unsigned depth)
{
	cli_json_count(j, "total_ns", t->total_ns);
	cli_json_count(j, "contexts_pruned", t->pruned);
	cli_json_count(j, "bound_ns", t->bound_ns);
	cli_json_count(j, "bound_calls", t->bound_calls);
	json_key(j, "roots");
	nodes_json(t, t->root.first, j, (struct limits){ least, depth });
}
