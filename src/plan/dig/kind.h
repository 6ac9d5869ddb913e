/* SPDX-License-Identifier: Apache-2.0 */
/* kind.h - what the time of a method goes into, as seen by the frames below it and the states of
 * threads.  Pure. */
#ifndef PLAN_KIND_H
#define PLAN_KIND_H

#include "plan/dig/sample_node.h"

enum kind {
	KIND_CPU,
	KIND_NATIVE, /* code that is not Java and not known to wait */
	KIND_MONITOR,
	KIND_LOCK,
	KIND_SEMAPHORE,
	KIND_SOCKET,
	KIND_DNS,
	KIND_FILE,
	KIND_LOADING,
	KIND_FUTURE,
	KIND_QUEUE,
	KIND_PROCESS,
	KIND_SLEEP,
	KIND_WAIT,
	KIND_THROWING, /* computes, too */
	KINDS
};

const char *kind_text(enum kind k); /* "waits for a lock" */
const char *kind_word(enum kind k); /* "lock", for JSON */

/* Samples of a thread that ended in n in this state: of what kind, as seen from `top`, an ancestor
 * of n or n itself. */
enum kind kind_of(const struct sample_node *n, enum sample_state state,
		  const struct sample_node *top);

/* The thread waited for work, or is one of the JVM's. */
bool kind_is_idle(const struct sample_node *n, enum sample_state state);
/* ... at a queue that the program's code asks itself: what comes may be work, or what it needs to go
 * on. */
bool kind_is_at_queue(const struct sample_node *n, enum sample_state state);

/* How the samples in and below `top` divide; gives their sum. */
uint64_t kind_divide(const struct sample_node *top, uint64_t by[KINDS]);
/* The kind that has most of them; what computes is counted together first. */
enum kind kind_largest(const uint64_t by[KINDS]);
bool kind_is_computing(enum kind k); /* wants a processor */
uint64_t kind_computing(const uint64_t by[KINDS]);

/* What most of the samples that compute in and below top are busy with; NULL: nothing that has a
 * name. */
struct doing {
	const char *word, *text; /* "regex", "matching regular expressions" */
};
const struct doing *kind_doing(const struct sample_node *top);

/* The frame of the JDK below top, or the native one, with most of the samples of a kind: what top
 * calls for it.  NULL: top does it itself. */
const struct sample_node *kind_where(const struct sample_node *top, enum kind kind);

#endif
