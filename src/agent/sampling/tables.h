/* SPDX-License-Identifier: Apache-2.0 */
/* tables.h - where samples are counted: two tables in fixed memory, of which one is being read.
 *
 * Signal handlers and callbacks, in any thread, are guests: between tables_enter and tables_leave they
 * have the table of now and a buffer for the frames of one stack.  The agent's thread swaps the tables,
 * and reads the other one when no guest is in it any more. */
#ifndef AGENT_SAMPLING_TABLES_H
#define AGENT_SAMPLING_TABLES_H

#include "sample/stacks.h"

enum { TABLES_DEPTH = 512 }; /* frames */

struct tables_guest {
	struct stacks *table;
	uint64_t *spots; /* room for TABLES_DEPTH */
	uint32_t which;
	int buffer;
};

bool tables_begin(void); /* false: memory is out */
/* Waits for guests, and lets no more in.  False: one does not come out, and all must stay as it is. */
bool tables_end(void);
bool tables_are_open(void); /* safe in signal handlers, as are the next two */

/* False: no samples are taken just now, or very many at once. */
bool tables_enter(struct tables_guest *g);
void tables_leave(const struct tables_guest *g);

/* What was counted since the last time; NULL: a guest is still in it, ask again.  It is the caller's until it
 * asks again. */
struct stacks *tables_take(void);
bool tables_swapped(void);    /* and the other one not taken yet */
uint64_t tables_missed(void); /* samples for which no buffer was free */

#endif
