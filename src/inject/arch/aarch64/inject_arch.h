/* SPDX-License-Identifier: Apache-2.0 */
/* inject_arch.h - aarch64: a stopped thread's registers. */
#ifndef INJECT_INJECT_ARCH_H
#define INJECT_INJECT_ARCH_H

#include <stdint.h>
#include <sys/user.h>

typedef struct user_regs_struct inject_regs;

enum {
	INJECT_BELOW = 128,	  /* the ABI promises nothing; leaves room all the same */
	INJECT_STATE_MAX = 16384, /* of the vector registers */
	INJECT_STATES = 2,	  /* sets of them */
	INJECT_CODE_BEFORE = 4,	  /* of a system call's instruction */
};

#endif
