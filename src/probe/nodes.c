/* SPDX-License-Identifier: Apache-2.0 */
/* nodes.c - the call tree of one thread: finding a child, making one, keeping it up to date.
 *
 * A child is looked for in the thread's hash of (parent, method).  The hash is its thread's alone,
 * and grows with the tree; readers go over the nodes in the order in which they were made, where
 * a parent comes before its children.  Heads, one for each method, are in a hash of their own that
 * readers use, too, so it only ever gets new entries at the front of its chains. */
#include "probe/pages.h"

#include <string.h>

enum { NODES_A_PAGE = PAGE / sizeof(struct probe_node) };

static uint32_t hash_of(uint32_t parent, uint32_t id)
{
	uint64_t x = ((uint64_t)parent << 32 | id) * 0x9e3779b97f4a7c15u;

	return (uint32_t)(x >> 40);
}

static uint32_t line_of_parent(const struct probe_thread *t, const struct probe_node *parent)
{
	return parent == &t->root ? 0 : line_of(parent);
}

struct probe_node *nodes_at(const struct probe_thread *t, uint32_t i, uint32_t *page)
{
	if (i % NODES_A_PAGE == 0)
		*page = *page ? TAKE(probe_pages.next[*page]) : TAKE(t->nodes.first);
	return (struct probe_node *)page_at(*page) + i % NODES_A_PAGE;
}

/* ---- how many calls to pass over --------------------------------------------------------- */

/* Uniform from 1 to 2N - 1: N on average, and no rhythm that the program could share. */
uint32_t nodes_gap(uint64_t *random, uint32_t one_in)
{
	return one_in <= 1 ? one_in : 1 + random_below(random, 2 * one_in - 1);
}

/* The first gap, drawn as if this had been going on forever: then each call, also the first ones
 * of a node, is timed with probability 1/N exactly.  Chances of 1, 2 ... 2N - 1 are as
 * 2N - 1, 2N - 2 ... 1, which is how often two of the numbers 0 to 2N - 1 are so far apart. */
static uint32_t first_gap(uint64_t *random, uint32_t one_in)
{
	uint32_t a, b;

	if (one_in <= 1)
		return one_in;
	a = random_below(random, 2 * one_in);
	b = random_below(random, 2 * one_in - 1);
	if (b >= a)
		b++;
	return a > b ? a - b : b - a;
}

/* ---- keeping up with the agent ----------------------------------------------------------- */

static void reset_head(struct probe_head *h, struct probe_node *node, uint32_t epoch)
{
	/* begun - timed - lost stay what they are, summed over the method: they run. */
	STORE(node->begun, node->begun - h->lost);
	STORE(h->lost, 0);
	STORE(h->bytes, 0);
	__atomic_store(&h->squares, &(double){ 0 }, __ATOMIC_RELAXED);
	for (size_t i = 0; i < SEGMENTS; i++)
		for (size_t k = 0; h->counts[i] && k < SEGMENT; k++)
			STORE(h->counts[i][k], 0);
	PUBLISH(h->epoch, epoch);
}

static void reset_node(struct probe_node *node, uint32_t epoch)
{
	STORE(node->begun, node->begun - node->timed);
	STORE(node->calls, 0);
	STORE(node->errors, 0);
	STORE(node->timed, 0);
	STORE(node->sum, 0);
	STORE(node->weighted, 0);
	STORE(node->weight, 0);
	STORE(node->below, 0);
	STORE(node->min, UINT64_MAX);
	STORE(node->max, 0);
	PUBLISH(node->epoch, epoch);
}

static void refresh(struct probe_thread *t, struct probe_node *node, uint32_t id)
{
	uint64_t generation = TAKE(probe.generation);
	const struct probe_method *m = &probe.methods[id];
	uint32_t epoch = LOAD(m->epoch), one_in = LOAD(m->one_in);

	if (node->head->epoch != epoch)
		reset_head(node->head, node, epoch);
	if (node->epoch != epoch)
		reset_node(node, epoch);
	if (node->one_in != one_in) {
		node->one_in = one_in;
		node->skip = first_gap(&t->random, one_in & ~ONE_IN_DATA);
	}
	STORE(node->key, generation | id);
}

/* ---- finding and making ------------------------------------------------------------------ */

struct probe_head *nodes_head(struct probe_thread *t, uint32_t id, bool make)
{
	uint32_t *chain = &t->head[hash_of(0, id) % HEADS];
	struct probe_head *h;

	for (uint32_t line = TAKE(*chain); line; line = LOAD(h->next)) {
		h = line_at(line);
		if (LOAD(h->id) == id)
			return h;
	}
	if (!make)
		return NULL;
	h = pages_cut(&t->heads, sizeof(*h), &t->pages_n);
	if (!h)
		return NULL;
	STORE(h->id, id);
	STORE(h->next, *chain);
	STORE(h->epoch, LOAD(probe.methods[id].epoch));
	PUBLISH(*chain, line_of(h));
	return h;
}

/* Twice as many chains.  Links of nodes are read by their own thread only. */
static void grow_hash(struct probe_thread *t)
{
	uint32_t n = t->nodes_n, page = 0;

	t->hash_mask = t->hash_mask * 2 + 1;
	memset(t->hash, 0, sizeof(t->hash[0]) * (t->hash_mask + 1));
	for (uint32_t i = 0; i < n; i++) {
		struct probe_node *node = nodes_at(t, i, &page);
		uint32_t *chain =
			&t->hash[hash_of(node->parent, (uint32_t)node->key) & t->hash_mask];

		node->hash_next = *chain;
		*chain = line_of(node);
	}
}

static struct probe_node *make(struct probe_thread *t, uint32_t parent, uint32_t id)
{
	struct probe_head *head = nodes_head(t, id, true);
	struct probe_node *node;
	uint32_t *chain;

	node = head ? pages_cut(&t->nodes, sizeof(*node), &t->pages_n) : NULL;
	if (!node)
		return NULL;
	node->recent = &probe_nobody;
	node->parent = parent;
	node->head = head;
	STORE(node->min, UINT64_MAX);
	STORE(node->epoch, head->epoch);
	refresh(t, node, id);
	STORE(node->same_next, head->nodes);
	chain = &t->hash[hash_of(parent, id) & t->hash_mask];
	node->hash_next = *chain;
	*chain = line_of(node);
	PUBLISH(head->nodes, line_of(node));
	PUBLISH(t->nodes_n, t->nodes_n + 1);
	if (t->nodes_n > 2 * t->hash_mask && t->hash_mask < HASH_MAX - 1)
		grow_hash(t);
	return node;
}

static struct probe_node *find(struct probe_thread *t, uint32_t parent, uint32_t id)
{
	struct probe_node *node;
	uint32_t line = t->hash[hash_of(parent, id) & t->hash_mask];

	for (; line; line = node->hash_next) {
		node = node_at(line);
		if (node->parent == parent && (uint32_t)node->key == id)
			return node;
	}
	return NULL;
}

struct probe_node *nodes_find(struct probe_thread *t, struct probe_node *parent, uint32_t id)
{
	return parent == &probe_nowhere ? NULL : find(t, line_of_parent(t, parent), id);
}

struct probe_node *nodes_child(struct probe_thread *t, struct probe_node *parent, uint32_t id)
{
	struct probe_node *node;
	uint32_t from;

	if (parent == &probe_nowhere || t->busy)
		return NULL;
	from = line_of_parent(t, parent);
	STORE(t->busy, 1);
	node = find(t, from, id);
	if (!node)
		node = make(t, from, id);
	else if (node->key != (LOAD(probe.generation) | id))
		refresh(t, node, id);
	STORE(t->busy, 0);
	return node;
}

/* ---- histograms -------------------------------------------------------------------------- */

uint32_t *nodes_counts(struct probe_thread *t, struct probe_head *head, unsigned segment)
{
	uint32_t *counts = head->counts[segment];

	if (counts || t->busy)
		return counts;
	STORE(t->busy, 1);
	counts = pages_cut(&t->heads, SEGMENT * sizeof(*counts), &t->pages_n);
	STORE(t->busy, 0);
	if (counts)
		PUBLISH(head->counts[segment], counts);
	return counts;
}

/* A count is near its end: what matters is how the counts compare. */
void nodes_halve(struct probe_head *head)
{
	for (size_t i = 0; i < SEGMENTS; i++)
		for (size_t k = 0; head->counts[i] && k < SEGMENT; k++)
			STORE(head->counts[i][k], head->counts[i][k] / 2);
}
