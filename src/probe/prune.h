/* SPDX-License-Identifier: Apache-2.0 */
/* prune.h - makes room in a thread's tree by taking out its coldest contexts, some at a time.
 *
 * Only for the thread that writes the tree: its own, or the agent for that of ended threads.  A
 * node with a frame on its thread's stack stays, and so does every node above one that stays;
 * pointers to all other nodes are worth nothing afterwards. */
#ifndef PROBE_PRUNE_H
#define PROBE_PRUNE_H

#include "probe/pages.h"

/* After a node was wanted, and found or made, or not (NULL): is it time to take some out? */
static inline bool prune_is_due(const struct probe_thread *t, const struct probe_node *node)
{
	return !node || (t->free_n < t->prune.reserve && t == probe_local.mine);
}

/* How many nodes are to be free.  While there is memory to be had, none; but taking out begins
 * before its end, since what goes first makes little room. */
static inline uint32_t prune_reserve(const struct probe_thread *t)
{
	uint32_t many = t->nodes_n / 32;

	if (pages_to_come(t->pages_n) > t->pages_n / 16)
		return 0;
	return many < 512 ? many : 512;
}

/* true: there is room now.  false: nothing could be taken out, or the agent reads just now.  `keep`
 * stays, and may be NULL: then it is tried harder. */
bool prune_own(struct probe_thread *t, const struct probe_node *keep);
/* The same for the agent: of trees whose threads have ended. */
bool prune_ended(struct probe_thread *t);
uint32_t prune_once(struct probe_thread *t); /* an eighth of its leaves; how many contexts went */

#endif
