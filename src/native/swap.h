/* SPDX-License-Identifier: Apache-2.0 */
/* swap.h - changes bytes of running code by changing whole pages.
 *
 * A changed copy of the page is made and then moved over it.  The kernel takes the old page out of
 * all processors before it puts the new one in (a thread that comes in between waits in a page
 * fault), so every instruction is fetched from the one or the other: no bytes are torn, on no
 * architecture, however many of them change, and nothing is ever writable and executable at once.
 * When the last change of a page is taken back, the file's own page is mapped again where that is
 * still the same.  The agent's thread alone. */
#ifndef NATIVE_SWAP_H
#define NATIVE_SWAP_H

#include "base/slice.h"

enum { SWAP_PAGE = 4096 };

/* Changes n bytes, which lie in one page, or takes that back.  NULL: done; else why not, and nothing
 * has changed.  A change that has gone with its library counts as taken back. */
const char *swap_in(uintptr_t at, const void *bytes, size_t n);
const char *swap_out(uintptr_t at, size_t n);

bool swap_holds(uintptr_t at, size_t n); /* is the change still there? */

/* Of a page on which nothing is changed any more: what runs there now. */
struct swap_state {
	size_t changed;	   /* pages with changes */
	size_t file_again; /* pages that were changed, and are the file's again */
	size_t copies;	   /* ... or have the same bytes, but not from the file */
	size_t different;  /* ... or other bytes: somebody else has changed them meanwhile */
};
void swap_look(struct swap_state *out);

void swap_release(void); /* forgets all pages: nothing of them is changed any more */

#endif
