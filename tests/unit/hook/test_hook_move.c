/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include <string.h>
#include <sys/mman.h>

#include "hook/move.h"
#include "hook/x86_insn.h"

/* ---- x86-64 ------------------------------------------------------------------------------- */

static const struct {
	const char *text;
	uint8_t bytes[16];
	uint8_t n, kind;
	bool rip;
	int64_t distance;
} insns[] = {
	{ "nop", { 0x90 }, 1, X86_PLAIN, false, 0 },
	{ "endbr64", { 0xf3, 0x0f, 0x1e, 0xfa }, 4, X86_PLAIN, false, 0 },
	{ "push %rbp", { 0x55 }, 1, X86_PLAIN, false, 0 },
	{ "mov $imm64,%rax", { 0x48, 0xb8, 1, 2, 3, 4, 5, 6, 7, 8 }, 10, X86_PLAIN, false, 0 },
	{ "mov $imm16,%ax", { 0x66, 0xb8, 1, 2 }, 4, X86_PLAIN, false, 0 },
	{ "mov 16(%rip),%rax", { 0x48, 0x8b, 0x05, 16, 0, 0, 0 }, 7, X86_PLAIN, true, 0 },
	{ "movl $1,8(%rip)", { 0xc7, 0x05, 8, 0, 0, 0, 1, 0, 0, 0 }, 10, X86_PLAIN, true, 0 },
	{ "mov 8(%rsp),%eax", { 0x8b, 0x44, 0x24, 8 }, 4, X86_PLAIN, false, 0 },
	{ "mov 0x10,%eax (no base)", { 0x8b, 0x04, 0x25, 0x10, 0, 0, 0 }, 7, X86_PLAIN, false, 0 },
	{ "movabs 0x...,%al", { 0xa0, 1, 2, 3, 4, 5, 6, 7, 8 }, 9, X86_PLAIN, false, 0 },
	{ "testb $1,(%rax)", { 0xf6, 0x00, 1 }, 3, X86_PLAIN, false, 0 },
	{ "notb (%rax)", { 0xf6, 0x10 }, 2, X86_PLAIN, false, 0 },
	{ "enter $16,$0", { 0xc8, 16, 0, 0 }, 4, X86_PLAIN, false, 0 },
	{ "vzeroupper", { 0xc5, 0xf8, 0x77 }, 3, X86_PLAIN, false, 0 },
	{ "vpermq $1,%ymm0,%ymm1", { 0xc4, 0xe3, 0xfd, 0x00, 0xc8, 1 }, 6, X86_PLAIN, false, 0 },
	{ "vmovdqu64 64(%rsi),%zmm0",
	  { 0x62, 0xf1, 0xfe, 0x48, 0x6f, 0x46, 1 },
	  7,
	  X86_PLAIN,
	  false,
	  0 },
	{ "jmp rel8", { 0xeb, 0xfe }, 2, X86_JMP, false, -2 },
	{ "jmp rel32", { 0xe9, 0, 1, 0, 0 }, 5, X86_JMP, false, 256 },
	{ "jne rel8", { 0x75, 5 }, 2, X86_JCC, false, 5 },
	{ "jne rel32", { 0x0f, 0x85, 0xff, 0xff, 0xff, 0xff }, 6, X86_JCC, false, -1 },
	{ "jrcxz", { 0xe3, 5 }, 2, X86_LOOP, false, 5 },
	{ "call rel32", { 0xe8, 0, 0, 0, 0 }, 5, X86_CALL, false, 0 },
	{ "call *(%rax)", { 0xff, 0x10 }, 2, X86_CALL_FAR, false, 0 },
	{ "notrack jmp *%rax", { 0x3e, 0xff, 0xe0 }, 3, X86_JMP_FAR, false, 0 },
	{ "ret", { 0xc3 }, 1, X86_RET, false, 0 },
	{ "ud2", { 0x0f, 0x0b }, 2, X86_STOP, false, 0 },
	{ "xbegin", { 0xc7, 0xf8, 0, 0, 0, 0 }, 6, X86_XBEGIN, false, 0 },
	{ "push %es (not in 64-bit mode)", { 0x06 }, 0, 0, false, 0 },
	{ "nothing but prefixes",
	  { 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66,
	    0x66, 0x66 },
	  0,
	  0,
	  false,
	  0 },
};

TEST(x86_instructions_have_the_length_and_kind_of_the_manual)
{
	for (size_t i = 0; i < COUNT(insns); i++) {
		struct x86_insn got;
		size_t n = x86_insn_read(insns[i].bytes, sizeof(insns[i].bytes), &got);

		if (!CHECK_INT(n, insns[i].n, insns[i].text) || !n)
			continue;
		CHECK_INT(got.kind, insns[i].kind, insns[i].text);
		CHECK_INT(got.rip, insns[i].rip, insns[i].text);
		CHECK_INT(got.distance, insns[i].distance, insns[i].text);
		CHECK_INT(x86_insn_read(insns[i].bytes, n - 1, &got), 0, "cut off");
	}
}

static bool move_x86(struct move *m, const uint8_t *from, size_t n)
{
	*m = (struct move){
		.from = { from, n }, .from_addr = 0x1000, .to_addr = 0x2000, .need = 5
	};
	return x86_move(m);
}

TEST(x86_addresses_and_branches_lead_to_the_same_places_after_a_move)
{
	static const uint8_t from[] = { 0x48, 0x8b, 0x05, 0x10, 0, 0, 0 }; /* mov 0x1017,%rax */
	static const uint8_t to[] = { 0x48, 0x8b, 0x05, 0x10, 0xf0, 0xff, 0xff, /* the same */
				      0xe9, 0xfb, 0xef, 0xff, 0xff };		/* jmp 0x1007 */
	static const uint8_t inner[] = { 0x85, 0xff, /* 1000: test %edi,%edi */
					 0x74, 0x01, /* 1002: je 1005 */
					 0x55,	     /* 1004: push %rbp */
					 0x75, 0xf9, /* 1005: jne 1000 */
					 0xc3 };
	int32_t distance;
	struct move m;

	CHECK(move_x86(&m, from, sizeof(from)));
	CHECK_MEM(m.to, m.to_n, to, sizeof(to), "RIP-relative");
	CHECK(move_x86(&m, inner, sizeof(inner)));
	CHECK_INT(m.taken, 5, "push is the last one");
	CHECK_INT(m.n, 3, NULL);
	CHECK_INT(m.to[3], 0x84, "je rel32");
	memcpy(&distance, m.to + 4, 4);
	CHECK_INT(0x2008 + distance, 0x1005, "je leads to where it led");
}

TEST(x86_functions_that_cannot_be_moved_say_why)
{
	static const uint8_t shrt[] = { 0x31, 0xc0, 0xc3, 0x55, 0x53, 0x41 };
	static const uint8_t filled[] = { 0x31, 0xc0, 0xc3, 0x66, 0x90 };
	static const uint8_t own[] = { 0x8b, 0x05, 0xfa, 0xff, 0xff, 0xff };
	static const uint8_t tsx[] = { 0xc7, 0xf8, 0, 0, 0, 0 };
	static const uint8_t middle[] = { 0xeb, 0xff, 0xc0, 0x90, 0x90 };
	struct move m;

	CHECK(!move_x86(&m, shrt, sizeof(shrt)));
	CHECK_STR(m.why, "it is too short", NULL);
	CHECK(move_x86(&m, filled, sizeof(filled)) && m.ends);
	CHECK_INT(m.to_n, 3, "no jump back");
	CHECK(!move_x86(&m, own, sizeof(own)));
	CHECK_STR(m.why, "it reads its own code", NULL);
	CHECK(!move_x86(&m, tsx, sizeof(tsx)));
	CHECK(!move_x86(&m, middle, sizeof(middle)) && m.why);
	CHECK(!move_x86(&m, tsx, 0) && m.why);
}

TEST(x86_jumps_into_the_first_instructions_are_seen)
{
	static const uint8_t back[] = { 0x90, 0x90, 0x90, 0x90, 0x90, 0x75, 0xfa, 0xc3 };
	static const uint8_t start[] = { 0x90, 0x90, 0x90, 0x90, 0x90, 0x75, 0xf9, 0xc3 };

	CHECK(x86_move_inner((struct slice){ back, sizeof(back) }, 5) != NULL);
	CHECK(x86_move_inner((struct slice){ start, sizeof(start) }, 5) == NULL);
}

/* ---- aarch64 ------------------------------------------------------------------------------ */

static const struct {
	const char *text;
	uint32_t from;
	uint32_t to[8]; /* up to the first 0 */
} words[] = {
	{ "stp x29, x30, [sp, #-16]!", 0xa9bf7bfd, { 0xa9bf7bfd, 0x17fffc00 } },
	{ "ret", 0xd65f03c0, { 0xd65f03c0 } },
	{ "blr x8: runs on", 0xd63f0100, { 0xd63f0100, 0x17fffc00 } },
	{ "b 0x1400", 0x14000100, { 0x17fffd00 } },
	{ "bl 0x1400", 0x94000100, { 0x97fffd00, 0x17fffc00 } },
	{ "cbz x0, 0x1008",
	  0xb4000040,
	  { 0xb4000040, 0x14000002, 0x17fffc00,
	    0x17fffbfe } }, /* cbz +8; b +8; b 0x1008; b 0x1004 */
	{ "tbnz w1, #3, 0x1008", 0x37180041, { 0x37180041, 0x14000002, 0x17fffc00, 0x17fffbfe } },
	{ "b.eq 0x1000, itself", 0x54000000, { 0x54000040, 0x14000002, 0x17fffffe, 0x17fffbfe } },
	{ "adr x3, 0x1010", 0x10000083, { 0xd2820203, 0x17fffc00 } },
	{ "adrp x3, 0x3000", 0xd0000003, { 0xd2860003, 0x17fffc00 } },
	{ "ldr x5, 0x1010", 0x58000085, { 0xd2820205, 0xf94000a5, 0x17fffbff } },
	{ "ldrsw x5, 0x1010", 0x98000085, { 0xd2820205, 0xb98000a5, 0x17fffbff } },
	{ "ldr q2, 0x1010", 0x9c000082, { 0xd2820211, 0x3dc00222, 0x17fffbff } },
	{ "prfm pldl1keep, 0x1010", 0xd8000080, { 0xd503201f, 0x17fffc00 } },
};

TEST(a64_instructions_do_the_same_after_a_move)
{
	for (size_t i = 0; i < COUNT(words); i++) {
		struct move m = { .from = { (const uint8_t *)&words[i].from, 4 },
				  .from_addr = 0x1000,
				  .to_addr = 0x2000,
				  .need = 4 };
		size_t n = 0;

		while (n < COUNT(words[i].to) && words[i].to[n])
			n++;
		if (CHECK(a64_move(&m)))
			CHECK_MEM(m.to, m.to_n, words[i].to, n * 4, words[i].text);
	}
}

TEST(a64_branches_beyond_their_reach_go_through_a_register)
{
	static const uint32_t from = 0x14000001;		   /* b 0x1004 */
	static const uint32_t want[] = { 0xd2820090, 0xd61f0200 }; /* mov x16, #0x1004; br x16 */
	struct move m = { .from = { (const uint8_t *)&from, 4 },
			  .from_addr = 0x1000,
			  .to_addr = 1ull << 40,
			  .need = 4 };

	CHECK(a64_move(&m));
	CHECK_MEM(m.to, m.to_n, want, sizeof(want), NULL);
}

/* ---- for real ----------------------------------------------------------------------------- */

/* Begins with what compilers begin functions with, and refers to data. */
static int counter;
static __attribute__((noinline)) int real_function(int n)
{
	counter += n;
	return n > 100 ? counter : counter * 3 + n;
}

/* A page before this program, within reach of branches. */
static void *page_nearby(void)
{
	uintptr_t at = (uintptr_t)&counter & ~(uintptr_t)0xfff;

	for (unsigned i = 0; i < 64; i++) {
		void *p;

		at -= 1 << 20;
		p = mmap((void *)at, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
			 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (p == (void *)at)
			return p;
		munmap(p, 4096);
	}
	return NULL;
}

TEST(a_moved_function_of_this_machine_still_works)
{
	union {
		void *p;
		int (*call)(int);
	} copy, original = { .call = real_function };
	struct move m = { .from = { original.p, 64 }, .from_addr = (uintptr_t)original.p };
	bool moved;

	copy.p = page_nearby();
	if (!CHECK(copy.p))
		return;
	m.to_addr = (uintptr_t)copy.p;
#ifdef __x86_64__
	m.need = 5;
	moved = x86_move(&m);
#else
	m.need = 4;
	moved = a64_move(&m);
#endif
	if (CHECK(moved)) {
		memcpy(copy.p, m.to, m.to_n);
		__builtin___clear_cache(copy.p, (char *)copy.p + m.to_n);
		counter = 10;
		CHECK_INT(copy.call(5), 50, "15 * 3 + 5");
		CHECK_INT(copy.call(200), 215, NULL);
		CHECK_INT(original.call(1), 216 * 3 + 1, "the original, too");
	}
	munmap(copy.p, 4096);
}
