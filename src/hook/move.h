/* SPDX-License-Identifier: Apache-2.0 */
/* move.h - copies the first instructions of a function elsewhere, so that they do there what they did
 * at their old place.
 *
 * A hook overwrites the first bytes of a function with a jump.  The instructions that stood there go
 * to a new place, followed by a jump back behind them.  What depends on the place (distances of
 * branches, addresses relative to the instruction) is written anew.  Both architectures are built on
 * any host: bytes in, bytes out. */
#ifndef HOOK_MOVE_H
#define HOOK_MOVE_H

#include "base/slice.h"

enum { MOVE_MAX = 16, MOVE_OUT = 128 }; /* instructions; bytes that their copy can take */

struct move {
	/* Set by the caller. */
	struct slice from;  /* the function, as far as it is known */
	uint64_t from_addr; /* where it lies, and where the copy will lie */
	uint64_t to_addr;
	size_t need; /* bytes that will be overwritten at from_addr */
	/* The answer. */
	uint8_t to[MOVE_OUT];
	size_t to_n;
	size_t taken; /* bytes of whole instructions that were moved; at least need */
	unsigned n;   /* instructions; each has moved from at[i] to to_at[i] */
	uint8_t at[MOVE_MAX], to_at[MOVE_MAX];
	bool ends;	 /* nothing runs on behind them, so there is no jump back */
	const char *why; /* why it cannot be done; NULL: done */
};

bool x86_move(struct move *m);
bool a64_move(struct move *m);

/* Does a branch of the function lead into its first `need` bytes, other than to the very first?  What
 * is jumped to through a table is not seen.  NULL: no, else why it cannot be said or that it does. */
const char *x86_move_inner(struct slice function, size_t need);

#endif
