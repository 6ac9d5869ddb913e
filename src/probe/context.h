/* SPDX-License-Identifier: Apache-2.0 */
/* context.h - in which contexts a method with sequences is open.
 *
 * What the agent says about methods (struct probe_context) lies in one table of words, set aside by
 * context_init().  A method's block is found through struct probe_method.  Blocks are written by
 * the agent, one thread at a time, and used again; who reads, reads with contexts.version before
 * and after and throws away what it found when that has changed.  No thread waits.
 *
 * A decision is a property of a place in the tree: the methods above it and whether they called
 * each other directly.  So it is made when a node is made or has become out of date, and kept in
 * the node (NODE_CLOSED, NODE_ASKS). */
#ifndef PROBE_CONTEXT_H
#define PROBE_CONTEXT_H

#include "probe/pages.h"

struct context_decision {
	uint32_t one_in; /* for the node: with NODE_* and ONE_IN_DATA */
	bool sure;	 /* false: the agent was writing; ask again at the next call */
};

int context_init(void); /* 0 or E_NO_MEMORY */

/* For a child, by its key's lower half, of the node in a line (0: the root). */
struct context_decision context_decide(uint32_t parent, uint32_t kid);

/* The same for a call on top of the stack, when there is no memory for nodes. */
struct context_decision context_decide_here(uint32_t kid, const struct probe_frame *top);

bool context_has_sequences(uint32_t id);
bool context_is_step(uint32_t id); /* of somebody's sequence */
bool context_opens(uint32_t id);   /* the first of one */
/* Are there calls of it that are on the stack and not reported? */
bool context_may_hide(uint32_t id);

#endif
