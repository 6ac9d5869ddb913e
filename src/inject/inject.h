/* SPDX-License-Identifier: Apache-2.0 */
/* inject.h - libsonde-native.so into a process that runs, and out again.
 *
 * All threads are stopped for the moment that it takes to find one in which a function can be called;
 * that one then calls dlopen, and is put back.  Signals to this process wait until the thread is
 * free again. */
#ifndef INJECT_INJECT_H
#define INJECT_INJECT_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/err.h"

/* `path` is the library's as the process sees it.  When the agent listens: 0. */
int inject_in(pid_t pid, const char *path, unsigned wait_ms, struct fault *f);

struct inject_out {
	bool was_there; /* the library was mapped */
	bool gone;	/* it is not any more, and nothing executable of it is */
	char why[200];	/* it stays: why */
};

/* After the agent has taken out its hooks and its thread has ended. */
int inject_out(pid_t pid, unsigned wait_ms, struct inject_out *out, struct fault *f);

#endif
