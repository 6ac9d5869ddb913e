/* SPDX-License-Identifier: Apache-2.0 */
/* near.h - executable memory within the reach of a jump.
 *
 * Pages are executable and never writable: what goes into them is written through /proc/self/mem.
 * Nothing is given back, since a thread may be anywhere in it.  The agent's
 * thread alone. */
#ifndef NATIVE_NEAR_H
#define NATIVE_NEAR_H

#include "base/slice.h"

/* `n` bytes at most `reach` away from `at`, on 16.  0: there is no room. */
uintptr_t near_take(uintptr_t at, uint64_t reach, size_t n);

/* n bytes at exactly this address; false: something else is there. */
bool near_take_at(uintptr_t addr, size_t n);

bool near_write(uintptr_t to, const void *from, size_t n);

size_t near_bytes(void); /* mapped in all */

#endif
