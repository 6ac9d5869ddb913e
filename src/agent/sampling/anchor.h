/* SPDX-License-Identifier: Apache-2.0 */
/* anchor.h - where a thread's Java code went into native code, as the JVM notes it.  Of the calling thread;
 * safe in signal handlers. */
#ifndef AGENT_SAMPLING_ANCHOR_H
#define AGENT_SAMPLING_ANCHOR_H

#include "agent/sampling/vm_layout.h"
#include "sample/walk.h"

/* False: no Java code is below.  thread: the JavaThread. */
bool anchor_find(const struct vm_layout *l, uint64_t thread, struct walk_regs *out);

#endif
