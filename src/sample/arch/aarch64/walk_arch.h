/* SPDX-License-Identifier: Apache-2.0 */
/* walk_arch.h - the registers of a signal's context, and the thread's own address (aarch64). */
#ifndef SAMPLE_WALK_ARCH_H
#define SAMPLE_WALK_ARCH_H

#include <ucontext.h>

#include "sample/walk.h"

/* HotSpot's interpreter keeps the Method in x12. */
static inline struct walk_regs walk_arch_regs(const void *context)
{
	const ucontext_t *u = context;

	return (struct walk_regs){ .pc = u->uc_mcontext.pc,
				   .sp = u->uc_mcontext.sp,
				   .fp = u->uc_mcontext.regs[29],
				   .link = u->uc_mcontext.regs[30],
				   .method = u->uc_mcontext.regs[12] };
}

/* Threads that glibc makes have their descriptor at the upper end of their stack. */
static inline uint64_t walk_arch_thread_pointer(void)
{
	uint64_t v;

	__asm__("mrs %0, tpidr_el0" : "=r"(v));
	return v;
}

/* Did the signal end, or put off, a system call in which the thread waited?  `read` reads memory. */
bool walk_arch_waited(const void *context, bool (*read)(uint64_t address, void *to, size_t n));

#endif
