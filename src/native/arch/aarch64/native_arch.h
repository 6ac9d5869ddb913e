/* SPDX-License-Identifier: Apache-2.0 */
/* native_arch.h - aarch64: sizes that C and assembly language share, and what C cannot say. */
#ifndef NATIVE_NATIVE_ARCH_H
#define NATIVE_NATIVE_ARCH_H

#define STUBS 4096
#define STUB_SIZE 64	    /* of a stub, and of its entry */
#define NATIVE_CALL_RET 144 /* of a struct native_call: where its return address is */
#define NATIVE_CALL_SP 160  /* what the stack pointer was, from its begin */

#ifndef __ASSEMBLER__
#include <stdbool.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <ucontext.h>

enum {
	CALL_PUSHES = 0,      /* bytes */
	CALL_SAVED = 17,      /* words in a struct native_call: x0 to x15, x29 */
	PATCH_N = 4,	      /* b */
	SITE_CODE_N = 24,     /* movz, movk w17; ldr x16; br x16; the address */
	SITE_REACH_BITS = 27, /* how far a patch reaches */
};

#define NATIVE_KEEPS /* no compiler can have a function save all registers here: pool.S does */

/* Atomic, since a signal handler of the same thread may come in between. */
static inline void native_add(uint64_t *to, uint64_t n)
{
	__atomic_fetch_add(to, n, __ATOMIC_RELAXED);
}

static inline int32_t native_gettid(void)
{
	register long number __asm__("x8") = SYS_gettid;
	register long tid __asm__("x0");

	__asm__ volatile("svc #0" : "=r"(tid) : "r"(number) : "memory");
	return (int32_t)tid;
}

/* What stands where a return address was; false: a function keeps it wherever it likes. */
static inline bool native_return_at(uintptr_t sp, uintptr_t *ret)
{
	(void)sp, (void)ret;
	return false;
}

static inline uintptr_t native_pc(const ucontext_t *u)
{
	return (uintptr_t)u->uc_mcontext.pc;
}

static inline void native_set_pc(ucontext_t *u, uintptr_t pc)
{
	u->uc_mcontext.pc = pc;
}
#endif
#endif
