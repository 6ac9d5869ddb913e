/* SPDX-License-Identifier: Apache-2.0 */
/* merge_trees.c - the trees of all threads as one.
 *
 * A table says for each node what it was merged into; where a node comes before its parent, those
 * above it are merged first.  All of this is in memory that is mapped for the one call and given
 * back at its end. */
#include "probe/lane.h"
#include "probe/nodes.h"

#include "base/err.h"

struct merged {
	uint32_t id, parent;
	uint32_t first, last, next; /* children; next of the same parent */
	uint32_t hash_next;
	bool shows; /* it, or something below it, has figures */
	struct probe_figures f;
};

struct merger {
	struct merged *nodes; /* 0 is the root */
	uint32_t n, cap;
	uint32_t *hash, mask;
	uint32_t *into; /* by a node's line / 2 */
	size_t into_bytes;
};

static int merger_init(struct merger *m)
{
	struct probe_thread *t;
	uint32_t i = 0;

	*m = (struct merger){ .n = 1, .cap = 64, .mask = 63 };
	while ((t = thread_next(&i)) != NULL)
		m->cap += TAKE(t->nodes_n);
	for (uint32_t id = 0; id < probe.methods_n; id++)
		m->cap += lane_calls(id) != 0;
	while (m->mask < m->cap)
		m->mask = m->mask * 2 + 1;
	m->into_bytes = ((size_t)probe_pages.total + 1) * (PAGE / sizeof(struct probe_node)) *
			sizeof(*m->into);
	m->nodes = pages_map(m->cap * sizeof(*m->nodes));
	m->hash = pages_map(((size_t)m->mask + 1) * sizeof(*m->hash));
	m->into = pages_map(m->into_bytes);
	return m->nodes && m->hash && m->into ? 0 : E_NO_MEMORY;
}

static void merger_release(struct merger *m)
{
	pages_unmap(m->nodes, m->cap * sizeof(*m->nodes));
	pages_unmap(m->hash, ((size_t)m->mask + 1) * sizeof(*m->hash));
	pages_unmap(m->into, m->into_bytes);
}

static uint32_t child_of(struct merger *m, uint32_t parent, uint32_t id)
{
	uint64_t x = ((uint64_t)parent << 32 | id) * 0x9e3779b97f4a7c15u;
	uint32_t *chain = &m->hash[(uint32_t)(x >> 32) & m->mask], at;
	struct merged *node, *above = &m->nodes[parent];

	for (at = *chain; at; at = m->nodes[at].hash_next)
		if (m->nodes[at].parent == parent && m->nodes[at].id == id)
			return at;
	if (m->n == m->cap)
		return 0;
	at = m->n++;
	node = &m->nodes[at];
	*node = (struct merged){ .id = id, .parent = parent, .hash_next = *chain };
	node->f.min = UINT64_MAX;
	*chain = at;
	if (above->last)
		m->nodes[above->last].next = at;
	else
		above->first = at;
	above->last = at;
	return at;
}

static void take_in_one(struct merger *m, const struct probe_node *node, uint32_t up)
{
	uint32_t kid = node_kid(node), id = kid & KID_PRUNED ? PROBE_PRUNED : kid & KID_ID;
	uint32_t at = child_of(m, up, id);
	uint32_t epoch = LOAD(probe.methods[kid & KID_PRUNED ? 0 : id].epoch);

	m->into[line_of(node) / 2] = at;
	if (!at)
		return;
	sums_of_node(&m->nodes[at].f, node, epoch);
	meter_of_node(&m->nodes[at].f.metered, node, epoch);
}

/* With those above it that were not met yet.  Nodes that came up after merger_init() counted may
 * not find room any more; they and what is below them are too young to be missed. */
static void take_in_path(struct merger *m, const struct probe_node *node)
{
	const struct probe_node *path[PROBE_DEPTH + 2];
	unsigned n = 0;
	uint32_t up = 0;

	for (;;) {
		if (n == sizeof(path) / sizeof(path[0]))
			return; /* deeper than any stack: read while it changed */
		path[n++] = node;
		if (!node->parent)
			break;
		up = m->into[node->parent / 2];
		if (up)
			break;
		node = node_at(node->parent);
	}
	while (n > 0) {
		take_in_one(m, path[--n], up);
		up = m->into[line_of(path[n]) / 2];
		if (!up)
			return;
	}
}

static void take_in(struct merger *m, struct probe_thread *t)
{
	uint32_t n = TAKE(t->nodes_n), page = 0;

	for (uint32_t i = 0; i < n; i++) {
		const struct probe_node *node = nodes_at(t, i, &page);

		if (!(node_kid(node) & KID_FREE) && !m->into[line_of(node) / 2])
			take_in_path(m, node);
	}
}

/* Calls that are only counted have no nodes: they are all below the root. */
static void take_in_lanes(struct merger *m)
{
	for (uint32_t id = 0; id < probe.methods_n; id++) {
		uint64_t calls = lane_calls(id);
		uint32_t at = calls ? child_of(m, 0, id) : 0;

		if (at)
			m->nodes[at].f.calls += calls;
	}
}

/* Of the calls that methods share, most were taken out of a tree, and a node there stands for them.
 * The others never had a context: their thread has no tree, or no memory was left.  For these there
 * is one below the root.  Their time is in that of the call above them, if that has a node. */
static void take_in_shared(struct merger *m)
{
	uint64_t calls = 0, pruned = 0;
	uint32_t at;

	for (uint32_t id = 0; id < probe.methods_n; id++)
		calls += LOAD(probe.methods[id].calls);
	for (at = 1; at < m->n; at++)
		if (m->nodes[at].id == PROBE_PRUNED)
			pruned += m->nodes[at].f.calls;
	at = calls > pruned ? child_of(m, 0, PROBE_PRUNED) : 0; /* less: one method was reset */
	if (at)
		m->nodes[at].f.calls += calls - pruned;
}

static void visit_all(struct merger *m, probe_visit *visit, void *ctx)
{
	unsigned depth = 0;
	uint32_t at;

	for (at = m->n - 1; at > 0; at--) {
		struct merged *node = &m->nodes[at];

		if (node->f.calls || node->f.timed || node->f.errors)
			node->shows = true;
		if (node->shows)
			m->nodes[node->parent].shows = true;
	}
	at = m->nodes[0].first;
	while (at) {
		const struct merged *node = &m->nodes[at];

		if (node->shows)
			visit(ctx, node->id, depth, &node->f);
		if (node->shows && node->first) {
			at = node->first;
			depth++;
			continue;
		}
		while (!m->nodes[at].next && m->nodes[at].parent) {
			at = m->nodes[at].parent;
			depth--;
		}
		at = m->nodes[at].next;
	}
}

int probe_tree(probe_visit *visit, void *ctx)
{
	struct probe_thread *t;
	struct merger m;
	uint32_t i = 0;
	int rc = 0;

	if (!probe.ready)
		return 0;
	rc = merger_init(&m);
	if (rc < 0)
		goto done;
	sums_begin();
	take_in_lanes(&m);
	while ((t = thread_next(&i)) != NULL)
		take_in(&m, t);
	take_in_shared(&m);
	sums_end();
	visit_all(&m, visit, ctx);
done:
	merger_release(&m);
	return rc;
}
