/* SPDX-License-Identifier: Apache-2.0 */
/* press.h - compresses what the writer is about to store, in a thread beside it.
 *
 * Both walk over the same list.  Whoever comes to an item first compresses it; the writer waits for the other
 * only while that one is at the very item it needs. */
#ifndef MANAGER_ARCHIVE_PRESS_H
#define MANAGER_ARCHIVE_PRESS_H

#include "base/arena.h"
#include "base/buf.h"

struct press_item {
	struct press_item *next;
	struct slice from;
	struct slice packed; /* set by press_need, in mem */
	struct arena *mem;
	bool is_claimed;
	int pressed; /* by the other: 1, or E_* */
};

struct press;

int press_start(struct press **out);
void press_stop(struct press *p); /* NULL is fine */

/* Of the writer: */
void press_begin(struct press *p, struct press_item *items); /* may be NULL */
int press_need(struct press *p, struct press_item *item); /* 0: it is compressed; or E_NO_MEMORY */
void press_end(struct press *p);			  /* the items may go */

#endif
