/* SPDX-License-Identifier: Apache-2.0 */
/* nodes.h - the call tree of one thread.
 *
 * A tree is written by its thread alone (that of ended threads by the agent); only nodes_at(), and
 * nodes_head() without make, may be called by others. */
#ifndef PROBE_NODES_H
#define PROBE_NODES_H

#include "probe/pages.h"

static inline uint32_t nodes_hash(uint32_t parent, uint32_t id)
{
	return (uint32_t)((((uint64_t)parent << 32 | id) * 0x9e3779b97f4a7c15u) >> 40);
}

/* The chain of the hash that a child is in.  There are hash_n chains, from half of hash_mask + 1 to
 * all of them: those behind have not been split off yet. */
static inline uint32_t *nodes_chain(const struct probe_thread *t, uint32_t parent, uint32_t id)
{
	uint32_t i = nodes_hash(parent, id) & t->hash_mask;

	return &t->hash[i < t->hash_n ? i : i & t->hash_mask >> 1];
}

static inline uint32_t nodes_line(const struct probe_thread *t, const struct probe_node *parent)
{
	return parent == &t->root ? 0 : line_of(parent);
}

/* What is probably the child of that method, and never NULL: its key must be compared. */
static inline struct probe_node *nodes_guess(struct probe_thread *t, struct probe_node *parent,
					     uint32_t id)
{
	struct probe_node *node;
	uint32_t from, line;

	if (UNLIKELY(parent == &probe_nowhere)) /* also when t is NULL */
		return &probe_nobody;
	from = nodes_line(t, parent);
	line = *nodes_chain(t, from, id);
	node = line ? node_at(line) : &probe_nobody;
	return node->parent == from ? node : &probe_nobody;
}

/* The child by the lower half of its key, made if need be, and up to date with what the agent
 * wants.  NULL: no memory. */
struct probe_node *nodes_child(struct probe_thread *t, struct probe_node *parent, uint32_t kid);
/* The same of a certain sort (NODE_SORT), whatever is wanted now: for what began earlier. */
struct probe_node *nodes_of_sort(struct probe_thread *t, struct probe_node *parent, uint32_t kid,
				 uint32_t sort);
/* The child as it is; NULL: there is none. */
struct probe_node *nodes_find(struct probe_thread *t, struct probe_node *parent, uint32_t kid);
/* The head of a method; NULL: there is none, or no memory to make one. */
struct probe_head *nodes_head(struct probe_thread *t, uint32_t id, bool make);
/* Where the metered calls of a node are summed up, made if need be; NULL: no memory. */
struct node_meter *nodes_meter(struct probe_thread *t, const struct probe_node *node);
/* The node number i, as they lie in memory: some are KID_FREE or KID_PRUNED, and a parent may come
 * behind its children.  *page is 0 at first, i goes up by one. */
struct probe_node *nodes_at(const struct probe_thread *t, uint32_t i, uint32_t *page);

/* The child that stands for what was taken out below a node; NULL: no memory. */
struct probe_node *nodes_pruned(struct probe_thread *t, struct probe_node *parent);
void nodes_make_pruned(struct probe_node *node, uint32_t parent); /* of one that was another's */
void nodes_add_pruned(struct probe_thread *t, struct probe_node *node,
		      const struct probe_figures *f);

/* For nodes_prune.c, while there is no reader. */
bool nodes_has_pieces(const struct probe_thread *t); /* room for a head? */
void nodes_drop_window(struct probe_thread *t,
		       struct probe_head *head); /* counts go to the method */
void nodes_drop_old(struct probe_thread *t,
		    struct probe_head *head); /* windows of a head that stays */
void nodes_put_into_hash(struct probe_thread *t, struct probe_node *node);
void nodes_unlink(struct probe_thread *t, struct probe_node *node); /* not one that is KID_PRUNED */
void nodes_set_free(struct probe_thread *t, struct probe_node *node); /* in no chain any more */
void nodes_forget_kin(struct probe_thread *t,
		      const struct probe_node *node); /* what it has besides */
/* The one below a node that is KID_PRUNED, taken out of its chain; NULL: there is none. */
struct probe_node *nodes_take_pruned(struct probe_thread *t, const struct probe_node *parent);

/* Which call from now is timed next, for one in more than one: 1 to 2N - 1. */
uint32_t nodes_gap(uint64_t *random, uint32_t one_in);

void nodes_halve(struct probe_window *w);
/* Adds to a bucket of the histogram.  false: no memory. */
bool nodes_bucket(struct probe_thread *t, struct probe_head *head, unsigned bucket, uint32_t count);

/* While its call is on a stack and nothing is below it, a node is kept from being pruned. */
void nodes_pin(struct probe_node *node);

/* ---- room (nodes_prune.c) -------------------------------------------------------------------- *
 * Takes out the coldest contexts of a tree, some at a time.  Only for the thread that writes the
 * tree: its own, or the agent for that of ended threads.  A node with a frame on its thread's stack
 * stays, and so does every node above one that stays; pointers to all other nodes are worth nothing
 * afterwards. */

/* After a node was wanted, and found or made, or not (NULL): is it time to take some out? */
static inline bool nodes_prune_is_due(const struct probe_thread *t, const struct probe_node *node)
{
	return !node || (t->free_n < t->prune.reserve && t == probe_local.mine);
}

/* How many nodes are to be free.  While there is memory to be had, none; but taking out begins
 * before its end, since what goes first makes little room. */
static inline uint32_t nodes_prune_reserve(const struct probe_thread *t)
{
	uint32_t many = t->nodes_n / 32;

	if (pages_to_come(t->pages_n) > t->pages_n / 16)
		return 0;
	return many < 512 ? many : 512;
}

/* true: there is room now.  false: nothing could be taken out, or the agent reads just now.  `keep`
 * stays, and may be NULL: then it is tried harder. */
bool nodes_prune_own(struct probe_thread *t, const struct probe_node *keep);
/* The same for the agent: of trees whose threads have ended. */
bool nodes_prune_ended(struct probe_thread *t);
uint32_t nodes_prune_once(
	struct probe_thread *t); /* an eighth of its leaves; how many contexts went */

#endif
