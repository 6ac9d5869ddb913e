/* SPDX-License-Identifier: Apache-2.0 */
/* trap.h - sends threads on that ran into a trap inside a patch (x86-64, see patch.c).
 *
 * A signal that is blocked when such a trap comes ends the process.  So before each patch with traps
 * in it all threads are looked at, and the handler, which might be somebody else's by now. */
#ifndef NATIVE_TRAP_H
#define NATIVE_TRAP_H

#include "base/slice.h"

/* Where a thread goes on that trapped at `at`; 0: not one of ours. */
typedef uintptr_t trap_find(uintptr_t at);

/* Has SIGTRAP handled, and SIGILL if there are illegal instructions.  NULL: they are, in every thread but the
 * calling one; else why that cannot be. */
const char *trap_ready(trap_find *find, bool illegal);

/* The handler goes again, if it is still ours.  False: another one was installed behind it, which may
 * lead to ours: it must stay. */
bool trap_release(void);

#endif
