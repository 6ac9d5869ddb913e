/* SPDX-License-Identifier: Apache-2.0 */
/* The depth of the stack, from the instructions alone. */
#include "base/mem.h"
#include "test.h"
#include "test_check.h"

static const struct {
	const char *label;
	struct text_code method;
	int depth;
} cases[] = {
	{ "nothing", { .code = "return" }, 0 },
	{ "one", { .code = "iconst_0 pop return" }, 1 },
	{ "a long takes two", { .code = "lconst_0 lconst_0 ladd l2i pop return" }, 4 },
	{ "constants", { .code = "ldc !string ldc2_w @long pop2 pop return" }, 3 },
	{ "copies below what is not there",
	  { .code = "iconst_0 iconst_0 dup2_x1 return" },
	  E_VERIFY },
	{ "more copies", { .code = "iconst_0 dup dup_x1 dup2 pop2 pop2 pop return" }, 5 },
	{ "arrays",
	  { .desc = "([[I)V", .code = "aload_0 iconst_0 aaload iconst_0 iaload pop return" },
	  2 },
	{ "dimensions", { .code = "iconst_1 iconst_1 multianewarray @int[][] =2 pop return" }, 2 },
	{ "objects", { .code = "new @A dup invokespecial @A.<init> pop return" }, 2 },
	{ "fields",
	  { .instance = true, .code = "aload_0 iconst_0 putfield @T.i getstatic @T.o pop return" },
	  2 },
	{ "calls",
	  { .code = "iconst_0 lconst_0 invokestatic @T.take(IJ) invokestatic @T.long() pop2 return" },
	  3 },
	{ "dynamic calls", { .code = "iconst_0 invokedynamic @dynamic(I) ~0 pop return" }, 1 },
	{ "the deeper way", { .code = "iconst_0 ifeq ~7 lconst_0 pop2 nop nop return" }, 2 },
	{ "backwards", { .code = "goto ~6 lconst_0 pop2 return iconst_0 ifeq ~-4 return" }, 2 },
	{ "a switch",
	  { .desc = "(I)V",
	    .code = "iload_0 tableswitch =0 =0 ~0 ~19 ~0 ~0 ~0 ~0 ~0 ~19 dconst_0 pop2 return" },
	  2 },
	{ "a handler",
	  { .code = "nop return iconst_0 pop2 return", .handlers = "~0 ~1 ~2 ~0" },
	  2 },
	{ "code that is not reached", { .code = "return lconst_0 pop2 return" }, 0 },
	{ "a subroutine",
	  { .major = 49, .code = "iconst_0 jsr ~5 pop return astore_0 ret =0" },
	  2 },
	{ "a subroutine that stays away",
	  { .major = 49, .code = "jsr ~5 pop return pop return" },
	  1 },
	{ "underflow", { .code = "pop return" }, E_VERIFY },
	{ "two depths", { .code = "iconst_0 ifeq ~4 iconst_0 return" }, E_VERIFY },
};

TEST(measure_finds_the_greatest_depth)
{
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct made_code t = { 0 };
		struct fault f = { 0 };

		if (CHECK_INT(text_open(&t, &cases[i].method, &f), 0, cases[i].label)) {
			int depth = code_max_stack(t.code, &f);

			CHECK_INT(depth, cases[i].depth, cases[i].label);
			CHECK_INT(f.code, depth < 0 ? depth : 0, f.text);
		}
		made_close(&t);
	}
}

TEST(measure_survives_every_failed_allocation)
{
	struct made_code t = { 0 };
	struct fault f = { 0 };
	long n = 0;
	int rc;

	text_open(&t, &(struct text_code){ .code = "iconst_0 ifeq ~4 nop return" }, &f);
	do {
		mem_fail_at(n++);
		f = (struct fault){ 0 };
		rc = code_max_stack(t.code, &f);
		if (rc < 0)
			CHECK_INT(rc, E_NO_MEMORY, f.text);
	} while (rc < 0);
	mem_fail_at(-1);
	CHECK_INT(rc, 1, NULL);
	CHECK(n > 1);
	made_close(&t);
}
