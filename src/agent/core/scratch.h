/* SPDX-License-Identifier: Apache-2.0 */
/* scratch.h - memory for one class on its way through the agent, used again for the next one.
 *
 * A program that starts loads thousands of classes, one behind another; what each of them gave back
 * to the heap, and took from it again, the kernel had to fill with zeroes once more.  One room is
 * kept; threads that load classes at the same time make theirs.  Any thread. */
#ifndef AGENT_CORE_SCRATCH_H
#define AGENT_CORE_SCRATCH_H

#include "base/arena.h"
#include "base/buf.h"

struct scratch {
	struct arena mem, work; /* of the class, of one method */
	struct buf out, kept;	/* the woven class, its recipe */
};

struct scratch *scratch_take(void); /* all of it empty; NULL: out of memory */
void scratch_give(struct scratch *r);
void scratch_drop(void); /* the one that is kept */

#endif
