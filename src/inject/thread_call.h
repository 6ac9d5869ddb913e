/* SPDX-License-Identifier: Apache-2.0 */
/* thread_call.h - runs a function in a stopped thread, and puts the thread back.
 *
 * The other threads must go on meanwhile: what is called may need a lock that one of them holds. */
#ifndef INJECT_THREAD_CALL_H
#define INJECT_THREAD_CALL_H

#include "inject/tracee.h"

struct thread_call {
	struct tracee *in;
	struct tracee_thread *th; /* stopped */
	uint64_t code;		  /* where sigframe_return_code() stands in the process */
	struct sigframe_before before;
	uint64_t top; /* below it the stack is free */
};

/* Keeps how the thread is now.  E_IO: its registers cannot be had. */
int thread_call_begin(struct thread_call *c, struct tracee *in, struct tracee_thread *th,
		      uint64_t back, struct fault *f);

/* Puts a text on the thread's stack; its address, or 0. */
uint64_t thread_call_text(struct thread_call *c, const char *text);

/* Calls a function and waits until it has returned.  E_LIMIT when that takes too long: the thread is
 * left to itself then, finishes the call when it can, and goes on where it was.
 * With `result` that is not so: for what is short and takes no lock. */
struct thread_call_function {
	uint64_t at, args[3];
	unsigned ms;
	uint64_t *result; /* NULL: not wanted */
};
int thread_call_run(struct thread_call *c, const struct thread_call_function *fn, struct fault *f);

/* The thread is as it was again, but still stopped. */
int thread_call_end(struct thread_call *c, struct fault *f);

#endif
