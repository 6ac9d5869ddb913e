/* SPDX-License-Identifier: Apache-2.0 */
/* sigframe.c - x86-64: struct rt_sigframe of the kernel, with the xsave area behind it. */
#define _GNU_SOURCE /* REG_RIP */
#include "inject/sigframe.h"

#include <elf.h>
#include <errno.h>
#include <sys/syscall.h>
#include <ucontext.h>

#ifndef NT_X86_XSTATE
#define NT_X86_XSTATE 0x202
#endif

enum {
	RESTART_SYS = 512, /* the kernel's own error codes, include/linux/errno.h */
	RESTART_NOINTR = 513,
	RESTART_NOHAND = 514,
	RESTART_BLOCK = 516,
	SYSCALL_N = 2,		  /* bytes of the instruction */
	RETURN_N = 8,		  /* of the return address, before the context */
	CONTEXT_N = 40 + 256 + 8, /* struct ucontext of the kernel, which glibc's begins with */
	SIGINFO_N = 128,
	LEGACY_N = 512,	    /* the fxsave area at the beginning of the state */
	XCR0_AT = 464,	    /* in there: which parts the processor has in use */
	NO_ALTSTACK = 0x77, /* a mode that there is not: the kernel leaves the thread's alone */
};

static const uint32_t magic_1 = 0x46505853, magic_2 = 0x46505845;
static const uint64_t flags_cleared = 0x40500; /* alignment check, direction, trap */

const int sigframe_states[INJECT_STATES] = { NT_X86_XSTATE };

struct walk_regs sigframe_walk_regs(const inject_regs *r)
{
	return (struct walk_regs){ .pc = r->rip, .sp = r->rsp, .fp = r->rbp };
}

long sigframe_syscall(const inject_regs *r, const uint8_t *code)
{
	(void)code;
	return (long)r->orig_rax;
}

/* Of those that the kernel itself restarts after a stop nothing is to be mended.  Others give EINTR,
 * though no handler ran; for them nothing has happened yet. */
void sigframe_mend(inject_regs *r, long syscall, bool moved)
{
	static const short plain[] = {
		SYS_epoll_wait, SYS_epoll_pwait,     441 /* epoll_pwait2 */,
		SYS_recvfrom,	SYS_recvmsg,	     SYS_sendto,
		SYS_sendmsg,	SYS_accept,	     SYS_accept4,
		SYS_semop,	SYS_semtimedop,	     SYS_msgrcv,
		SYS_msgsnd,	SYS_rt_sigtimedwait, SYS_io_getevents,
	};

	(void)moved;
	for (size_t i = 0; i < COUNT(plain); i++)
		if (syscall == plain[i] && (long)r->rax == -EINTR)
			r->rax = (unsigned long long)-RESTART_NOHAND;
}

/* As the kernel would: of what it keeps to go on with, a frame knows nothing. */
static void settle(inject_regs *r)
{
	if ((long)r->orig_rax < 0)
		return;
	switch (-(long)r->rax) {
	case RESTART_SYS:
	case RESTART_NOINTR:
	case RESTART_NOHAND:
		r->rax = r->orig_rax;
		r->rip -= SYSCALL_N;
		break;
	case RESTART_BLOCK:
		r->rax = (unsigned long long)-EINTR;
		break;
	default:
		break;
	}
}

struct slice sigframe_return_code(void)
{
	static const uint8_t code[] = {
		0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, /* mov $15, %rax */
		0x0f, 0x05,			 /* syscall */
	};

	return (struct slice){ code, sizeof(code) };
}

static void put_registers(ucontext_t *u, const inject_regs *from)
{
	inject_regs r = *from;
	greg_t *g = u->uc_mcontext.gregs;

	settle(&r);
	g[REG_R8] = (greg_t)r.r8, g[REG_R9] = (greg_t)r.r9;
	g[REG_R10] = (greg_t)r.r10, g[REG_R11] = (greg_t)r.r11;
	g[REG_R12] = (greg_t)r.r12, g[REG_R13] = (greg_t)r.r13;
	g[REG_R14] = (greg_t)r.r14, g[REG_R15] = (greg_t)r.r15;
	g[REG_RDI] = (greg_t)r.rdi, g[REG_RSI] = (greg_t)r.rsi;
	g[REG_RBP] = (greg_t)r.rbp, g[REG_RBX] = (greg_t)r.rbx;
	g[REG_RDX] = (greg_t)r.rdx, g[REG_RAX] = (greg_t)r.rax;
	g[REG_RCX] = (greg_t)r.rcx, g[REG_RSP] = (greg_t)r.rsp;
	g[REG_RIP] = (greg_t)r.rip, g[REG_EFL] = (greg_t)r.eflags;
	g[REG_CSGSFS] = (greg_t)(r.cs | r.ss << 48);
}

/* The state as the kernel marks it in a frame: with its size, and with an end. */
static void put_state(uint8_t *to, const struct sigframe_state *s)
{
	const uint32_t n = (uint32_t)s->n, with_end = n + (uint32_t)sizeof(magic_2);
	uint64_t used;

	memcpy(to, s->bytes, s->n);
	memcpy(&used, s->bytes + XCR0_AT, sizeof(used));
	memset(to + XCR0_AT, 0, LEGACY_N - XCR0_AT);
	memcpy(to + XCR0_AT, &magic_1, 4);
	memcpy(to + XCR0_AT + 4, &with_end, 4);
	memcpy(to + XCR0_AT + 8, &used, 8);
	memcpy(to + XCR0_AT + 16, &n, 4);
	memcpy(to + s->n, &magic_2, sizeof(magic_2));
}

bool sigframe_make(const struct sigframe_before *before, uint64_t top,
		   const struct sigframe_call *call, struct sigframe *out, inject_regs *go)
{
	const struct sigframe_state *s = &before->state[0];
	ucontext_t u = { .uc_flags = 7 /* UC_FP_XSTATE, and that ss counts */ };
	uint64_t state_at = (top - s->n - sizeof(magic_2)) & ~UINT64_C(63);
	uint64_t back = call->code + (call->for_result ? INJECT_RESULT_AT : 0);
	uint64_t at = ((state_at - SIGINFO_N - CONTEXT_N - RETURN_N) & ~UINT64_C(15)) - 8;

	if (s->n < LEGACY_N || top - at > sizeof(out->bytes))
		return false;
	memset(out->bytes, 0, sizeof(out->bytes));
	out->at = at;
	out->left = call->code + sigframe_return_code().n;
	out->n = (size_t)(state_at - at + s->n + sizeof(magic_2));
	put_registers(&u, &before->regs);
	u.uc_stack.ss_flags = NO_ALTSTACK;
	u.uc_mcontext.fpregs = (void *)(uintptr_t)state_at;
	memcpy(out->bytes, &back, sizeof(back));
	memcpy(out->bytes + RETURN_N, &u, CONTEXT_N - sizeof(before->blocked));
	memcpy(out->bytes + RETURN_N + CONTEXT_N - sizeof(before->blocked), &before->blocked,
	       sizeof(before->blocked));
	put_state(out->bytes + (state_at - at), s);
	*go = before->regs;
	go->rip = call->to;
	go->rsp = at;
	go->rdi = call->args[0], go->rsi = call->args[1], go->rdx = call->args[2];
	go->rax = 0;
	go->eflags &= ~flags_cleared;
	go->orig_rax = (unsigned long long)-1; /* nothing is to be restarted */
	return true;
}

bool sigframe_is_left(const struct sigframe *f, const inject_regs *r, uint64_t *result)
{
	*result = r->orig_rax;
	return r->rip == f->left && r->rsp == f->at + RETURN_N;
}
