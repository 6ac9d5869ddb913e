/* SPDX-License-Identifier: Apache-2.0 */
/* windows.h - what was measured in windows with closed hooks (in_place.h): the methods alone, and how
 * fast the program was with hooks and without.
 *
 * Written by the agent's thread; reported by any. */
#ifndef AGENT_SERVE_WINDOWS_H
#define AGENT_SERVE_WINDOWS_H

#include "base/buf.h"
#include "probe/solo.h"

/* A method's calls in one window.  Windows between two windows_block are close together. */
struct found_window {
	const struct solo_sum *sum;
	unsigned rest; /* calls that passed for each that was measured: it stands for them, too */
	bool calm;     /* the system took no processor away meanwhile */
};
void windows_alone(uint32_t id, const struct found_window *w);
uint32_t windows_cut(uint32_t id); /* one was too long; how many that is now */
/* How its calls are to be measured, by how long they are; all zero: not known. */
struct solo_way windows_way(uint32_t id);

/* A block with open hooks, or with closed ones, has ended. */
void windows_block(bool open, uint64_t ticks);
/* In a block with open hooks marks came at so many a tick, and without hooks at so many. */
void windows_speed(double open, double closed, uint64_t ticks);

/* Messages `solo` and `program`, if there is anything to tell. */
struct found_more {
	uint64_t open, closed; /* ticks of the block that has not ended yet */
	uint32_t flags;	       /* PROGRAM_* */
};
void windows_put(struct buf *out, const struct found_more *more);
void windows_reset(void);
void windows_forget(uint32_t id); /* it is another method from now on */

#endif
