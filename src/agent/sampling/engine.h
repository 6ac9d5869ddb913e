/* SPDX-License-Identifier: Apache-2.0 */
/* engine.h - takes the samples: what wakes each thread, the signal handler, and two tables of stacks.
 *
 * Threads are woken by a perf event of their own (cpu-clock), or by a timer of the kernel on their
 * processor time where there is no such event; the handler walks its own thread's stack and counts it
 * in the table of now.  The agent's thread swaps the tables, and reads the other one when no handler is
 * in it any more. */
#ifndef AGENT_SAMPLING_ENGINE_H
#define AGENT_SAMPLING_ENGINE_H

#include "agent/sampling/vm_layout.h"
#include "sample/modules.h"
#include "sample/stacks.h"

enum { ENGINE_RATE_MAX = 10000 };

/* NULL: samples are taken from now on; or why not. */
const char *engine_begin(const struct vm_layout *l, uint32_t rate);
void engine_end(void);

void engine_scan(void); /* threads and mapped files; some times a second */

/* The stacks since the last time; NULL: a handler is still in them, ask again.  They are the caller's
 * until it asks again. */
struct stacks *engine_take(void);

const char *engine_name(void); /* "perf events", for people */
uint64_t engine_period_ns(void);

#endif
