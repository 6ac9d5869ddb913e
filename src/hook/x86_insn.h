/* SPDX-License-Identifier: Apache-2.0 */
/* x86_insn.h - how long an instruction of x86-64 is, and what of it depends on where it stands.
 *
 * Not a disassembler: it tells apart what has to be known to move instructions elsewhere.  Opcode
 * maps: Intel SDM volume 2, appendix A.  What is not known is refused, never guessed. */
#ifndef HOOK_X86_INSN_H
#define HOOK_X86_INSN_H

#include "base/slice.h"

enum x86_kind {
	X86_PLAIN,
	X86_JMP,      /* jmp rel8, rel32 */
	X86_JCC,      /* conditional jump rel8, rel32 */
	X86_LOOP,     /* loop, loope, loopne, jrcxz: rel8 alone */
	X86_CALL,     /* call rel32 */
	X86_JMP_FAR,  /* jmp through a register or memory: where to is not known */
	X86_CALL_FAR, /* call likewise */
	X86_RET,
	X86_XBEGIN, /* a transaction's way out, rel32 */
	X86_STOP,   /* hlt, int3, ud2: nothing runs on behind it */
};

struct x86_insn {
	uint8_t n;		 /* bytes */
	uint8_t kind;		 /* enum x86_kind */
	uint8_t opcode;		 /* its last byte; `map` says in which table */
	uint8_t map;		 /* 0: one byte, 1: 0F, 2: 0F 38, 3: 0F 3A, 5 and 6: EVEX only */
	uint8_t opcode_at;	 /* where that byte stands */
	uint8_t disp_at, disp_n; /* displacement of an address; disp_n 0: none */
	uint8_t imm_at, imm_n;	 /* immediate operand, or the distance of a branch */
	bool rip;		 /* the displacement counts from the end of the instruction */
	int64_t distance;	 /* of a branch, from the end of the instruction */
};

/* The instruction that begins at p[0]; gives its length, or 0: unknown, or longer than n. */
size_t x86_insn_read(const uint8_t *p, size_t n, struct x86_insn *out);

static inline bool x86_insn_is_relative(const struct x86_insn *i)
{
	return i->kind == X86_JMP || i->kind == X86_JCC || i->kind == X86_LOOP ||
	       i->kind == X86_CALL || i->kind == X86_XBEGIN;
}

/* Does nothing run on behind it? */
static inline bool x86_insn_ends(const struct x86_insn *i)
{
	return i->kind == X86_JMP || i->kind == X86_JMP_FAR || i->kind == X86_RET ||
	       i->kind == X86_STOP;
}

#endif
