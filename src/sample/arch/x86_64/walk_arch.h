/* SPDX-License-Identifier: Apache-2.0 */
/* walk_arch.h - the registers of a signal's context, and the thread's own address (x86-64). */
#ifndef SAMPLE_WALK_ARCH_H
#define SAMPLE_WALK_ARCH_H

#include <ucontext.h>

#include "sample/walk.h"

enum {
	WALK_GREG_RBP = 10,
	WALK_GREG_RBX = 11,
	WALK_GREG_RAX = 13,
	WALK_GREG_RSP = 15,
	WALK_GREG_RIP = 16
};

static inline struct walk_regs walk_arch_regs(const void *context)
{
	const long long *r = ((const ucontext_t *)context)->uc_mcontext.gregs;

	return (struct walk_regs){ .pc = (uint64_t)r[WALK_GREG_RIP],
				   .sp = (uint64_t)r[WALK_GREG_RSP],
				   .fp = (uint64_t)r[WALK_GREG_RBP],
				   .link = (uint64_t)r[WALK_GREG_RAX],
				   .method = (uint64_t)r[WALK_GREG_RBX] };
}

/* Threads that glibc makes have their descriptor at the upper end of their stack. */
static inline uint64_t walk_arch_thread_pointer(void)
{
	uint64_t v;

	__asm__("mov %%fs:0, %0" : "=r"(v));
	return v;
}

/* Did the signal end, or put off, a system call in which the thread waited?  `read` reads memory. */
bool walk_arch_waited(const void *context, bool (*read)(uint64_t address, void *to, size_t n));

#endif
