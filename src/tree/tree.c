/* SPDX-License-Identifier: Apache-2.0 */
/* tree.c - builds the tree, and puts calls back below those that made them.
 *
 * With 1/N a call that is only counted leaves no frame, and what it calls is found at its caller's
 * node.  Of a method A below G, of which one call in N was timed, let B be called b times in its
 * timed calls; then it was called b * (N - 1) times in the others, and these are part of what is
 * found as B directly below G.  Which calls are timed is drawn at random, so this is exact but for
 * the luck of the draw. */
#include "tree/tree.h"

#include <math.h>

#include "base/mem.h"

enum {
	TIMES = 4, /* as many nodes, and so many more, after gathering at most */
	MORE = 1 << 16,
	NODES_MAX = 1 << 22,
	DEPTH_MAX = 2000,    /* nothing is handed out to what is deeper */
	LOOKS_MAX = 1 << 28, /* nodes that are looked at, a second or so; figures may be made up */
};

void tree_init(struct tree *t)
{
	*t = (struct tree){ .first = TREE_NONE, .last = TREE_NONE, .at = TREE_NONE };
}

void tree_release(struct tree *t)
{
	mem_free(t->nodes);
	tree_init(t);
}

/* Appends a child.  TREE_NONE: t->err says why. */
static uint32_t add_below(struct tree *t, uint32_t parent, const struct tree_figures *f)
{
	uint32_t at = t->n, *last, before;

	if (t->n == NODES_MAX) {
		t->err = E_LIMIT;
		return TREE_NONE;
	}
	if (t->n == t->room) {
		uint32_t room = t->room ? 2 * t->room : 256;
		void *more = room > t->room ? mem_realloc(t->nodes, room * sizeof(*t->nodes))
					    : NULL;

		if (!more) {
			t->err = E_NO_MEMORY;
			return TREE_NONE;
		}
		t->nodes = more;
		t->room = room;
	}
	t->nodes[at] = (struct tree_node){ .f = *f,
					   .parent = parent,
					   .first = TREE_NONE,
					   .last = TREE_NONE,
					   .next = TREE_NONE,
					   .grows = 1 };
	last = parent == TREE_NONE ? &t->last : &t->nodes[parent].last;
	before = *last;
	*last = at;
	if (before != TREE_NONE)
		t->nodes[before].next = at;
	else if (parent == TREE_NONE)
		t->first = at;
	else
		t->nodes[parent].first = at;
	t->n++;
	return at;
}

void tree_add(struct tree *t, const struct tree_figures *f)
{
	uint32_t up = t->at;

	if (t->err)
		return;
	while (up != TREE_NONE && t->nodes[up].f.depth >= f->depth)
		up = t->nodes[up].parent;
	t->at = add_below(t, up, f);
}

bool tree_is_called(const struct tree *t, uint32_t id)
{
	for (uint32_t k = 0; k < t->n; k++) {
		const struct tree_node *n = &t->nodes[k];

		if (n->f.id == id && n->parent != TREE_NONE && t->nodes[n->parent].f.id != id)
			return true;
	}
	return false;
}

/* ---- gathering --------------------------------------------------------------------------- */

static uint32_t first_of(const struct tree *t, uint32_t parent)
{
	return parent == TREE_NONE ? t->first : t->nodes[parent].first;
}

static uint32_t child_of(struct tree *t, uint32_t parent, uint32_t id)
{
	uint32_t at = first_of(t, parent);

	while (at != TREE_NONE && t->nodes[at].f.id != id) {
		at = t->nodes[at].next;
		t->looks++;
	}
	return at;
}

/* How many calls one timed call stands for. */
static double scale_of(const struct tree_figures *f)
{
	return f->timed > 0 && f->calls > 1.05 * f->timed + 2 ? f->calls / f->timed : 1;
}

/* Moves a share of one node into the node of the same method below `to`, which it gives. */
static uint32_t move_node(struct tree *t, uint32_t from, uint32_t to, double share)
{
	struct tree_figures part = t->nodes[from].f;
	struct tree_figures *f = &t->nodes[from].f, *g;
	uint32_t into = child_of(t, to, part.id);

	t->looks++;
	part.calls *= share;
	part.timed *= share;
	part.raw *= share;
	part.depth = t->nodes[to].f.depth + 1;
	f->calls -= part.calls;
	f->timed -= part.timed;
	f->raw -= part.raw;
	if (into == TREE_NONE) {
		into = add_below(t, to, &part);
	} else {
		g = &t->nodes[into].f;
		g->calls += part.calls;
		g->timed += part.timed;
		g->raw += part.raw;
		g->of = part.timed > 0 && g->of != TREE_RAW_ALL ? part.of : g->of;
	}
	return into;
}

/* ... and of what is below it.  `to` is not below `from`, so no node is met twice. */
static void move_share(struct tree *t, uint32_t from, uint32_t to, double share)
{
	uint32_t at = from;

	while (!t->err) {
		uint32_t into = move_node(t, at, to, share);

		if (into == TREE_NONE)
			return;
		if (t->nodes[at].first != TREE_NONE) {
			at = t->nodes[at].first;
			to = into;
			continue;
		}
		while (at != from && t->nodes[at].next == TREE_NONE) {
			at = t->nodes[at].parent;
			to = t->nodes[to].parent;
		}
		if (at == from)
			return;
		at = t->nodes[at].next;
	}
}

/* Calls of `id` that a node is expected to have made while it was not timed. */
static double missing(struct tree *t, uint32_t node, uint32_t id)
{
	double scale = scale_of(&t->nodes[node].f);
	uint32_t below = scale > 1 && t->nodes[node].f.id != id ? child_of(t, node, id) : TREE_NONE;

	return below == TREE_NONE ? 0 : (scale - 1) * t->nodes[below].f.calls;
}

/* Hands the calls found at one node out to its siblings, while there are not too many nodes. */
static void hand_out(struct tree *t, uint32_t from, uint32_t most_nodes)
{
	uint32_t first = first_of(t, t->nodes[from].parent), id = t->nodes[from].f.id;
	double there = t->nodes[from].f.calls, all = 0, most = 0, ratio;

	for (uint32_t a = first; a != TREE_NONE; a = t->nodes[a].next) {
		double want = missing(t, a, id);

		t->looks++;
		all += want;
		if (want > 0)
			most = fmax(most, want / (scale_of(&t->nodes[a].f) - 1));
	}
	if (!(all > 0) || !(there > 0))
		return;
	ratio = fmin(1, there / all);
	if (there - all < there * (0.01 + 4 / sqrt(most)))
		ratio = there / all; /* what would be left is but the luck of the draw */
	for (uint32_t a = first;
	     a != TREE_NONE && !t->err && t->n < most_nodes && t->looks < LOOKS_MAX;
	     a = t->nodes[a].next) {
		double left = t->nodes[from].f.calls, want = missing(t, a, id) * ratio;

		if (want > 0 && left > 0 && t->nodes[a].f.depth < DEPTH_MAX)
			move_share(t, from, a, fmin(1, want / left));
	}
}

static double calls_below(const struct tree *t, uint32_t node)
{
	double sum = 0;

	for (uint32_t at = t->nodes[node].first; at != TREE_NONE; at = t->nodes[at].next)
		sum += t->nodes[at].f.calls;
	return sum;
}

static void gather_below(struct tree *t, uint32_t parent, uint32_t most_nodes)
{
	uint32_t first = first_of(t, parent);
	bool any = false;

	for (uint32_t a = first; a != TREE_NONE; a = t->nodes[a].next) {
		double scale = scale_of(&t->nodes[a].f);

		any |= scale > 1 && t->nodes[a].first != TREE_NONE;
		t->nodes[a].grows = scale * calls_below(t, a);
	}
	for (uint32_t b = first; any && b != TREE_NONE && !t->err && t->looks < LOOKS_MAX;
	     b = t->nodes[b].next)
		hand_out(t, b, most_nodes);
	for (uint32_t a = first; a != TREE_NONE; a = t->nodes[a].next) {
		double after = calls_below(t, a);

		t->nodes[a].grows = after > 0 ? fmax(1, t->nodes[a].grows / after) : 1;
	}
}

/* Of forty methods each of which calls the next, with one in N timed, any may be found below any
 * other that is further out; handed out at all places these are more than any memory holds.  So
 * what would be handed out last stays where it was found. */
void tree_gather(struct tree *t)
{
	uint32_t most_nodes = t->n < (TREE_NONE - MORE) / TIMES ? TIMES * t->n + MORE : TREE_NONE;

	gather_below(t, TREE_NONE, most_nodes);
	for (uint32_t at = 0; at < t->n && !t->err; at++) /* parents stand before children */
		gather_below(t, at, most_nodes);
}
