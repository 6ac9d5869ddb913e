/* SPDX-License-Identifier: Apache-2.0 */
/* x86_move.c - moving instructions of x86-64.
 *
 * The copy of an instruction has a length of its own, which does not depend on where it goes: short
 * branches become long ones.  So the places of all copies are known before the first is written, and
 * a branch to an instruction that moves as well leads to its copy. */
#include "hook/move.h"
#include "hook/x86_insn.h"

enum {
	LOOP_N = 9, /* loop +2; jmp +5; jmp rel32 */
	JMP_N = 5,
	JCC_N = 6,
};

static const uint8_t op_jmp_rel32 = 0xe9;

/* ---- places ------------------------------------------------------------------------------- */

static unsigned copied_n(const struct x86_insn *i)
{
	switch (i->kind) {
	case X86_JMP:
		return JMP_N;
	case X86_JCC:
		return JCC_N;
	case X86_LOOP:
		return LOOP_N;
	default:
		return i->n;
	}
}

/* Whatever follows a function up to the next one: nothing runs there. */
static bool is_filler(struct slice s)
{
	static const uint8_t nops[] = { 0x90, 0xcc, 0x00 };
	struct x86_insn i;

	while (s.n) {
		size_t n = x86_insn_read(s.p, s.n, &i);
		bool is_nop = n && i.map == 1 && i.opcode == 0x1f; /* nopw 0(%rax,%rax,1) */

		if (memchr(nops, s.p[0], sizeof(nops)))
			n = 1;
		else if (!is_nop && !(n == 2 && s.p[0] == 0x66 && s.p[1] == 0x90))
			return false;
		s.p += n;
		s.n -= n;
	}
	return true;
}

/* Reads whole instructions until there is room for the jump. */
static bool measure(struct move *m, struct x86_insn *insns)
{
	size_t to = 0;

	while (m->taken < m->need) {
		struct slice left = { m->from.p + m->taken, m->from.n - m->taken };
		struct x86_insn *i = &insns[m->n];

		if (m->ends) { /* the function ends before: the rest must be filler */
			size_t more = m->need - m->taken;

			if (left.n < more || !is_filler((struct slice){ left.p, more })) {
				m->why = "it is too short";
				return false;
			}
			m->taken = m->need;
			return true;
		}
		if (m->n == MOVE_MAX || to + LOOP_N + JMP_N + 15 > MOVE_OUT ||
		    !x86_insn_read(left.p, left.n, i)) {
			m->why = left.n ? "it has an instruction that is not known"
					: "it is too short";
			return false;
		}
		m->at[m->n] = (uint8_t)m->taken;
		m->to_at[m->n] = (uint8_t)to;
		m->n++;
		m->taken += i->n;
		to += copied_n(i);
		m->ends = x86_insn_ends(i);
	}
	return true;
}

/* Where something at this address is found from now on. */
static uint64_t new_place(const struct move *m, uint64_t addr)
{
	for (unsigned i = 0; i < m->n; i++)
		if (addr == m->from_addr + m->at[i])
			return m->to_addr + m->to_at[i];
	return addr;
}

static bool is_within(const struct move *m, uint64_t addr)
{
	return addr - m->from_addr < m->taken;
}

/* ---- copies ------------------------------------------------------------------------------- */

/* Writes a distance from the end of the copy, `end`, to addr at p. */
static bool put_distance(struct move *m, uint8_t *p, uint64_t end, uint64_t addr)
{
	int64_t distance = (int64_t)(addr - end);
	int32_t narrow = (int32_t)distance;

	if (narrow != distance) {
		m->why = "what it refers to is too far from where it would go";
		return false;
	}
	memcpy(p, &narrow, 4);
	return true;
}

static bool copy_branch(struct move *m, const struct x86_insn *i, uint64_t addr)
{
	uint64_t target = addr + i->n + (uint64_t)i->distance;
	uint64_t end = m->to_addr + m->to_n + copied_n(i);
	uint8_t *p = m->to + m->to_n;

	if (is_within(m, target) && new_place(m, target) == target) {
		m->why = "it branches into the middle of an instruction";
		return false;
	}
	target = new_place(m, target);
	switch (i->kind) {
	case X86_JMP:
		p[0] = op_jmp_rel32;
		return put_distance(m, p + 1, end, target);
	case X86_JCC:
		p[0] = 0x0f; /* 0f 8x: jcc rel32; the condition stands in the low half */
		p[1] = (uint8_t)(0x80 | (i->opcode & 0x0f));
		return put_distance(m, p + 2, end, target);
	case X86_LOOP:
		p[0] = i->opcode;
		p[1] = 2;
		p[2] = 0xeb; /* jmp +5 */
		p[3] = JMP_N;
		p[4] = op_jmp_rel32;
		return put_distance(m, p + 5, end, target);
	default:
		memcpy(p, m->from.p + (addr - m->from_addr), i->n);
		return put_distance(m, p + i->imm_at, end, target);
	}
}

static bool copy_plain(struct move *m, const struct x86_insn *i, uint64_t addr)
{
	uint8_t *p = m->to + m->to_n;
	uint64_t target;
	int32_t disp;

	memcpy(p, m->from.p + (addr - m->from_addr), i->n);
	if (!i->rip)
		return true;
	memcpy(&disp, p + i->disp_at, 4);
	target = addr + i->n + (uint64_t)(int64_t)disp;
	if (is_within(m, target)) {
		m->why = "it reads its own code";
		return false;
	}
	return put_distance(m, p + i->disp_at, m->to_addr + m->to_n + i->n, target);
}

static bool copy(struct move *m, const struct x86_insn *i, uint64_t addr)
{
	bool good;

	if (i->kind == X86_XBEGIN) {
		m->why = "it begins a hardware transaction";
		return false;
	}
	good = x86_insn_is_relative(i) ? copy_branch(m, i, addr) : copy_plain(m, i, addr);
	m->to_n += copied_n(i);
	return good;
}

bool x86_move(struct move *m)
{
	struct x86_insn insns[MOVE_MAX];

	m->to_n = m->taken = m->n = 0;
	m->ends = false;
	m->why = NULL;
	if (!measure(m, insns))
		return false;
	for (unsigned i = 0; i < m->n; i++)
		if (!copy(m, &insns[i], m->from_addr + m->at[i]))
			return false;
	if (m->ends)
		return true;
	m->to[m->to_n] = op_jmp_rel32;
	if (!put_distance(m, m->to + m->to_n + 1, m->to_addr + m->to_n + JMP_N,
			  m->from_addr + m->taken))
		return false;
	m->to_n += JMP_N;
	return true;
}

const char *x86_move_inner(struct slice function, size_t need)
{
	struct x86_insn i;

	for (size_t at = 0; at < function.n; at += i.n) {
		uint64_t target;

		if (!x86_insn_read(function.p + at, function.n - at, &i))
			return "it has an instruction that is not known";
		target = at + i.n + (uint64_t)i.distance;
		if (x86_insn_is_relative(&i) && at >= need && target > 0 && target < need)
			return "it jumps back into its first instructions";
	}
	return NULL;
}
