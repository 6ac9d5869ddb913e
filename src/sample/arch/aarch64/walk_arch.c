/* SPDX-License-Identifier: Apache-2.0 */
/* walk_arch.c - aarch64: how frames of compiled code begin and end, and signals' frames.
 *
 * A method of HotSpot begins and ends like this:
 *
 *	d10.83ff	sub sp, sp, #N
 *	a9..7bfd	stp x29, x30, [sp, #N-16]	(small frames; large ones: stp first, then sub)
 *	...
 *	a9..7bfd	ldp x29, x30, [sp, #N-16]
 *	910.83ff	add sp, sp, #N
 *	...		is a safepoint wanted?
 *	d65f03c0	ret
 *
 * Until the pair is stored, and from when it is loaded again, both are in their registers. */
#include "walk_arch.h"

#include <errno.h>

#include "sample/walk_priv.h"

enum {
	CODE_BITS = 48, /* of an address; what is above them signs it */
	RET = 0xd65f03c0,
};

uint64_t walk_arch_plain(uint64_t address)
{
	return address & (((uint64_t)1 << CODE_BITS) - 1);
}

bool walk_arch_bare_return(const struct stack_walk *w, uint64_t *pc, uint64_t *sp)
{
	*sp = w->at.sp;
	*pc = walk_arch_plain(w->at.link);
	return *pc != 0;
}

static uint32_t insn(const uint8_t *code)
{
	uint32_t v;

	memcpy(&v, code, sizeof(v));
	return v;
}

static bool is_sub_sp(uint32_t i) /* sub sp, sp, #imm{, lsl #12} */
{
	return (i & 0xff8003ff) == 0xd10003ff;
}

static bool is_add_sp(uint32_t i)
{
	return (i & 0xff8003ff) == 0x910003ff;
}

static bool is_store_pair(uint32_t i) /* stp x29, x30, [sp, #imm] or with write-back */
{
	return (i & 0xff407fff) == 0xa9007bfd || (i & 0xffc07fff) == 0xa9807bfd;
}

static bool leave(struct stack_walk *w, uint64_t sp)
{
	w->at.pc = walk_arch_plain(w->at.link);
	w->at.sp = sp;
	return w->at.pc != 0;
}

bool walk_arch_half_frame(struct stack_walk *w, const struct blob *blob, const uint8_t *code,
			  size_t n)
{
	uint64_t done = w->at.pc - blob->code, whole = 8 * (uint64_t)(uint32_t)blob->frame;

	if (w->at.pc < blob->code || n < 4)
		return false;
	if (insn(code) == RET)
		return leave(w, w->at.sp);
	if (is_add_sp(insn(code)) && done >= 4)
		return leave(w, w->at.sp + whole);
	for (unsigned i = 1; i <= 6 && 4 * i <= done; i++) /* behind the end of the frame */
		if (is_add_sp(insn(code - 4 * i)))
			for (unsigned k = 0; k < 8 && 4 * k + 4 <= n; k++)
				if (insn(code + 4 * k) == RET)
					return leave(w, w->at.sp);
	if (blob->complete < 0 || done >= (uint64_t)blob->complete)
		return false;
	if (is_store_pair(insn(code)))
		return leave(w,
			     done >= 4 && is_sub_sp(insn(code - 4)) ? w->at.sp + whole : w->at.sp);
	for (unsigned k = 1; k < 8 && 4 * k + 4 <= n; k++)
		if (is_store_pair(insn(code + 4 * k)))
			return leave(w, w->at.sp);
	return false;
}

/* struct rt_sigframe: siginfo_t, then a ucontext_t. */
bool walk_arch_signal_frame(struct stack_walk *w)
{
	enum { REGS = 128 + 176 + 8, FP = 29, SP = 31, PC = 32 };
	uint64_t at = w->at.sp + REGS, pc, sp, fp, link;

	if (!walk_load(w, at + 8 * PC, &pc) || !walk_load(w, at + 8 * SP, &sp) ||
	    !walk_load(w, at + 8 * FP, &fp) || !walk_load(w, at + 8 * 30, &link))
		return false;
	w->at = (struct walk_regs){ .pc = pc, .sp = sp, .fp = fp, .link = link };
	return true;
}

/* The kernel lets the call begin anew, or has given it up:
 *
 *	d4000001		svc #0 */
bool walk_arch_waited(const void *context, bool (*read)(uint64_t address, void *to, size_t n))
{
	const ucontext_t *u = context;
	uint64_t pc = u->uc_mcontext.pc;
	uint32_t code;

	if ((int64_t)u->uc_mcontext.regs[0] == -EINTR)
		pc -= sizeof(code);
	return read(pc, &code, sizeof(code)) && code == 0xd4000001;
}
