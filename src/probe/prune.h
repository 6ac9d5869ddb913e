/* SPDX-License-Identifier: Apache-2.0 */
/* prune.h - makes room in a thread's tree by taking out its coldest contexts.
 *
 * Only for the thread that writes the tree: its own, or the agent for that of ended threads.  A node
 * with a frame on its thread's stack stays, and so does every node above one that stays; pointers to
 * all other nodes are worth nothing afterwards. */
#ifndef PROBE_PRUNE_H
#define PROBE_PRUNE_H

#include "probe/pages.h"

/* true: there is room now.  false: nothing could be taken out, or the agent reads just now. */
bool prune_own(struct probe_thread *t);
/* The same for the agent: of trees whose threads have ended. */
bool prune_ended(struct probe_thread *t);
uint32_t prune_once(struct probe_thread *t); /* an eighth of it; how many contexts went */

#endif
