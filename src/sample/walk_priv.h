/* SPDX-License-Identifier: Apache-2.0 */
/* walk_priv.h - what an architecture provides for the walker (arch/). */
#ifndef SAMPLE_WALK_PRIV_H
#define SAMPLE_WALK_PRIV_H

#include "sample/walk.h"

/* A word of the stack; false: it is not within the bounds. */
static inline bool walk_load(const struct stack_walk *w, uint64_t address, uint64_t *out)
{
	if (address < w->lo || address > w->hi - sizeof(*out) || address & 7)
		return false;
	if (!w->bytes)
		return w->read(address, out, sizeof(*out));
	memcpy(out, w->bytes + (address - w->lo), sizeof(*out));
	return true;
}

/* Where a frame of compiled code is while its beginning or its end runs: sets the caller's registers
 * in w->at, and is true, when the frame is not there, or not whole.  `code` are the bytes at the
 * instruction, of which n may be read. */
bool walk_arch_half_frame(struct stack_walk *w, const struct blob *blob, const uint8_t *code,
			  size_t n);

/* A return address as it is in memory, without the code that signs it. */
uint64_t walk_arch_plain(uint64_t address);

/* The caller of a function that has set up nothing yet; false: not to be had. */
bool walk_arch_bare_return(const struct stack_walk *w, uint64_t *pc, uint64_t *sp);

/* The registers that a signal handler returns to, at its frame. */
bool walk_arch_signal_frame(struct stack_walk *w);

enum { /* of an interpreted frame, words from the frame pointer on */
       WALK_METHOD = -3,
       WALK_SENDER_SP = -1,
};

#endif
