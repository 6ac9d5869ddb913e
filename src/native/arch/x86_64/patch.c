/* SPDX-License-Identifier: Apache-2.0 */
/* patch.c - x86-64: a jump of five bytes over the first instructions.
 *
 * The page is swapped whole, so no thread sees a part of the jump.  But a thread may have been
 * interrupted between two of the instructions that are overwritten, perhaps below a signal handler
 * where nobody sees it, and goes on in the middle of the jump.  So its distance is chosen such that
 * every byte on which an instruction began is an int3: the thread traps, and trap.c sends it to the
 * same instruction in the copy (instruction punning; Chamith et al., PLDI 2017).  No thread is ever
 * stopped.
 *
 * Where the highest byte of the distance is such a byte, int3 alone leaves 16 MiB of addresses, which are
 * soon in use: a JVM reserves gigabytes.  So it may be any byte that is no instruction in 64-bit mode. */
#include "native/patch.h"

#include "hook/x86_insn.h"
#include "native/near.h"

static const uint8_t int3 = 0xcc, jmp_rel32 = 0xe9;

/* The first one traps, the others are illegal, whatever follows them. */
static const uint8_t highest[] = { 0xcc, 0x06, 0x07, 0x0e, 0x16, 0x17, 0x1e, 0x1f, 0x27,
				   0x2f, 0x37, 0x3f, 0xea, 0xce, 0x60, 0x61, 0x9a, 0x82 };

size_t patch_skip(struct slice function)
{
	static const uint8_t endbr64[] = { 0xf3, 0x0f, 0x1e, 0xfa };

	return slice_starts(function, (struct slice){ endbr64, sizeof(endbr64) }) ? sizeof(endbr64)
										  : 0;
}

/* A call that moves would leave a return address in the copy, which no unwinder knows. */
static const char *find_call(const struct move *m)
{
	struct x86_insn i;

	for (size_t at = 0; at < m->taken; at += i.n) {
		if (!x86_insn_read(m->from.p + at, m->from.n - at, &i))
			break;
		if (i.kind == X86_CALL || i.kind == X86_CALL_FAR)
			return "it calls another function in its first instructions";
	}
	return NULL;
}

const char *patch_move(struct slice function, struct move *m)
{
	const char *why;

	if (!x86_move(m))
		return m->why;
	why = find_call(m);
	return why ? why : x86_move_inner(function, PATCH_N);
}

void patch_jump(uint8_t out[PATCH_N], uintptr_t at, uintptr_t to)
{
	int32_t distance = (int32_t)(to - (at + PATCH_N));

	out[0] = jmp_rel32;
	memcpy(out + 1, &distance, sizeof(distance));
}

/* The bytes of the distance that must be int3, as a mask. */
static unsigned prescribed(const struct move *m)
{
	unsigned mask = 0;

	for (unsigned i = 1; i < m->n; i++)
		if (m->at[i] < PATCH_N)
			mask |= 1u << (m->at[i] - 1);
	return mask;
}

/* How many of the lower three bytes of the distance are free. */
static unsigned count_free(unsigned mask)
{
	return 3 - ((mask & 1) + (mask >> 1 & 1) + (mask >> 2 & 1));
}

/* The distance with these bytes prescribed and `top` as the highest one; the others are digits of `low`. */
static int32_t distance_of(unsigned mask, uint8_t top, uint32_t low)
{
	uint8_t b[4] = { int3, int3, int3, top };
	int32_t distance;

	for (unsigned i = 0; i < 3; i++)
		if (!(mask >> i & 1)) {
			b[i] = (uint8_t)low;
			low >>= 8;
		}
	memcpy(&distance, b, sizeof(distance));
	return distance;
}

static bool jump_reaches(uintptr_t at, uintptr_t to)
{
	int64_t distance = (int64_t)(to - (at + PATCH_N));

	return distance == (int32_t)distance;
}

/* The place that such a distance leads to if it is free and reaches `code`; else 0. */
static uintptr_t try_place(unsigned mask, uint8_t top, uint32_t low, uintptr_t at, uintptr_t code)
{
	uintptr_t to = at + PATCH_N + (uintptr_t)(intptr_t)distance_of(mask, top, low);

	if (to < UINT64_C(1) << 47 && jump_reaches(to, code) && near_take_at(to, PATCH_N))
		return to;
	return 0;
}

/* What the free ones of the lower three bytes can be, tried in this many places. */
struct lower {
	uint32_t all, tries, step;
};

static struct lower lower_bytes(unsigned mask, uint32_t most)
{
	uint32_t all = 1u << 8 * count_free(mask);

	return all <= most ? (struct lower){ all, all, 1 }
			   : (struct lower){ all, most, all / most | 1 };
}

/* The highest byte is prescribed, too: 16 MiB, and where those are in use others, by SIGILL. */
static uintptr_t find_fixed(unsigned mask, uintptr_t at, uintptr_t code, unsigned *traps)
{
	const struct lower lower = lower_bytes(mask, 1 << 10);
	uintptr_t to = 0;

	for (size_t i = 0; !to && i < COUNT(highest); i++) {
		for (uint32_t k = 0; !to && k < lower.tries; k++)
			to = try_place(mask, highest[i], k * lower.step % lower.all, at, code);
		if (i)
			*traps |= PATCH_ILLEGAL;
	}
	return to;
}

/* From here outwards in steps of 16 MiB: 0, -1, 1, -2 ...; then again with other lower bytes. */
static uintptr_t find_outwards(unsigned mask, uintptr_t at, uintptr_t code)
{
	const struct lower lower = lower_bytes(mask, 1 << 6);
	uintptr_t to = 0;

	for (uint32_t k = 0; !to && k < lower.tries; k++)
		for (unsigned t = 0; !to && t <= UINT8_MAX; t++)
			to = try_place(mask, (uint8_t)(t & 1 ? ~(t >> 1) : t >> 1),
				       k * lower.step % lower.all, at, code);
	return to;
}

static uintptr_t find_landing(unsigned mask, uintptr_t at, uintptr_t code, unsigned *traps)
{
	*traps = mask ? PATCH_TRAPS : 0;
	return mask >> 3 & 1 ? find_fixed(mask, at, code, traps) : find_outwards(mask, at, code);
}

const char *patch_land(const struct move *m, uintptr_t at, uintptr_t code, uint8_t out[PATCH_N],
		       unsigned *traps)
{
	unsigned mask = prescribed(m);
	uint8_t jump[PATCH_N];
	uintptr_t to;

	*traps = 0;
	if (!mask) {
		patch_jump(out, at, code);
		return NULL;
	}
	to = find_landing(mask, at, code, traps);
	if (!to)
		return "the addresses that its jump could lead to are in use";
	patch_jump(jump, to, code);
	if (!near_write(to, jump, sizeof(jump)))
		return "the system allows no new code in this process";
	patch_jump(out, at, to);
	return NULL;
}

void patch_site_code(uint8_t out[SITE_CODE_N], uint32_t number, uintptr_t enter)
{
	out[0] = 0x68; /* push $number */
	memcpy(out + 1, &number, 4);
	memcpy(out + 5, "\xff\x25\0\0\0\0", 6); /* jmp *0(%rip) */
	memcpy(out + 11, &enter, 8);
}
