/* SPDX-License-Identifier: Apache-2.0 */
/* tree_rows.c - the call tree of hooked methods, built from the agent's rows. */
#include "cli/report/tree_rows.h"

#include <stdlib.h>

#include "base/map.h"
#include "base/mem.h"
#include "base/whole.h"
#include "cli/report/report_rows.h"
#include "cli/report/states.h"
#include "cli/screen/cli.h"

static const size_t KEPT_MAX = 1u << 30; /* bytes: some two million contexts */

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
	t->total_ns = t->pruned = t->bound_ns = t->bound_calls = t->too_deep = 0;
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
	if (n->m.depth >= WIRE_DEPTH_MAX) {
		t->too_deep++;
		return true;
	}
	if (t->mem.total > KEPT_MAX) {
		t->err = E_LIMIT;
		return false;
	}
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

struct call_node *call_node_beside(const struct call_tree *t, const struct call_node *n)
{
	while (n != &t->root && !n->next)
		n = n->parent;
	return n == &t->root ? NULL : n->next;
}

struct call_node *call_node_after(const struct call_tree *t, const struct call_node *n)
{
	return n->first ? n->first : call_node_beside(t, n);
}

/* The first in post-order of n and what is below it. */
static struct call_node *lowest(const struct call_node *n)
{
	while (n->first)
		n = n->first;
	return (struct call_node *)(uintptr_t)n;
}

struct call_node *call_node_up(const struct call_tree *t, const struct call_node *n)
{
	if (!n)
		return lowest(&t->root);
	if (n == &t->root)
		return NULL;
	return n->next ? lowest(n->next) : n->parent;
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

	for (struct call_node *n = t->root.first; n; n = call_node_after(t, n)) {
		struct call_node *first = first_of_name(&seen, n);

		if (!first) {
			t->err = E_NO_MEMORY;
			goto done;
		}
		first->overloaded |= method_name_overloads(&first->name, &n->name);
	}
	for (struct call_node *n = t->root.first; n; n = call_node_after(t, n))
		n->overloaded = first_of_name(&seen, n)->overloaded;
done:
	map_release(&seen);
}

void call_tree_sort(struct call_tree *t)
{
	for (struct call_node *n = call_node_up(t, NULL); n; n = call_node_up(t, n)) {
		uint64_t least = n->reconciled ? n->least_ns : n->below_ns;

		n->least_ns = n->m.total_ns;
		if (least > n->least_ns && (!n->reconciled || call_node_runs(n)))
			n->least_ns = least;
		if (n->parent)
			n->parent->below_ns = whole_add(n->parent->below_ns, n->least_ns);
	}
	t->total_ns = t->root.least_ns;
	sort_children(t, &t->root);
	for (struct call_node *n = t->root.first; n; n = call_node_after(t, n)) {
		n->level = n->parent == &t->root ? 0 : n->parent->level + 1;
		sort_children(t, n);
	}
	find_overloads(t);
}

double call_node_share(const struct call_tree *t, const struct call_node *n)
{
	return t->total_ns ? (double)n->least_ns / (double)t->total_ns : 0;
}

struct states call_node_states(const struct call_node *n)
{
	return states_without_hooks(states_of_node(&n->m), n->raw_ns,
				    n->compensated ? n->total.mid : n->raw_ns);
}

/* ---- JSON ---- */

struct limits {
	double least;
	unsigned depth;
};

static bool is_left_out(const struct call_tree *t, const struct call_node *n, struct limits limits)
{
	return n->level >= limits.depth || call_node_share(t, n) < limits.least;
}

static uint64_t left_out(const struct call_tree *t, const struct call_node *first,
			 struct limits limits)
{
	uint64_t n = 0;

	for (; first; first = first->next)
		n += is_left_out(t, first, limits);
	return n;
}

/* What must be known to read a node's figures; those that are not so are not there. */
static void flags_json(const struct call_node *n, struct json *j)
{
	const struct {
		const char *name;
		bool is;
	} flags[] = {
		{ "bounded", call_node_is_bounded(n) },
		{ "self_bounded", call_node_self_is_bounded(n) },
		{ "recursive", n->flags & TREE_CALLS_ITSELF },
		{ "recursion_drawn", n->flags & TREE_RECURSIVE },
		{ "overlap", n->flags & TREE_OVERLAP },
		{ "closed", n->m.flags & NODE_SHUT },
		{ "fewer_counted", n->m.flags & NODE_FEWER },
	};

	for (size_t i = 0; i < COUNT(flags); i++)
		if (flags[i].is) {
			json_put_bool(j, flags[i].name, true);
		}
	if (call_node_runs(n) && n->least_ns > n->m.total_ns)
		json_put_u64(j, "least_ns", n->least_ns);
	if (call_node_self_is_bounded(n))
		json_put_u64(j, "self_high_ns", whole_of(n->self.high + 0.5));
}

/* The object of a node, with its list of children open. */
static void open_node(const struct call_tree *t, const struct call_node *n, struct json *j,
		      struct limits limits)
{
	const struct wire_node *m = &n->m;
	struct states all = call_node_states(n);
	struct states own = states_without_hooks(states_of_node_self(m), n->raw_ns,
						 n->compensated ? n->total.mid : n->raw_ns);
	uint64_t out = left_out(t, n->first, limits);

	json_open(j, '{');
	json_put_str(j, "method", m->name);
	if (m->flags & NODE_PRUNED) {
		json_put_bool(j, "pruned", true);
	}
	json_put_u64(j, "calls", m->calls);
	json_put_u64(j, "errors", m->errors);
	json_put_u64(j, "timed", m->timed);
	json_put_u64(j, "total_ns", m->total_ns);
	json_put_u64(j, "self_ns", m->self_ns);
	json_put_u64(j, "min_ns", m->min_ns);
	json_put_u64(j, "max_ns", m->max_ns);
	states_json(j, &all, &own);
	json_put_bool(j, "compensated", n->compensated);
	json_put_u64(j, "raw_ns", n->reconciled ? whole_of(n->raw_ns + 0.5) : m->total_ns);
	json_put_u64(j, "low_ns", n->reconciled ? whole_of(n->total.low + 0.5) : m->total_ns);
	json_put_u64(j, "high_ns", n->reconciled ? whole_of(n->total.high + 0.5) : m->total_ns);
	flags_json(n, j);
	json_put_double(j, "share", call_node_share(t, n));
	if (out)
		json_put_u64(j, "left_out", out);
	json_put_open(j, "children", '[');
}

static void close_nodes(struct json *j, unsigned n)
{
	while (n--) {
		json_close(j, ']');
		json_close(j, '}');
	}
}

/* `open` is how many objects are: a node closes those that it is not below. */
static void nodes_json(const struct call_tree *t, struct json *j, struct limits limits)
{
	const struct call_node *n = t->root.first;
	unsigned open = 0;

	json_open(j, '[');
	while (n) {
		if (is_left_out(t, n, limits)) {
			n = call_node_beside(t, n);
			continue;
		}
		close_nodes(j, open - n->level);
		open_node(t, n, j, limits);
		open = n->level + 1;
		n = call_node_after(t, n);
	}
	close_nodes(j, open);
	json_close(j, ']');
}

void call_tree_json(const struct call_tree *t, struct json *j, double least, unsigned depth)
{
	json_put_u64(j, "total_ns", t->total_ns);
	json_put_u64(j, "contexts_pruned", t->pruned);
	json_put_u64(j, "bound_ns", t->bound_ns);
	json_put_u64(j, "bound_calls", t->bound_calls);
	json_key(j, "roots");
	nodes_json(t, j, (struct limits){ least, depth });
	if (t->too_deep)
		json_put_u64(j, "too_deep", t->too_deep);
}
