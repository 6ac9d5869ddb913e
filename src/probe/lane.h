/* SPDX-License-Identifier: Apache-2.0 */
/* lane.h - calls that are only counted, counted by woven code itself.
 *
 * While no hook in the program does more than count, a call belongs to its method below its
 * thread's root, and nothing has to be known of it but how many there are.  So a thread gets a
 * table of counts by method, and Java (SondeProbe.count) finds it by the thread's key, a number
 * that is this thread's alone while it lives, and adds one; only a thread's first call comes here.
 * No node is made.  A program that starts calls thousands of methods for the first time and few of
 * them often: what such calls cost is the memory that they touch, and here that is eight bytes,
 * beside those of methods of the same class.
 *
 * Figures and trees are those of all threads together, so a table stays with its slot: the slot's
 * next thread counts on.  It is written by its thread alone.  Readers add up all tables, and what
 * they came to when the method was last reset is taken off.  From the first hook on that does more,
 * nothing is counted here any more, for good; what was counted stays. */
#ifndef PROBE_LANE_H
#define PROBE_LANE_H

#include "probe/inner.h"

enum { LANE_SLOTS = 256 };

struct lane_slot {	  /* the first two words are read by Java */
	uint64_t owner;	  /* its thread's key + 1; 0: free, or its thread is muted */
	uint64_t *counts; /* [PROBE_METHODS]; NULL while the slot was never anybody's */
	uint64_t key;
	const struct probe_thread *taken;
	struct lane_slot *next; /* of those that have counts */
	uint64_t unused[3];
};
_Static_assert(sizeof(struct lane_slot) == LINE, "as SondeProbe.count() knows");

int lane_init(void);
void lane_mute(const struct probe_thread *t, bool begins); /* by its thread */
void lane_release(struct probe_thread *t);		   /* it ends, or has ended */

/* By any thread. */
uint64_t lane_calls(uint32_t id); /* since the last reset */
void lane_reset(uint32_t id);

#endif
