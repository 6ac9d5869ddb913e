/* SPDX-License-Identifier: Apache-2.0 */
/* sigframe.h - what an architecture knows of calling a function in a stopped thread.
 *
 * The call looks like that of a signal handler: the thread's registers lie in a frame as the kernel
 * makes one, and the function returns to the instructions with which handlers return
 * (rt_sigreturn).  So the thread gets back to where it was by itself, also when nobody traces it any
 * more.  Pure; arch/x86_64 and arch/aarch64 both have all of it, the build takes one. */
#ifndef INJECT_SIGFRAME_H
#define INJECT_SIGFRAME_H

#include "inject_arch.h"
#include "sample/walk.h"

enum { SIGFRAME_MAX = 2 * INJECT_STATE_MAX };

struct sigframe_state { /* of registers that are not general ones */
	uint8_t bytes[INJECT_STATE_MAX];
	size_t n; /* 0: the processor, or the kernel, does not have them */
};

struct sigframe_before { /* how the thread was found */
	inject_regs regs;
	uint64_t blocked; /* signals */
	struct sigframe_state state[INJECT_STATES];
};

struct sigframe {
	uint8_t bytes[SIGFRAME_MAX];
	size_t n;
	uint64_t at;   /* the address of the first one */
	uint64_t left; /* the instruction behind the system call that leaves it */
};

/* The sets of registers for PTRACE_GETREGSET, in the order in which they are written again. */
extern const int sigframe_states[INJECT_STATES];

struct walk_regs sigframe_walk_regs(const inject_regs *r);

/* The system call in which the thread was interrupted, or -1; `code` are the instructions before and
 * at the program counter, 2 * INJECT_CODE_BEFORE bytes, NULL when they cannot be read. */
long sigframe_syscall(const inject_regs *r, const uint8_t *code);

/* A system call that was only disturbed by the stop goes on as if it had not been; `moved`: the thread
 * runs something else before. */
void sigframe_mend(inject_regs *r, long syscall, bool moved);

/* The bytes of "return from a signal handler". */
struct slice sigframe_return_code(void);

struct sigframe_call {
	uint64_t to, args[3];
	uint64_t code; /* where sigframe_return_code() stands */
	bool for_result; /* what the function gives is wanted: then the thread does not get back by itself */
};

/* Lays the frame below `top`; *go are the registers to begin the call with.  False: the processor has
 * more registers than there is room for. */
bool sigframe_make(const struct sigframe_before *before, uint64_t top,
		   const struct sigframe_call *call, struct sigframe *out, inject_regs *go);

/* Does the thread stand before the system call that leaves this frame?  *result: what the function
 * gave, if that was wanted. */
bool sigframe_is_left(const struct sigframe *f, const inject_regs *r, uint64_t *result);

#endif
