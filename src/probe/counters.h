/* SPDX-License-Identifier: Apache-2.0 */
/* counters.h - the processor's own counters, of metered calls: instructions, and what they missed.
 *
 * A thread opens its counters itself when its first metered call begins, at most COUNTERS_THREADS
 * threads at a time: each counter takes a file descriptor of the program's.  They are closed when
 * the thread ends, or by counters_end() from the agent's thread.  No lock, no memory. */
#ifndef PROBE_COUNTERS_H
#define PROBE_COUNTERS_H

#include <stdbool.h>
#include <stdint.h>

#include "probe/probe.h"

enum { COUNTERS = PROBE_COUNTERS, COUNTERS_THREADS = 32 };

/* As perf_event_open() has it. */
struct counter_kind {
	uint32_t type;
	uint64_t config;
};

/* Of one thread; all 0 at first. */
struct counters {
	uint32_t reading;  /* the thread reads them: they must not be closed */
	bool refused;	   /* the system did not want to, or too many have some */
	int fds[COUNTERS]; /* and one; 0: none */
};

/* What metered calls are counted by from now on.  Gives a set of bits: those of them that the
 * system has.  From the agent's thread. */
unsigned counters_begin(const struct counter_kind kinds[COUNTERS]);

/* Nothing any more.  The thread's may be closed from now on. */
void counters_end(void);

/* Of the calling thread; false: not known. */
bool counters_read(struct counters *c, uint64_t out[COUNTERS]);

/* From the thread itself, or when it has ended, or after counters_end().  False: it reads them just
 * now. */
bool counters_close(struct counters *c);

#endif
