/* SPDX-License-Identifier: Apache-2.0 */
/* native_arch.h - x86-64: sizes that C and assembly language share, and what C cannot say. */
#ifndef NATIVE_NATIVE_ARCH_H
#define NATIVE_NATIVE_ARCH_H

#define STUBS 4096
#define STUB_SIZE 64	   /* of a stub, and of its entry */
#define NATIVE_CALL_RET 40 /* of a struct native_call: where its return address is */
#define NATIVE_CALL_SP 40  /* what the stack pointer was, from its begin */

#ifndef __ASSEMBLER__
#include <stdbool.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <ucontext.h>

enum {
	CALL_PUSHES = 8,      /* bytes */
	CALL_SAVED = 4,	      /* words in a struct native_call */
	PATCH_N = 5,	      /* jmp rel32 */
	SITE_CODE_N = 19,     /* push $number; jmp *native_enter */
	SITE_REACH_BITS = 31, /* how far a patch reaches */
};

/* Such a function saves every register that it changes, but for those of its result. */
#define NATIVE_KEEPS __attribute__((no_caller_saved_registers))

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

/* What stands where a return address was; false: nobody can tell. */
static inline bool native_return_at(uintptr_t sp, uintptr_t *ret)
{
	*ret = *(const uintptr_t *)sp;
	return true;
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
