/* SPDX-License-Identifier: Apache-2.0 */
/* backtrace.h - the frames of a stopped thread of another process. */
#ifndef INJECT_BACKTRACE_H
#define INJECT_BACKTRACE_H

#include "inject/libraries.h"
#include "inject/tracee.h"
#include "sample/walk.h"

enum { BACKTRACE_MAX = 256 };

struct backtrace {
	uint64_t at[BACKTRACE_MAX]; /* of calls 1 less than where they return to */
	unsigned n;
	enum walk_end end; /* WALK_WHOLE: to the thread's first function */
};

void backtrace_take(const struct tracee *t, const struct tracee_thread *th,
		    const struct libraries *l, struct backtrace *out);

#endif
