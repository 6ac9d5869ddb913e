/* SPDX-License-Identifier: Apache-2.0 */
/* a64_move.c - moving instructions of aarch64.
 *
 * All are four bytes long, and only seven kinds depend on their place.  An address is put together
 * with up to four moves, so it may be anywhere.  A branch over less than 128 MiB stays one; a longer
 * one, and a load of a vector register, goes through x16 or x17, which are free between functions
 * (AAPCS64: the linker's veneers use them).  A conditional branch has a short reach, so it jumps over
 * its neighbour to a plain one.  Encodings: Arm ARM, C4.1. */
#include "hook/move.h"

enum { A64_N = 4, X16 = 16, X17 = 17 };

static const uint32_t nop = 0xd503201f; /* nop */

enum a64_kind {
	PLAIN,
	B,	/* b label */
	BL,	/* bl label */
	B_COND, /* b.cond label */
	CBZ,	/* cbz, cbnz */
	TBZ,	/* tbz, tbnz */
	ADR,	/* adr, adrp */
	LDR,	/* ldr literal, of an integer register */
	LDR_V,	/* ... of a vector register */
	PRFM,	/* prefetch of a literal */
	JUMP,	/* br, ret and their like: nothing runs on behind it */
};

struct a64 {
	enum a64_kind kind;
	uint64_t target;
};

/* ---- reading ------------------------------------------------------------------------------ */

/* `bits` bits of the instruction from `low` on, as a signed number. */
static int64_t field(uint32_t op, unsigned low, unsigned bits)
{
	return (int64_t)((uint64_t)op << (64 - low - bits)) >> (64 - bits);
}

static uint64_t adr_target(uint32_t op, uint64_t addr)
{
	int64_t imm = field(op, 5, 19) * 4 + (int64_t)(op >> 29 & 3);

	if (op >> 31) /* adrp: pages */
		return (addr & ~(uint64_t)0xfff) + ((uint64_t)imm << 12);
	return addr + (uint64_t)imm;
}

static struct a64 read_load(uint32_t op, uint64_t addr)
{
	struct a64 out = { LDR, addr + (uint64_t)(field(op, 5, 19) * 4) };

	if (op >> 26 & 1)
		out.kind = LDR_V;
	else if (op >> 30 == 3)
		out.kind = PRFM;
	return out;
}

static struct a64 read_insn(uint32_t op, uint64_t addr)
{
	uint64_t near = addr + (uint64_t)(field(op, 5, 19) * 4);

	if ((op & 0xfc000000) == 0x14000000)
		return (struct a64){ B, addr + (uint64_t)(field(op, 0, 26) * 4) };
	if ((op & 0xfc000000) == 0x94000000)
		return (struct a64){ BL, addr + (uint64_t)(field(op, 0, 26) * 4) };
	if ((op & 0xff000000) == 0x54000000) /* b.cond and bc.cond */
		return (struct a64){ B_COND, near };
	if ((op & 0x7e000000) == 0x34000000)
		return (struct a64){ CBZ, near };
	if ((op & 0x7e000000) == 0x36000000)
		return (struct a64){ TBZ, addr + (uint64_t)(field(op, 5, 14) * 4) };
	if ((op & 0x1f000000) == 0x10000000)
		return (struct a64){ ADR, adr_target(op, addr) };
	if ((op & 0x3b000000) == 0x18000000)
		return read_load(op, addr);
	if ((op & 0xfe000000) == 0xd6000000 && (op >> 21 & 7) != 1)
		return (struct a64){ JUMP, 0 }; /* blr and blraa run on */
	return (struct a64){ PLAIN, 0 };
}

/* ---- writing ------------------------------------------------------------------------------ */

static void put(struct move *m, uint32_t op)
{
	memcpy(m->to + m->to_n, &op, A64_N);
	m->to_n += A64_N;
}

/* movz x<reg>, #..., then movk for what is not zero. */
static void put_address(struct move *m, unsigned reg, uint64_t addr)
{
	put(m, 0xd2800000 | (uint32_t)(addr & 0xffff) << 5 | reg);
	for (unsigned i = 1; i < 4; i++)
		if (addr >> (16 * i) & 0xffff)
			put(m, 0xf2800000 | i << 21 | (uint32_t)(addr >> (16 * i) & 0xffff) << 5 |
				       reg);
}

static void put_branch(struct move *m, uint64_t target, bool links)
{
	int64_t distance = (int64_t)(target - (m->to_addr + m->to_n));

	if (distance >= -(1 << 27) && distance < 1 << 27) {
		put(m, (links ? 0x94000000u : 0x14000000u) |
			       ((uint32_t)(distance >> 2) & 0x03ffffff)); /* b, bl */
		return;
	}
	put_address(m, X16, target);
	put(m, (links ? 0xd63f0000u : 0xd61f0000u) | X16 << 5); /* blr, br x16 */
}

/* The branch leads two instructions on, and the one behind it over the long way. */
static void put_conditional(struct move *m, uint32_t op, unsigned bits, uint64_t target)
{
	uint32_t mask = ((1u << bits) - 1) << 5;
	size_t over;

	put(m, (op & ~mask) | 2u << 5);
	over = m->to_n;
	put(m, nop);
	put_branch(m, target, false);
	op = 0x14000000 | (uint32_t)(m->to_n - over) / A64_N; /* b behind it all */
	memcpy(m->to + over, &op, A64_N);
}

/* ldr x, =...: the address goes to the register itself. */
static void put_load(struct move *m, uint32_t op, uint64_t target)
{
	/* ldr w, ldr x, ldrsw, from [x<reg>] */
	static const uint32_t ops[] = { 0xb9400000, 0xf9400000, 0xb9800000 };
	unsigned reg = op & 31, base = reg == 31 ? X16 : reg;

	put_address(m, base, target);
	put(m, ops[op >> 30] | base << 5 | reg);
}

static void put_vector_load(struct move *m, uint32_t op, uint64_t target)
{
	/* ldr s, ldr d, ldr q, from [x17] */
	static const uint32_t ops[] = { 0xbd400000, 0xfd400000, 0x3dc00000 };

	put_address(m, X17, target);
	put(m, ops[op >> 30] | X17 << 5 | (op & 31));
}

static bool copy(struct move *m, uint32_t op, uint64_t addr)
{
	struct a64 i = read_insn(op, addr);

	if (i.kind != PLAIN && i.kind != JUMP && i.kind != ADR &&
	    i.target - m->from_addr < m->need && i.target != m->from_addr) {
		m->why = "it refers to the instructions that move";
		return false;
	}
	if (i.kind != ADR && i.target == m->from_addr)
		i.target = m->to_addr; /* a loop to the first one */
	switch (i.kind) {
	case B:
	case BL:
		put_branch(m, i.target, i.kind == BL);
		break;
	case B_COND:
	case CBZ:
		put_conditional(m, op, 19, i.target);
		break;
	case TBZ:
		put_conditional(m, op, 14, i.target);
		break;
	case ADR:
		put_address(m, op & 31, i.target);
		break;
	case LDR:
		put_load(m, op, i.target);
		break;
	case LDR_V:
		if (op >> 30 == 3) {
			m->why = "it has an instruction that is not known";
			return false;
		}
		put_vector_load(m, op, i.target);
		break;
	case PRFM:
		put(m, nop);
		break;
	default:
		put(m, op);
	}
	m->ends = i.kind == B || i.kind == JUMP;
	return true;
}

bool a64_move(struct move *m)
{
	m->to_n = m->taken = m->n = 0;
	m->ends = false;
	m->why = NULL;
	while (m->taken < m->need) {
		uint32_t op;

		if (m->from.n - m->taken < A64_N || m->ends || m->n == MOVE_MAX ||
		    m->to_n + 8 * A64_N > MOVE_OUT) {
			m->why = "it is too short";
			return false;
		}
		memcpy(&op, m->from.p + m->taken, A64_N);
		m->at[m->n] = (uint8_t)m->taken;
		m->to_at[m->n++] = (uint8_t)m->to_n;
		if (!copy(m, op, m->from_addr + m->taken))
			return false;
		m->taken += A64_N;
	}
	if (!m->ends)
		put_branch(m, m->from_addr + m->taken, false);
	return true;
}
