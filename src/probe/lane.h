/* SPDX-License-Identifier: Apache-2.0 */
/* lane.h - calls that are only counted, counted by woven code itself.
 *
 * While no hook in the program does more than count, a call belongs to the node of its method
 * below its thread's root.  So a thread gets a table that leads from methods to the words in which
 * such nodes count, and Java (SondeProbe.counted) finds the table by the thread's key, a number that is this
 * thread's alone while it lives, and adds one; only the first call of a method comes here.  The words
 * stay what they were, so readers know nothing of it.
 *
 * A table is good for the generation in which it was begun, as the keys of nodes are.  It is written
 * and used by its thread alone.  From the first hook on that does more, it is over for good. */
#ifndef PROBE_LANE_H
#define PROBE_LANE_H

#include "probe/probe_priv.h"

enum { LANE_SLOTS = 256 };

struct lane_slot {	/* the first three words are read by Java */
	uint64_t owner; /* its thread's key + 1; 0: nobody's, or its thread is muted */
	uint64_t generation;
	uint64_t **table; /* [PROBE_METHODS]; NULL: this call has to come to C */
	uint64_t key;
	const struct probe_thread *taken;
	uint64_t unused[3];
};
_Static_assert(sizeof(struct lane_slot) == LINE, "as SondeProbe.counted() knows");

void lane_mute(const struct probe_thread *t, bool begins); /* by its thread */
/* Its nodes do not stay where they are any more: it counts in C from now on. */
void lane_close(struct probe_thread *t);
void lane_release(struct probe_thread *t); /* it ends, or has ended */

#endif
