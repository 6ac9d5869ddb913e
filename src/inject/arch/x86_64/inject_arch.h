/* SPDX-License-Identifier: Apache-2.0 */
/* inject_arch.h - x86-64: a stopped thread's registers. */
#ifndef INJECT_INJECT_ARCH_H
#define INJECT_INJECT_ARCH_H

#include <stdint.h>
#include <sys/user.h>

typedef struct user_regs_struct inject_regs;

enum {
	INJECT_BELOW = 128,	  /* bytes below the stack pointer that belong to the function */
	INJECT_STATE_MAX = 16384, /* of the vector registers */
	INJECT_STATES = 1,	  /* sets of them */
	INJECT_CODE_BEFORE = 2,	  /* of a system call's instruction */
	INJECT_RESULT_AT = 7,	  /* in the code that returns: what comes before loses the result */
};

#endif
