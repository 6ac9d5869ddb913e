/* SPDX-License-Identifier: Apache-2.0 */
/* native_arch.h - x86-64: sizes that C and assembly language share, and what C cannot say. */
#ifndef NATIVE_NATIVE_ARCH_H
#define NATIVE_NATIVE_ARCH_H

#define STUBS 4096
#define STUB_SIZE 64 /* of a stub, and of its entry */

#ifndef __ASSEMBLER__
#include <stdbool.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <ucontext.h>

enum {
	CALL_PUSHES = 8,      /* bytes */
	PATCH_N = 5,	      /* jmp rel32 */
	SITE_CODE_N = 19,     /* push $number; jmp *native_enter */
	SITE_REACH_BITS = 31, /* how far a patch reaches */
};

/* One instruction: a signal handler of the same thread cannot come in between. */
static inline void native_add(uint64_t *to, uint64_t n)
{
	__asm__ volatile("addq %1, %0" : "+m"(*to) : "er"(n) : "cc");
}

static inline int32_t native_gettid(void)
{
	long tid;

	__asm__ volatile("syscall" : "=a"(tid) : "0"(SYS_gettid) : "rcx", "r11", "memory");
	return (int32_t)tid;
}

/* Was this activation left without a return (longjmp, an exception)?  The place of its return
 * address has another content then; while it holds a stub's address, that may be a tail call. */
static inline bool native_is_dead(uintptr_t sp, uintptr_t stubs, uintptr_t n)
{
	return *(const uintptr_t *)sp - stubs >= n;
}

static inline uintptr_t native_pc(const ucontext_t *u)
{
	return (uintptr_t)u->uc_mcontext.gregs[REG_RIP];
}

static inline void native_set_pc(ucontext_t *u, uintptr_t pc)
{
	u->uc_mcontext.gregs[REG_RIP] = (greg_t)pc;
}
#endif
#endif
