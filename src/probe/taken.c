/* SPDX-License-Identifier: Apache-2.0 */
/* taken.c - a thread that waits for nothing, and has less processor time than time has passed, was
 * kept from running.
 *
 * Linux leaves out of a thread's processor time what the host of a virtual machine took, if the
 * host tells.  The processor time is read outside of the time on the wall, at both ends: so it is
 * rather too much, by what reading it takes, and nothing is counted as taken that was not. */
#define _GNU_SOURCE /* RUSAGE_THREAD */
#include "probe/taken.h"

#include <sys/resource.h>

#include "base/clock.h"
#include "probe/inner.h"

/* Negative: not known. */
static long gave(void)
{
	struct rusage use;

	return getrusage(RUSAGE_THREAD, &use) == 0 ? use.ru_nvcsw : -1;
}

void taken_begin(struct taken *t)
{
	t->thread = &probe_local;
	t->gave = gave();
	t->cpu_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	t->wall_ns = clock_steady_ns();
}

int64_t taken_end(const struct taken *t, uint64_t *wall_ns)
{
	uint64_t wall = clock_steady_ns() - t->wall_ns;
	uint64_t cpu = clock_ns(CLOCK_THREAD_CPUTIME_ID) - t->cpu_ns;

	*wall_ns = wall;
	if (t->thread != &probe_local || t->gave < 0 || gave() != t->gave)
		return -1;
	return wall > cpu ? (int64_t)(wall - cpu) : 0;
}
