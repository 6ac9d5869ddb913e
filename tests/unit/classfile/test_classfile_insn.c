/* SPDX-License-Identifier: Apache-2.0 */
/* Editing: insert, remove, replace, move, copy. */
#include "test.h"

#include "classes.h"
#include "classfile/insn.h"

#define CODE STATIC_BYTES

static const struct {
	int32_t value;
	struct slice want;
} ints[] = {
	{ -1, CODE(OP_ICONST_M1) },
	{ 0, CODE(OP_ICONST_0) },
	{ 5, CODE(OP_ICONST_5) },
	{ 6, CODE(OP_BIPUSH, 6) },
	{ -2, CODE(OP_BIPUSH, 254) },
	{ 127, CODE(OP_BIPUSH, 127) },
	{ -128, CODE(OP_BIPUSH, 128) },
	{ 128, CODE(OP_SIPUSH, 0, 128) },
	{ -32768, CODE(OP_SIPUSH, 128, 0) },
	{ 32767, CODE(OP_SIPUSH, 127, 255) },
	{ 32768, CODE(OP_LDC, 8) },
	{ INT32_MIN, CODE(OP_LDC, 8) },
};

TEST(insn_int_takes_the_shortest_form)
{
	for (size_t i = 0; i < COUNT(ints); i++) {
		struct made_code t = { 0 };
		struct slice got;

		if (CHECK_INT(made_open(&t, 52, (struct maker_code){ .code = BYTES(OP_RETURN) },
					NULL),
			      0, NULL)) {
			CHECK_INT(t.cls->pool.n, 8, "the index that the table expects");
			insn_after(t.code, t.code->start, insn_int(t.code, ints[i].value));
			got = made_lower(&t);
			CHECK_MEM(got.p, got.n - 1, ints[i].want.p, ints[i].want.n, NULL);
		}
		made_close(&t);
	}
}

TEST(insn_local_takes_the_shortest_form)
{
	struct made_code t = { 0 };

	if (CHECK_INT(made_open(&t, 52, (struct maker_code){ .code = BYTES(OP_RETURN) }, NULL), 0,
		      NULL)) {
		CHECK_INT(insn_local(t.code, OP_ILOAD, 0)->op, OP_ILOAD_0, NULL);
		CHECK_INT(insn_local(t.code, OP_ALOAD, 3)->op, OP_ALOAD_3, NULL);
		CHECK_INT(insn_local(t.code, OP_ALOAD, 4)->op, OP_ALOAD, NULL);
		CHECK_INT(insn_local(t.code, OP_DSTORE, 2)->op, OP_DSTORE_2, NULL);
		CHECK_INT(insn_local(t.code, OP_RET, 1)->op, OP_RET, NULL);
		CHECK_INT(insn_local(t.code, OP_ILOAD, 2)->index, 2, NULL);
		CHECK(insn_has_local(insn_local(t.code, OP_ILOAD, 2)));
		CHECK(insn_has_local(insn_local(t.code, OP_IINC, 200)));
		CHECK(!insn_has_local(insn_new(t.code, OP_NOP)));
	}
	made_close(&t);
}

TEST(insn_placing_hands_null_on)
{
	struct made_code t = { 0 };

	if (CHECK_INT(made_open(&t, 52, (struct maker_code){ .code = BYTES(OP_RETURN) }, NULL), 0,
		      NULL)) {
		CHECK(!insn_after(t.code, t.code->start, NULL));
		CHECK(!insn_before(t.code, t.code->end, NULL));
		CHECK(!insn_replace(t.code, made_insn(&t, 0), NULL));
		CHECK_INT(made_insn(&t, 0)->op, OP_RETURN, "still there");
	}
	made_close(&t);
}

/* What is inserted behind the start belongs to the first line, and a loop does not run it. */
TEST(insn_at_the_start_is_not_part_of_a_loop)
{
	struct maker_list list = { 0 };
	struct maker_code code = { .code = BYTES(OP_NOP, OP_GOTO, 255, 255), .tables = &list };
	struct made_code t = { 0 };
	struct slice got, body;

	maker_init(&t.maker, "A", 49);
	maker_attr(&t.maker, &list, "LineNumberTable", BYTES(0, 1, U2(0), U2(9)));
	if (CHECK_INT(made_open(&t, 49, code, NULL), 0, NULL)) {
		insn_after(t.code, t.code->start, insn_new(t.code, OP_ICONST_0));
		insn_after(t.code, t.code->start->next, insn_new(t.code, OP_POP));
		got = made_lower(&t);
		CHECK_MEM(got.p, got.n, BYTES(OP_ICONST_0, OP_POP, OP_NOP, OP_GOTO, 255, 255).p, 6,
			  NULL);
		body = t.cls->methods[0].lowered;
		CHECK_INT(get_u16(body.p + body.n - 4), 0, "the line begins at 0");
	}
	made_close(&t);
}

TEST(insn_remove_lets_tables_point_at_what_follows)
{
	struct maker_list list = { 0 };
	struct maker_code code = { .code = BYTES(OP_NOP, OP_ICONST_0, OP_POP, OP_RETURN),
				   .tables = &list };
	struct made_code t = { 0 };
	struct slice got, body;

	maker_init(&t.maker, "A", 49);
	maker_attr(&t.maker, &list, "LineNumberTable", BYTES(0, 1, U2(1), U2(9)));
	if (CHECK_INT(made_open(&t, 49, code, NULL), 0, NULL)) {
		insn_remove(t.code, made_insn(&t, 1));
		insn_remove(t.code, made_insn(&t, 1)); /* the pop */
		got = made_lower(&t);
		CHECK_MEM(got.p, got.n, BYTES(OP_NOP, OP_RETURN).p, 2, NULL);
		body = t.cls->methods[0].lowered;
		CHECK_INT(get_u16(body.p + body.n - 4), 1, "the line is the return's now");
		insn_remove(t.code, t.code->start);
		insn_remove(t.code, t.code->end);
		CHECK(t.code->start->next && t.code->end->prev); /* both always stay */
	}
	made_close(&t);
}

TEST(insn_replace_of_the_last_instruction_keeps_its_line)
{
	struct maker_list list = { 0 };
	struct maker_code code = { .code = BYTES(OP_NOP, OP_RETURN), .tables = &list };
	struct made_code t = { 0 };
	struct slice body;

	maker_init(&t.maker, "A", 49);
	maker_attr(&t.maker, &list, "LineNumberTable", BYTES(0, 2, U2(0), U2(1), U2(1), U2(2)));
	if (CHECK_INT(made_open(&t, 49, code, NULL), 0, NULL)) {
		insn_replace(t.code, made_insn(&t, 1), insn_new(t.code, OP_RETURN));
		made_lower(&t);
		body = t.cls->methods[0].lowered;
		CHECK_INT(get_u16(body.p + body.n - 4), 1, "not behind the code");
	}
	made_close(&t);
}

TEST(insn_replace_keeps_branches_and_tables)
{
	struct maker_code code = { .code = BYTES(OP_GOTO, 0, 4, OP_NOP, OP_NOP, OP_RETURN) };
	struct made_code t = { 0 };
	struct slice got;

	if (CHECK_INT(made_open(&t, 49, code, NULL), 0, NULL)) {
		struct insn *by = insn_new(t.code, OP_SIPUSH);

		by->arg = 0x102;
		CHECK(insn_replace(t.code, made_insn(&t, 2), by) == by);
		got = made_lower(&t);
		CHECK_MEM(got.p, got.n, BYTES(OP_GOTO, 0, 4, OP_NOP, OP_SIPUSH, 1, 2, OP_RETURN).p,
			  8, NULL);
	}
	made_close(&t);
}

TEST(insn_label_before_is_made_once)
{
	struct made_code t = { 0 };
	struct maker_code code = { .code = BYTES(OP_NOP, OP_RETURN) };

	if (CHECK_INT(made_open(&t, 52, code, NULL), 0, NULL)) {
		struct insn *nop = made_insn(&t, 0), *ret = made_insn(&t, 1);
		struct insn *a = insn_label_before(t.code, nop),
			    *b = insn_label_before(t.code, ret);

		CHECK(a != t.code->start && a->next == nop && a->prev == t.code->start);
		CHECK(insn_label_before(t.code, nop) == a);
		CHECK(b->prev == nop && b->next == ret);
		CHECK(insn_label_before(t.code, b) == b);
		CHECK(insn_label_before(t.code, t.code->end) == t.code->end);
		CHECK(insn_label_before(t.code, t.code->start)->prev == t.code->start);
		CHECK(insn_next_real(t.code->start) == nop);
		CHECK(insn_next_real(nop) == ret);
		CHECK(!insn_next_real(ret));
	}
	made_close(&t);
}

TEST(insn_move_takes_a_stretch_elsewhere)
{
	struct maker_code code = { .code = BYTES(OP_GOTO, 0, 4, OP_NOP, OP_ICONST_0, OP_POP,
						 OP_RETURN) };
	struct made_code t = { 0 };
	struct slice got;

	if (CHECK_INT(made_open(&t, 49, code, NULL), 0, NULL)) {
		struct insn *first = insn_label_before(t.code, made_insn(&t, 1));
		struct insn *last = insn_label_before(t.code, made_insn(&t, 2));

		insn_move(first, last, made_insn(&t, 3)); /* the nop behind the pop */
		got = made_lower(&t);
		CHECK_MEM(got.p, got.n,
			  BYTES(OP_GOTO, 0, 3, OP_ICONST_0, OP_POP, OP_NOP, OP_RETURN).p, 7, NULL);
		insn_move(first, last, t.code->end->prev);
		CHECK_INT(made_lower(&t).n, 7, "nothing between them: nothing happens");
	}
	made_close(&t);
}

/* ---- copying from another class ---- */

/* iconst_0; L: istore_1; iload_1; ifeq L2; goto L; L2: tableswitch; ldc int; pop; aload_0 */
static struct slice donor_code = CODE(
	OP_ICONST_0, OP_ISTORE_1, OP_ILOAD_1, OP_IFEQ, 0, 6, OP_GOTO, 255, 251, /* 0..8 */
	OP_ILOAD_1, OP_TABLESWITCH, 0, U4(-9), U4(0), U4(1), U4(22), U4(-1),	/* 9, 10, 12..31 */
	OP_LDC, 5, OP_POP, OP_ALOAD_0, OP_ASTORE, 9, OP_IINC, 2, 1, OP_RETURN);

static int open_donor(struct made_code *t)
{
	maker_init(&t->maker, "Donor", 49);
	CHECK_INT(maker_number(&t->maker, CONST_INTEGER, 123456), 5, NULL);
	return made_open(t, 49, (struct maker_code){ .code = donor_code }, NULL);
}

TEST(insn_copy_stretch_brings_constants_branches_and_locals_along)
{
	static const uint8_t want[] = {
		OP_NOP, /* 0 */
		OP_ICONST_0, OP_ISTORE, 101,
		OP_ILOAD,    101,	OP_IFEQ,
		0,	     6,		OP_GOTO,
		255,	     249, /* 1..11 */
		OP_ILOAD,    101,	OP_TABLESWITCH,
		0,	     U4(-12),	U4(0),
		U4(1),	     U4(22),	U4(-2), /* 12 14 16 */
		OP_LDC,	     8,		OP_POP,
		OP_ALOAD_0,  OP_ASTORE, 109,
		OP_IINC,     102,	1, /* 36.. */
		OP_RETURN,
	};
	struct made_code from = { 0 }, to = { 0 };
	uint16_t seen[100] = { 0 };
	struct slice got;

	if (CHECK_INT(open_donor(&from), 0, NULL) &&
	    CHECK_INT(made_open(&to, 49, (struct maker_code){ .code = BYTES(OP_NOP, OP_RETURN) },
				NULL),
		      0, NULL)) {
		struct insn_copy copy = { .from = from.code,
					  .first = from.code->start,
					  .last = from.code->end->prev, /* without the return */
					  .pool = seen,
					  .local_shift = 100,
					  .local_from = 1 };

		CHECK_INT(insn_copy_stretch(to.code, made_insn(&to, 1), &copy), 0, NULL);
		got = made_lower(&to);
		CHECK_MEM(got.p, got.n, want, sizeof(want), NULL);
		CHECK_INT(pool_tag(&to.cls->pool, 8), CONST_INTEGER, "its constant came along");
		CHECK_INT(get_u32(to.cls->pool.at[8] + 1), 123456, NULL);
		got = made_lower(&from);
		CHECK_MEM(got.p, got.n, donor_code.p, donor_code.n, "the donor stays");
	}
	made_close(&from);
	made_close(&to);
}

TEST(insn_copy_stretch_refuses_branches_that_leave_it)
{
	struct made_code from = { 0 }, to = { 0 };
	uint16_t seen[100] = { 0 };

	if (CHECK_INT(open_donor(&from), 0, NULL) &&
	    CHECK_INT(made_open(&to, 49, (struct maker_code){ .code = BYTES(OP_RETURN) }, NULL), 0,
		      NULL)) {
		struct insn_copy copy = { .from = from.code, .pool = seen };

		copy.first = made_insn(&from, 4); /* the goto alone */
		copy.last = copy.first->next;
		CHECK_INT(insn_copy_stretch(to.code, to.code->end, &copy), E_BRANCH, "goto");
		copy.first = made_insn(&from, 6);
		copy.last = copy.first->next;
		CHECK_INT(insn_copy_stretch(to.code, to.code->end, &copy), E_BRANCH, "switch");
		copy.first = made_insn(&from, 1);
		copy.last = copy.first->next;
		copy.local_shift = 65535;
		CHECK_INT(insn_copy_stretch(to.code, to.code->end, &copy), E_TOO_LARGE, "locals");
	}
	made_close(&from);
	made_close(&to);
}
