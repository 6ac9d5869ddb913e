/* SPDX-License-Identifier: Apache-2.0 */
/* sigframe.c - aarch64: struct rt_sigframe of the kernel, with the record of the vector registers.
 *
 * A stopped thread that is in a system call stands before its instruction again, with the first
 * argument put back, when the call is to be restarted. */
#include "inject/sigframe.h"

#include <elf.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>

#ifndef NT_ARM_SVE
#define NT_ARM_SVE 0x405
#endif

enum {
	SIGINFO_N = 128,
	RESERVED_N = 4096,
	INSN_N = 4,
	NO_ALTSTACK = 0x77, /* a mode that there is not: the kernel leaves the thread's alone */
	FPSIMD_N = 32 * 16 + 8,
	FPSIMD_RECORD_N = 528,
	LINK = 30,
	SYSCALL_NUMBER = 8, /* the register that holds it */
};

static const uint32_t svc_0 = 0xd4000001, fpsimd_magic = 0x46508001;
static const uint64_t branch_type = 3u << 10; /* of pstate: what kind of jump led here */

/* The vector registers as all processors have them; what SVE adds. */
const int sigframe_states[INJECT_STATES] = { NT_PRFPREG, NT_ARM_SVE };

struct walk_regs sigframe_walk_regs(const inject_regs *r)
{
	return (struct walk_regs){
		.pc = r->pc, .sp = r->sp, .fp = r->regs[29], .link = r->regs[LINK]
	};
}

long sigframe_syscall(const inject_regs *r, const uint8_t *code)
{
	if (code &&
	    (memcmp(code, &svc_0, INSN_N) == 0 || memcmp(code + INSN_N, &svc_0, INSN_N) == 0))
		return (long)r->regs[SYSCALL_NUMBER];
	return -1;
}

static bool waits_for_a_while(const inject_regs *r, long syscall)
{
	if (syscall == SYS_nanosleep)
		return true;
	if (syscall == SYS_clock_nanosleep)
		return !(r->regs[1] & TIMER_ABSTIME);
	return syscall == SYS_futex && ((int)r->regs[1] & FUTEX_CMD_MASK) == FUTEX_WAIT &&
	       r->regs[3];
}

/* The kernel would let it wait for the rest of the time; so that it still does after other
 * instructions were run, it is asked for that by number, as it does itself. */
void sigframe_mend(inject_regs *r, long syscall, bool moved)
{
	if (moved && waits_for_a_while(r, syscall))
		r->regs[SYSCALL_NUMBER] = SYS_restart_syscall;
}

struct slice sigframe_return_code(void)
{
	static const uint8_t code[] = {
		0x68, 0x11, 0x80, 0xd2, /* mov x8, #139 */
		0x01, 0x00, 0x00, 0xd4, /* svc #0 */
	};

	return (struct slice){ code, sizeof(code) };
}

static void put_registers(ucontext_t *u, const inject_regs *r)
{
	for (int i = 0; i <= LINK; i++)
		u->uc_mcontext.regs[i] = r->regs[i];
	u->uc_mcontext.sp = r->sp;
	u->uc_mcontext.pc = r->pc;
	u->uc_mcontext.pstate = r->pstate;
}

/* A head, fpsr, fpcr and the registers; then a head of nothing, which ends the list. */
static void put_state(uint8_t *to, const struct sigframe_state *s)
{
	const uint32_t head[2] = { fpsimd_magic, FPSIMD_RECORD_N };

	memcpy(to, head, sizeof(head));
	memcpy(to + 8, s->bytes + 32 * 16, 8);
	memcpy(to + 16, s->bytes, 32 * 16);
}

bool sigframe_make(const struct sigframe_before *before, uint64_t top,
		   const struct sigframe_call *call, struct sigframe *out, inject_regs *go)
{
	const size_t reserved_at = offsetof(ucontext_t, uc_mcontext.__reserved);
	const size_t n = SIGINFO_N + reserved_at + RESERVED_N;
	ucontext_t u = { .uc_flags = 0 };

	if (before->state[0].n < FPSIMD_N || n > sizeof(out->bytes))
		return false;
	memset(out->bytes, 0, sizeof(out->bytes));
	out->n = n;
	out->left = call->code + sigframe_return_code().n;
	out->at = (top - n) & ~UINT64_C(15);
	put_registers(&u, &before->regs);
	u.uc_stack.ss_flags = NO_ALTSTACK;
	memcpy(&u.uc_sigmask, &before->blocked, sizeof(before->blocked));
	memcpy(out->bytes + SIGINFO_N, &u, reserved_at);
	put_state(out->bytes + SIGINFO_N + reserved_at, &before->state[0]);
	*go = before->regs;
	for (int i = 0; i < 3; i++)
		go->regs[i] = call->args[i];
	go->regs[LINK] = call->code;
	go->pc = call->to;
	go->sp = out->at;
	go->pstate &= ~(uint64_t)branch_type;
	return true;
}

bool sigframe_is_left(const struct sigframe *f, const inject_regs *r, uint64_t *result)
{
	*result = r->regs[0];
	return r->pc == f->left && r->sp == f->at;
}
