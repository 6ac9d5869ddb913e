/* SPDX-License-Identifier: Apache-2.0 */
/* compilers.h - the threads of the JVM's compilers: what they have run, and whether they are at
 * work.
 *
 * One thread at a time: who uses it has a lock. */
#ifndef AGENT_HOTSPOT_COMPILERS_H
#define AGENT_HOTSPOT_COMPILERS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum { COMPILERS_MAX = 64 };

struct compilers {
	struct compiler {
		pid_t tid;
		/* TYPE_C1 or TYPE_C2 of probe/types.h; any other than C1 is taken for C2. */
		unsigned type;
		uint64_t ns; /* what it has run, as far as that was reported */
	} all[COMPILERS_MAX];
	unsigned n;
	uint64_t looked; /* CLOCK_MONOTONIC, ns */
};

void compilers_find(struct compilers *c); /* what they have run until now is not reported */

/* What those of one kind have run since this was last asked, in ns of processor time. */
uint64_t compilers_run_by(struct compilers *c, unsigned type);

/* Waits until none has anything to do, for at most so many ms, in which they run for at most so
 * many; false: they have still. */
bool compilers_wait(int ms, int run_ms);

#endif
