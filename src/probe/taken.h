/* SPDX-License-Identifier: Apache-2.0 */
/* taken.h - for how long the processor was taken away from a thread, between two moments.
 *
 * By the system, which gave it to another thread, or by the host of a virtual machine: a call that
 * runs meanwhile takes longer, and its method has nothing to do with it.  A thread that has given
 * its processor up by itself waited for something, which is the method's time: nothing is counted
 * then.
 *
 * Both are called by the thread in question.  Each takes about a microsecond. */
#ifndef PROBE_TAKEN_H
#define PROBE_TAKEN_H

#include <stdint.h>

struct taken {
	uint64_t wall_ns, cpu_ns;
	long gave;	    /* how often the thread gave its processor up, so far */
	const void *thread; /* a virtual thread may go on in another one */
};

void taken_begin(struct taken *t);

/* ns that were taken since then, and how many there were in all; negative: not known. */
int64_t taken_end(const struct taken *t, uint64_t *wall_ns);

#endif
