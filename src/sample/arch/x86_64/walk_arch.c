/* SPDX-License-Identifier: Apache-2.0 */
/* walk_arch.c - x86-64: how frames of compiled code begin and end, and signals' frames.
 *
 * A method of HotSpot begins and ends like this (N: frame size less what is pushed):
 *
 *	89 84 24 ....		mov %eax,-0x14000(%rsp)		touches the stack below
 *	55			push %rbp
 *	48 81 ec .. or 48 83 ec	sub $N,%rsp			(or the frame in one, rbp stored behind)
 *	...
 *	48 81 c4 .. or 48 83 c4	add $N,%rsp
 *	5d			pop %rbp
 *	49 3b a7 or 49 3b 67	cmp n(%r15),%rsp		is a safepoint wanted?
 *	0f 87			ja ...
 *	c3			ret */
#include "walk_arch.h"

#include <errno.h>

#include "sample/walk_priv.h"

enum { STUB_BEGIN = 16 }; /* bytes of a stub in which its frame is made */

uint64_t walk_arch_plain(uint64_t address)
{
	return address;
}

bool walk_arch_bare_return(const struct stack_walk *w, uint64_t *pc, uint64_t *sp)
{
	*sp = w->at.sp + 8;
	return walk_load(w, w->at.sp, pc);
}

/* The return address is on top, or below the caller's frame pointer. */
static bool leave(struct stack_walk *w, bool pushed)
{
	uint64_t pc, fp = w->at.fp;

	if ((pushed && !walk_load(w, w->at.sp, &fp)) ||
	    !walk_load(w, w->at.sp + (pushed ? 8 : 0), &pc))
		return false;
	w->at.pc = pc;
	w->at.sp += pushed ? 16 : 8;
	w->at.fp = fp;
	return true;
}

/* The frame is there, but rbp is not stored in it yet. */
static bool leave_unsaved(struct stack_walk *w, const struct blob *blob)
{
	uint64_t sp = w->at.sp + 8 * (uint64_t)(uint32_t)blob->frame, pc;

	if (!walk_load(w, sp - 8, &pc))
		return false;
	w->at.pc = pc;
	w->at.sp = sp;
	return true;
}

static bool is(const uint8_t *code, size_t n, const char *bytes, size_t len)
{
	return n >= len && memcmp(code, bytes, len) == 0;
}

static bool is_sub_rsp(const uint8_t *code, size_t n)
{
	return is(code, n, "\x48\x81\xec", 3) || is(code, n, "\x48\x83\xec", 3);
}

bool walk_arch_half_frame(struct stack_walk *w, const struct blob *blob, const uint8_t *code,
			  size_t n)
{
	uint64_t done = w->at.pc - blob->code;

	if (w->at.pc < blob->code)
		return false;
	if (is(code, n, "\xc3", 1) || is(code, n, "\x49\x3b\xa7", 3) ||
	    is(code, n, "\x49\x3b\x67", 3) ||
	    (n > 6 && is(code, n, "\x0f\x87", 2) && is(code + 6, n - 6, "\xc3", 1)))
		return leave(w, false);
	if (is(code, n, "\x5d", 1))
		return leave(w, true);
	if (is(code, n, "\x55", 1)) /* stubs set up a frame pointer as well */
		return leave(w, false);
	if (done && code[-1] == 0x55 &&
	    (is(code, n, "\x48\x89\xe5", 3) || is(code, n, "\x48\x8b\xec", 3)))
		return leave(w, true);
	if (done < STUB_BEGIN && w->at.fp == w->at.sp)
		return leave(w, true);
	if (blob->complete < 0 || done >= (uint64_t)blob->complete)
		return false;
	if (is_sub_rsp(code, n))
		return leave(w, done > 0 && code[-1] == 0x55);
	if (is(code, n, "\x48\x89\x6c\x24", 4) || is(code, n, "\x48\x89\xac\x24", 4))
		return leave_unsaved(w, blob);
	/* Before that one only the stack is touched and rbp is pushed; behind it all is there. */
	for (uint64_t i = 1; done + i < (uint64_t)blob->complete && i < n; i++)
		if (is_sub_rsp(code + i, n - i))
			return leave(w, false);
	return false;
}

/* struct rt_sigframe, as a handler returns to it: a ucontext_t at the stack pointer. */
bool walk_arch_signal_frame(struct stack_walk *w)
{
	enum { REGS = 40 };
	uint64_t at = w->at.sp + REGS, pc, sp, fp;

	if (!walk_load(w, at + 8 * WALK_GREG_RIP, &pc) ||
	    !walk_load(w, at + 8 * WALK_GREG_RSP, &sp) ||
	    !walk_load(w, at + 8 * WALK_GREG_RBP, &fp))
		return false;
	w->at.pc = pc;
	w->at.sp = sp;
	w->at.fp = fp;
	return true;
}

/* The kernel lets the call begin anew, or has given it up:
 *
 *	0f 05			syscall */
bool walk_arch_waited(const void *context, bool (*read)(uint64_t address, void *to, size_t n))
{
	struct walk_regs at = walk_arch_regs(context);
	uint8_t code[2];

	if ((int64_t)at.link == -EINTR) /* rax */
		at.pc -= sizeof(code);
	return read(at.pc, code, sizeof(code)) && code[0] == 0x0f && code[1] == 0x05;
}
