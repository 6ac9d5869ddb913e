/* SPDX-License-Identifier: Apache-2.0 */
/* engine.h - takes the samples: threads get a signal when they have used so much processor time
 * (wakers.h) or by the clock (tour.h), and its handler walks its own thread's stack and counts it
 * (tables.h); or events of the JVM count (events.h).  The agent's thread. */
#ifndef AGENT_SAMPLING_ENGINE_H
#define AGENT_SAMPLING_ENGINE_H

#include "agent/sampling/vm_layout.h"
#include "sample/modules.h"
#include "sample/stacks.h"

enum { ENGINE_RATE_MAX = 10000, ENGINE_WALL_MAX = 1000 };

/* mode: STACKS_*.  NULL: samples are taken from now on; or why not. */
const char *engine_begin(const struct vm_layout *l, uint32_t rate, unsigned mode);
void engine_end(void);

/* Looks for threads, some times a second; now and then also for mapped files, which takes longer. */
void engine_scan(bool files);

void engine_tick(void);	       /* when this is due: */
uint64_t engine_next_ns(void); /* UINT64_MAX: never */
void engine_finish(void);      /* before the last look at the stacks */

/* The stacks since the last time; NULL: a handler is still in them, ask again.  They are the caller's
 * until it asks again. */
struct stacks *engine_take(void);

uint64_t engine_lost(void); /* samples that never came into a table */

const char *engine_name(void); /* "perf events", for people */
uint64_t engine_period_ns(void);

#endif
