/* SPDX-License-Identifier: Apache-2.0 */
#include "classfile/digest.h"

#include "classes.h"
#include "test.h"

/* Of the code of the only method; releases m. */
static uint64_t digest_of(struct class_maker *m)
{
	struct arena mem;
	struct class *cls;
	uint64_t digest = 0;

	arena_init(&mem);
	if (CHECK_INT(class_read(&mem, maker_bytes(m), &cls, NULL), 0, NULL)) {
		struct slice code = cls->methods[0].code;

		digest = code_digest(&cls->pool, (struct slice){ code.p + 8, get_u32(code.p + 4) });
		class_release(cls);
	}
	maker_release(m);
	arena_release(&mem);
	return digest;
}

/* Digest of the code of the only method of a class in which so many other constants come first. */
static uint64_t digest_behind(unsigned others, double value, const char *called)
{
	struct class_maker m;
	uint64_t bits;
	uint16_t number, ref;

	memcpy(&bits, &value, sizeof(bits));
	maker_init(&m, "p/C", 52);
	while (others--)
		maker_utf8(&m, "in the way");
	number = maker_number(&m, CONST_DOUBLE, bits);
	ref = maker_ref(&m, CONST_METHODREF, "p/Other", called, "(D)V");
	maker_code(&m, ACC_STATIC, "f", "(I)V",
		   (struct maker_code){ .max_stack = 2,
					.max_locals = 1,
					.code = BYTES(OP_ILOAD_0, OP_TABLESWITCH, 0, 0, 0, 0, 0, 18,
						      0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 18,
						      OP_LDC2_W, U2(number), OP_INVOKESTATIC,
						      U2(ref), OP_RETURN) });
	return digest_of(&m);
}

TEST(code_digest_does_not_depend_on_indices)
{
	CHECK(digest_behind(0, 1.5, "g") == digest_behind(7, 1.5, "g"));
	CHECK(digest_behind(0, __builtin_nan(""), "g") == digest_behind(1, __builtin_nan(""), "g"));
}

TEST(code_digest_depends_on_what_constants_hold)
{
	CHECK(digest_behind(0, 1.5, "g") != digest_behind(0, 2.5, "g"));
	CHECK(digest_behind(0, 1.5, "g") != digest_behind(0, 1.5, "h"));
}

/* A branch over an ldc (or an ldc_w), a switch behind it, and a branch back; the target moves. */
static uint64_t digest_across(bool wide, uint8_t distance)
{
	struct class_maker m;
	uint16_t number;

	maker_init(&m, "p/C", 52);
	number = maker_number(&m, CONST_INTEGER, 7);
	maker_code(&m, ACC_STATIC, "f", "(I)V",
		   wide ? (struct maker_code){ .max_stack = 2,
					       .max_locals = 1,
					       .code = BYTES(OP_ILOAD_0, OP_IFEQ, 0,
							     (uint8_t)(distance + 1), OP_LDC_W,
							     U2(number), OP_POP, OP_NOP, OP_ILOAD_0,
							     OP_LOOKUPSWITCH, 0, 0, 0, 0, 10, 0, 0,
							     0, 0, OP_GOTO, 255, 236, OP_RETURN) }
			: (struct maker_code){ .max_stack = 2,
					       .max_locals = 1,
					       .code = BYTES(OP_ILOAD_0, OP_IFEQ, 0, distance,
							     OP_LDC, (uint8_t)number, OP_POP,
							     OP_NOP, OP_ILOAD_0, OP_LOOKUPSWITCH, 0,
							     0, 0, 0, 0, 11, 0, 0, 0, 0, OP_GOTO,
							     255, 236, OP_RETURN) });
	return digest_of(&m);
}

TEST(code_digest_takes_ldc_w_for_ldc)
{
	CHECK(digest_across(false, 6) == digest_across(true, 6));
	CHECK(digest_across(false, 6) != digest_across(false, 7));
	CHECK(digest_across(false, 6) != digest_across(true, 7));
}

TEST(code_digest_takes_any_bytes)
{
	static const uint8_t zero;
	const uint8_t *entries[] = { &zero };
	struct pool pool = { .at = entries, .n = 1 };
	uint8_t code[9];

	for (unsigned op = 0; op < 256; op++) {
		for (unsigned fill = 0; fill < 256; fill += 85) {
			memset(code, (int)fill, sizeof(code));
			code[0] = (uint8_t)op;
			for (size_t n = 0; n <= sizeof(code); n++)
				CHECK(code_digest(&pool, (struct slice){ code, n }) != 0);
		}
	}
}
