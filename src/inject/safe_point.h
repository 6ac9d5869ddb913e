/* SPDX-License-Identifier: Apache-2.0 */
/* safe_point.h - may a function be called in a thread just now?
 *
 * What is called loads a library and makes a thread: it takes the locks of the dynamic linker and of
 * malloc.  A thread that holds one of them itself would wait for itself for good.  So its stack is
 * followed to the end; where that is not possible the answer is no. */
#ifndef INJECT_SAFE_POINT_H
#define INJECT_SAFE_POINT_H

#include "inject/libraries.h"
#include "inject/tracee.h"

struct safe_point {
	bool good;
	bool waits;    /* in a system call, and good: the best moment */
	bool loads;    /* it is in the dynamic linker, whose lock others would have to wait for */
	char why[160]; /* not good: what the thread is doing */
};

void safe_point_look(const struct tracee *t, const struct tracee_thread *th,
		     const struct libraries *l, struct safe_point *out);

/* The interrupted system call, or -1. */
long safe_point_syscall(const struct tracee *t, const struct tracee_thread *th);

/* NULL: nothing of that name stands in the way. */
const char *safe_point_name(struct slice name);

/* A system call in which threads wait for others, with no lock of libc's. */
bool safe_point_is_wait(long syscall);

#endif
