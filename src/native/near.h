/* SPDX-License-Identifier: Apache-2.0 */
/* near.h - executable memory within the reach of a jump.
 *
 * Pages are executable and never writable: what goes into them is written through /proc/self/mem.
 * Nothing is given back while the library is there, since a thread may be anywhere in it.  The agent's
 * thread alone. */
#ifndef NATIVE_NEAR_H
#define NATIVE_NEAR_H

#include "base/slice.h"

struct native_range {
	uint64_t at, n;
};

/* `n` bytes at most `reach` away from `at`, on 16.  0: there is no room. */
uintptr_t near_take(uintptr_t at, uint64_t reach, size_t n);

/* n bytes at exactly this address; false: something else is there. */
bool near_take_at(uintptr_t addr, size_t n);

bool near_write(uintptr_t to, const void *from, size_t n);

size_t near_bytes(void); /* mapped in all */

/* The address of a list of struct native_range, which the next call changes; its length. */
uint64_t near_ranges(uint64_t *list);
void near_release(void); /* unmaps all of it: no thread is in there, and none will come */

#endif
