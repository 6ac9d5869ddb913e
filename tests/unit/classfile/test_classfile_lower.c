/* SPDX-License-Identifier: Apache-2.0 */
/* Lowering: what is not touched stays as it was, and what grows stays right. */
#include "test.h"

#include <stdlib.h>

#include "base/mem.h"
#include "classes.h"
#include "classfile/insn.h"

#define CODE STATIC_BYTES

/* Makes lowering encode every instruction instead of copying it. */
static void forget_bytes(struct code *code)
{
	for (struct insn *n = code->start; n; n = n->next) {
		n->flags &= (uint8_t)~INSN_COPY;
		n->size = 0;
	}
}

/* Does the method of class t come out as it went in, copied and encoded? */
static void check_identity(struct made_code *t, const char *what)
{
	struct slice body = t->cls->methods[0].code, got;

	made_lower(t);
	got = t->cls->methods[0].lowered;
	CHECK_MEM(got.p, got.n, body.p, body.n, what);
	forget_bytes(t->code);
	made_lower(t);
	got = t->cls->methods[0].lowered;
	CHECK_MEM(got.p, got.n, body.p, body.n, what);
}

/* One instruction of each opcode, as long as it may be. */
TEST(lower_gives_back_every_opcode)
{
	for (unsigned op = 0; op < OP_COUNT; op++)
		for (int wide = 0; wide < 2; wide++) {
			uint8_t bytes[32] = { 0 };
			size_t size = op_table[op].size;
			struct maker_code code = { .code = { bytes, 0 } };
			struct made_code t = { 0 };
			uint8_t format = op_table[op].format;

			bytes[wide] = (uint8_t)op;
			bytes[1 + wide] = 0x81;
			bytes[2 + wide] = 0x82;
			if (wide) {
				if (format != OP_FORMAT_LOCAL && format != OP_FORMAT_IINC)
					continue;
				bytes[0] = OP_WIDE;
				size = op == OP_IINC ? 6 : 4;
			} else if (format == OP_FORMAT_BR2 || format == OP_FORMAT_BR4) {
				memset(bytes + 1, 0, 4); /* to itself */
			} else if (format == OP_FORMAT_IFACE) {
				bytes[3] = 7;
			} else if (format == OP_FORMAT_TSWITCH || format == OP_FORMAT_LSWITCH) {
				memset(bytes + 1, 0, 4);
				size = format == OP_FORMAT_TSWITCH ? 20 : 12;
			} else if (format == OP_FORMAT_WIDE) {
				continue;
			}
			bytes[size] = OP_RETURN;
			code.code.n = size + 1;
			if (CHECK_INT(made_open(&t, 52, code, NULL), 0, op_table[op].name))
				check_identity(&t, op_table[op].name);
			made_close(&t);
		}
}

TEST(lower_gives_back_switches_in_all_alignments)
{
	for (size_t pad = 0; pad < 8; pad++)
		for (int lookup = 0; lookup < 2; lookup++) {
			struct buf body = { 0 };
			struct made_code t = { 0 };
			struct slice code;
			size_t at;

			for (size_t i = 0; i < pad; i++)
				buf_u8(&body, OP_NOP);
			buf_u8(&body, lookup ? OP_LOOKUPSWITCH : OP_TABLESWITCH);
			while (body.n % 4)
				buf_u8(&body, 0);
			if (lookup)
				buf_bytes(&body, BYTES(U4(0), U4(2), U4(-9), U4(0), U4(5), U4(0)).p,
					  24);
			else
				buf_bytes(&body, BYTES(U4(0), U4(-1), U4(1), U4(0), U4(0), U4(0)).p,
					  24);
			buf_u8(&body, OP_RETURN);
			at = body.n - 1; /* all go to the return, and to the switch itself */
			put_u32(body.p + body.n - 1 - 24, (uint32_t)(at - pad));
			code = buf_slice(&body);
			if (CHECK_INT(made_open(&t, 52, (struct maker_code){ .code = code }, NULL),
				      0, NULL)) {
				check_identity(&t, NULL);
				/* One nop more in front: the padding changes. */
				insn_after(t.code, t.code->start, insn_new(t.code, OP_NOP));
				code = made_lower(&t);
				CHECK_INT(code.p[pad + 1],
					  lookup ? OP_LOOKUPSWITCH : OP_TABLESWITCH, NULL);
				CHECK_INT(code.n, ((pad + 2 + 3) & ~3u) + 24 + 1, NULL);
				CHECK_INT(get_u32(code.p + code.n - 25) + pad + 1, code.n - 1,
					  "default");
				CHECK_INT(get_u32(code.p + code.n - 5), 0, "itself");
			}
			made_close(&t);
			buf_release(&body);
		}
}

TEST(lower_keeps_odd_bytes_in_switch_padding)
{
	struct maker_code code = { .code = BYTES(OP_LOOKUPSWITCH, 1, 2, 3, U4(0), U4(0)) };
	struct made_code t = { 0 };

	if (CHECK_INT(made_open(&t, 52, code, NULL), 0, NULL))
		check_identity(&t, NULL);
	made_close(&t);
}

/* ---- frames ---- */

static const struct {
	const char *what;
	struct slice in, out; /* StackMapTable of goto_new_pop, as read and as written */
} frames[] = {
	{ "same", CODE(0, 1, 3), CODE(0, 1, 3) },
	{ "same_extended", CODE(0, 1, 251, U2(3)), CODE(0, 1, 3) },
	{ "one item extended", CODE(0, 1, 247, U2(3), 1), CODE(0, 1, 64 + 3, 1) },
	{ "append 1", CODE(0, 1, 252, U2(3), 1), CODE(0, 1, 252, U2(3), 1) },
	{ "append 3", CODE(0, 1, 254, U2(3), 1, 4, 3), CODE(0, 1, 254, U2(3), 1, 4, 3) },
	{ "full that is append", CODE(0, 1, 255, U2(3), U2(2), 1, 2, U2(0)),
	  CODE(0, 1, 253, U2(3), 1, 2) },
	{ "full that is same", CODE(0, 1, 255, U2(3), U2(0), U2(0)), CODE(0, 1, 3) },
	{ "full that is one item", CODE(0, 1, 255, U2(3), U2(0), U2(1), 5), CODE(0, 1, 64 + 3, 5) },
	{ "full with four", CODE(0, 1, 255, U2(3), U2(4), 1, 1, 1, 1, U2(0)),
	  CODE(0, 1, 255, U2(3), U2(4), 1, 1, 1, 1, U2(0)) },
	{ "full that is chop", CODE(0, 2, 253, U2(3), 1, 2, 255, U2(2), U2(1), 1, U2(0)),
	  CODE(0, 2, 253, U2(3), 1, 2, 250, U2(2)) },
	{ "append none by full", CODE(0, 2, 252, U2(3), 1, 255, U2(2), U2(1), 1, U2(0)),
	  CODE(0, 2, 252, U2(3), 1, 2) },
	{ "chop to another type stays full",
	  CODE(0, 2, 253, U2(3), 1, 2, 255, U2(2), U2(1), 2, U2(0)),
	  CODE(0, 2, 253, U2(3), 1, 2, 255, U2(2), U2(1), 2, U2(0)) },
	{ "uninitialized", CODE(0, 1, 255, U2(6), U2(1), 8, U2(3), U2(2), 8, U2(3), 8, U2(3)),
	  CODE(0, 1, 255, U2(6), U2(1), 8, U2(3), U2(2), 8, U2(3), 8, U2(3)) },
	{ "object", CODE(0, 1, 64 + 6, 7, U2(2)), CODE(0, 1, 64 + 6, 7, U2(2)) },
};

static struct slice goto_new_pop = CODE(OP_GOTO, 0, 3, OP_NEW, 0, 2, OP_POP, OP_RETURN);

static struct slice table_of(const struct made_code *t)
{
	struct slice body = t->cls->methods[0].lowered;
	uint32_t n = get_u32(body.p + 4);

	body.p += 8 + n + 2 + 2 + 6;
	body.n -= 8 + n + 2 + 2 + 6;
	return body;
}

TEST(lower_writes_frames_in_their_smallest_form)
{
	for (size_t i = 0; i < COUNT(frames); i++) {
		struct maker_list list = { 0 };
		struct maker_code code = { .code = goto_new_pop, .tables = &list };
		struct made_code t = { 0 };
		struct slice got;

		maker_init(&t.maker, "A", 52);
		maker_attr(&t.maker, &list, "StackMapTable", frames[i].in);
		if (CHECK_INT(made_open(&t, 52, code, NULL), 0, frames[i].what)) {
			made_lower(&t);
			got = table_of(&t);
			CHECK_MEM(got.p, got.n, frames[i].out.p, frames[i].out.n, frames[i].what);
		}
		made_close(&t);
	}
}

TEST(lower_writes_far_frames_in_their_long_forms)
{
	uint8_t body[200] = { 0 };
	struct maker_list list = { 0 };
	struct made_code t = { 0 };
	struct slice got;

	body[199] = OP_RETURN;
	maker_init(&t.maker, "A", 52);
	maker_attr(&t.maker, &list, "StackMapTable",
		   BYTES(0, 3, 63, 64 + 63, 1, 64 + 1, 1)); /* at 63, 127, 129 */
	if (CHECK_INT(made_open(&t, 52,
				(struct maker_code){ .code = { body, 200 }, .tables = &list },
				NULL),
		      0, NULL)) {
		/* A nop before each of the first two. */
		insn_before(t.code, made_insn(&t, 0), insn_new(t.code, OP_NOP));
		insn_before(t.code, made_insn(&t, 100), insn_new(t.code, OP_NOP));
		made_lower(&t);
		got = table_of(&t);
		CHECK_MEM(got.p, got.n, BYTES(0, 3, 251, U2(64), 247, U2(64), 1, 64 + 1, 1).p, 11,
			  NULL);
	}
	made_close(&t);
}

TEST(lower_drops_a_table_whose_frames_are_gone_and_makes_one_for_the_first)
{
	struct maker_list list = { 0 };
	struct maker_code code = { .code = goto_new_pop, .tables = &list };
	struct made_code t = { 0 };
	struct insn *label;
	struct slice body;

	maker_init(&t.maker, "A", 52);
	maker_attr(&t.maker, &list, "StackMapTable", BYTES(0, 1, 3));
	if (CHECK_INT(made_open(&t, 52, code, NULL), 0, NULL)) {
		label = made_insn(&t, 1)->prev;
		CHECK(label->frame != NULL);
		label->frame = NULL;
		made_lower(&t);
		body = t.cls->methods[0].lowered;
		CHECK_INT(get_u16(body.p + body.n - 2), 0, "no table left");
	}
	made_close(&t);
	if (CHECK_INT(made_open(&t, 52, (struct maker_code){ .code = goto_new_pop }, NULL), 0,
		      NULL)) {
		struct frame f = t.code->first;

		made_insn(&t, 1)->prev->frame = &f;
		made_lower(&t);
		body = table_of(&t);
		CHECK_MEM(body.p, body.n, BYTES(0, 1, 3).p, 3, "a table of its own");
	}
	made_close(&t);
}

/* ---- growing ---- */

/* A branch over n nops to a return, behind an int where the opcode wants one. */
static struct slice long_jump(struct buf *b, uint8_t op, int n)
{
	buf_u8(b, OP_ICONST_0);
	buf_u8(b, op);
	buf_u16(b, (unsigned)n + 3);
	for (int i = 0; i < n; i++)
		buf_u8(b, OP_NOP);
	buf_u8(b, OP_RETURN);
	return buf_slice(b);
}

static void insert_nops(struct code *code, struct insn *before, int n)
{
	while (n--)
		insn_before(code, before, insn_new(code, OP_NOP));
}

TEST(lower_makes_gotos_long_when_they_do_not_reach)
{
	static const struct {
		int nops, more;
		uint8_t op;
	} jumps[] = {
		{ 32000, 764, OP_GOTO }, /* 32767 bytes away: just reaches */
		{ 32000, 765, OP_GOTO_W },
	};

	for (size_t i = 0; i < COUNT(jumps); i++) {
		struct buf b = { 0 };
		struct maker_code code = { .code = long_jump(&b, OP_GOTO, jumps[i].nops) };
		struct made_code t = { 0 };
		struct slice got;

		if (CHECK_INT(made_open(&t, 49, code, NULL), 0, NULL)) {
			insert_nops(t.code, t.code->end->prev->prev, jumps[i].more);
			got = made_lower(&t);
			CHECK_INT(got.p[1], jumps[i].op, NULL);
			if (jumps[i].op == OP_GOTO)
				CHECK_INT(get_u16(got.p + 2), 32767, NULL);
			else
				CHECK_INT(get_u32(got.p + 2), got.n - 2, NULL);
		}
		made_close(&t);
		buf_release(&b);
	}
}

TEST(lower_makes_jumps_back_long_when_they_do_not_reach)
{
	for (int more = 0; more < 2; more++) {
		struct buf b = { 0 };
		struct made_code t = { 0 };
		struct slice got;

		for (int i = 0; i < 32767; i++)
			buf_u8(&b, OP_NOP);
		buf_u8(&b, OP_GOTO);
		buf_u16(&b, (unsigned)-32767 & 0xffff);
		if (CHECK_INT(made_open(&t, 49, (struct maker_code){ .code = buf_slice(&b) }, NULL),
			      0, NULL)) {
			insert_nops(t.code, made_insn(&t, 100), 1 + more);
			got = made_lower(&t);
			CHECK_INT(got.p[32768 + more], more ? OP_GOTO_W : OP_GOTO, NULL);
			if (more)
				CHECK_INT((int32_t)get_u32(got.p + 32770), -32769, NULL);
			else
				CHECK_INT((int16_t)get_u16(got.p + 32769), -32768, NULL);
		}
		made_close(&t);
		buf_release(&b);
	}
}

TEST(lower_turns_conditions_around_when_they_do_not_reach)
{
	static const struct {
		uint8_t op, inverted;
	} ops[] = {
		{ OP_IFEQ, OP_IFNE },		{ OP_IFNE, OP_IFEQ },
		{ OP_IFLT, OP_IFGE },		{ OP_IFGE, OP_IFLT },
		{ OP_IFGT, OP_IFLE },		{ OP_IFLE, OP_IFGT },
		{ OP_IF_ICMPEQ, OP_IF_ICMPNE }, { OP_IF_ICMPLT, OP_IF_ICMPGE },
		{ OP_IF_ICMPGT, OP_IF_ICMPLE }, { OP_IF_ACMPEQ, OP_IF_ACMPNE },
		{ OP_IFNULL, OP_IFNONNULL },	{ OP_IFNONNULL, OP_IFNULL },
	};

	for (size_t i = 0; i < COUNT(ops); i++) {
		const char *name = op_table[ops[i].op].name;
		struct buf b = { 0 };
		struct maker_code code = { .code = long_jump(&b, ops[i].op, 32760) };
		struct made_code t = { 0 };
		struct slice got;

		if (CHECK_INT(made_open(&t, 49, code, NULL), 0, name)) {
			insert_nops(t.code, made_insn(&t, 2), 100);
			got = made_lower(&t);
			CHECK_INT(got.p[1], ops[i].inverted, name);
			CHECK_INT(get_u16(got.p + 2), 8, name);
			CHECK_INT(got.p[4], OP_GOTO_W, name);
			CHECK_INT(get_u32(got.p + 5) + 4, got.n - 1, name);
			CHECK_INT(op_inverted(ops[i].inverted), ops[i].op, name);
		}
		made_close(&t);
		buf_release(&b);
	}
}

TEST(lower_adds_the_frame_that_a_turned_condition_needs)
{
	struct buf b = { 0 };
	struct maker_list list = { 0 };
	struct made_code t = { 0 };
	struct maker_code code;
	struct slice got, table;

	code = (struct maker_code){ .code = long_jump(&b, OP_IFEQ, 32760), .tables = &list };
	maker_init(&t.maker, "A", 52);
	maker_attr(&t.maker, &list, "StackMapTable", BYTES(0, 1, 251, U2(32764)));
	if (CHECK_INT(made_open(&t, 52, code, NULL), 0, NULL)) {
		insert_nops(t.code, made_insn(&t, 2), 100);
		got = made_lower(&t);
		table = table_of(&t);
		CHECK_INT(got.p[1], OP_IFNE, NULL);
		CHECK_MEM(table.p, table.n, BYTES(0, 2, 9, 251, U2(32869 - 10)).p, 6, NULL);
	}
	made_close(&t);
	buf_release(&b);
}

/* Each branch that grows pushes the next one out of reach. */
TEST(lower_goes_on_until_nothing_grows_any_more)
{
	enum { N = 1000 };
	struct buf b = { 0 };
	struct made_code t = { 0 };
	struct slice got;

	for (int i = 0; i < N; i++) { /* all go to the return */
		buf_u8(&b, OP_GOTO);
		buf_u16(&b, (unsigned)(3 * (N - i) + 29767));
	}
	for (int i = 0; i < 29767; i++)
		buf_u8(&b, OP_NOP);
	buf_u8(&b, OP_RETURN);
	if (CHECK_INT(made_open(&t, 49, (struct maker_code){ .code = buf_slice(&b) }, NULL), 0,
		      NULL)) {
		insert_nops(t.code, t.code->end->prev->prev, 1);
		got = made_lower(&t);
		for (size_t at = 0; at < got.n && got.p[at] != OP_NOP;) {
			uint32_t to = got.p[at] == OP_GOTO ? get_u16(got.p + at + 1)
							   : get_u32(got.p + at + 1);

			CHECK_INT(at + to, got.n - 1, "each goes to the return");
			at += got.p[at] == OP_GOTO ? 3 : 5;
		}
		CHECK_INT(got.p[0], OP_GOTO_W, NULL);
	}
	made_close(&t);
	buf_release(&b);
}

TEST(lower_makes_ldc_long_when_its_index_is)
{
	struct maker_code code = { .code = BYTES(OP_LDC, 2, OP_POP, OP_RETURN) };
	struct made_code t = { 0 };
	struct insn *n;

	if (CHECK_INT(made_open(&t, 52, code, NULL), 0, NULL)) {
		n = insn_replace(t.code, made_insn(&t, 0), insn_pool(t.code, OP_LDC, 256));
		CHECK_MEM(made_lower(&t).p, 5, BYTES(OP_LDC_W, 1, 0, OP_POP, OP_RETURN).p, 5, NULL);
		n->index = 255;
		CHECK_MEM(made_lower(&t).p, 4, BYTES(OP_LDC, 255, OP_POP, OP_RETURN).p, 4, NULL);
	}
	made_close(&t);
}

static const struct {
	uint8_t op;
	uint16_t slot;
	int16_t arg;
	struct slice want;
} locals[] = {
	{ OP_ILOAD, 255, 0, CODE(OP_ILOAD, 255) },
	{ OP_ILOAD, 256, 0, CODE(OP_WIDE, OP_ILOAD, 1, 0) },
	{ OP_ASTORE, 65535, 0, CODE(OP_WIDE, OP_ASTORE, 255, 255) },
	{ OP_RET, 300, 0, CODE(OP_WIDE, OP_RET, 1, 44) },
	{ OP_IINC, 1, 127, CODE(OP_IINC, 1, 127) },
	{ OP_IINC, 1, -128, CODE(OP_IINC, 1, 128) },
	{ OP_IINC, 1, 128, CODE(OP_WIDE, OP_IINC, 0, 1, 0, 128) },
	{ OP_IINC, 256, -1, CODE(OP_WIDE, OP_IINC, 1, 0, 255, 255) },
};

TEST(lower_puts_wide_where_it_is_needed)
{
	for (size_t i = 0; i < COUNT(locals); i++) {
		struct maker_code code = { .code = BYTES(OP_RETURN) };
		struct made_code t = { 0 };
		struct slice got;

		if (CHECK_INT(made_open(&t, 52, code, NULL), 0, NULL)) {
			struct insn *n = insn_local(t.code, locals[i].op, locals[i].slot);

			n->arg = locals[i].arg;
			insn_after(t.code, t.code->start, n);
			got = made_lower(&t);
			CHECK_MEM(got.p, got.n - 1, locals[i].want.p, locals[i].want.n,
				  op_table[locals[i].op].name);
		}
		made_close(&t);
	}
}

/* ---- limits ---- */

TEST(lower_refuses_more_than_65535_bytes_and_leaves_the_method)
{
	uint8_t *nops = calloc(1, 65535);
	struct maker_code code = { .code = { nops, 65534 } };
	struct made_code t = { 0 };
	struct fault f = { 0 };
	struct buf out = { 0 };

	if (CHECK_INT(made_open(&t, 52, code, NULL), 0, NULL)) {
		struct insn *extra = insn_new(t.code, OP_NOP);

		insert_nops(t.code, t.code->end, 1);
		CHECK_INT(code_lower(t.code, &f), 0, "65535 are fine");
		t.cls->methods[0].lowered = (struct slice){ NULL, 0 };
		insn_before(t.code, t.code->end, extra);
		CHECK_INT(code_lower(t.code, &f), E_TOO_LARGE, NULL);
		CHECK_INT(f.code, E_TOO_LARGE, NULL);
		CHECK(!t.cls->methods[0].lowered.p);
		class_write(t.cls, &out);
		CHECK_MEM(out.p, out.n, t.cls->bytes.p, t.cls->bytes.n, "the class as it was");
		insn_remove(t.code, extra);
		CHECK_INT(code_lower(t.code, NULL), 0, "and again");
	}
	made_close(&t);
	buf_release(&out);
	free(nops);
}

TEST(lower_refuses_code_that_grows_too_long_by_itself)
{
	struct buf b = { 0 };
	struct made_code t = { 0 };

	/* Gotos that all become longer by two bytes. */
	for (int i = 0; i < 10000; i++) {
		buf_u8(&b, OP_GOTO);
		buf_u16(&b, i < 5000 ? 15000 : (unsigned)-15000 & 0xffff);
	}
	if (CHECK_INT(made_open(&t, 49, (struct maker_code){ .code = buf_slice(&b) }, NULL), 0,
		      NULL)) {
		insert_nops(t.code, made_insn(&t, 5000), 25000);
		CHECK_INT(code_lower(t.code, NULL), E_TOO_LARGE, NULL);
		CHECK(!t.cls->methods[0].lowered.p);
	}
	made_close(&t);
	buf_release(&b);
}

TEST(lower_refuses_when_the_pool_has_no_room_for_the_table_name)
{
	struct maker_code code = { .code = goto_new_pop };
	struct made_code t = { 0 };

	if (CHECK_INT(made_open(&t, 52, code, NULL), 0, NULL)) {
		struct frame f = t.code->first;

		for (int32_t i = 0; t.cls->pool.n < 65535; i++)
			pool_add_int(&t.cls->pool, i);
		made_insn(&t, 1)->prev->frame = &f;
		CHECK_INT(code_lower(t.code, NULL), E_POOL_FULL, NULL);
		CHECK(!t.cls->methods[0].lowered.p);
	}
	made_close(&t);
}

/* ---- tables ---- */

TEST(lower_moves_offsets_in_tables)
{
	/* 0 goto 3, 3 new, 6 pop, 7 return; with a nop put in before the pop */
	struct maker_list list = { 0 };
	struct maker_code code = { .code = goto_new_pop,
				   .handlers = BYTES(U2(0), U2(6), U2(6), U2(0), U2(6), U2(8),
						     U2(7), U2(2)),
				   .tables = &list };
	struct made_code t = { 0 };
	struct slice body;

	maker_init(&t.maker, "A", 52);
	maker_attr(&t.maker, &list, "LineNumberTable",
		   BYTES(0, 4, U2(0), U2(1), U2(3), U2(2), U2(6), U2(3), U2(4), U2(4)));
	maker_attr(&t.maker, &list, "LocalVariableTable",
		   BYTES(0, 3, U2(0), U2(8), U2(1), U2(1), U2(0), /* all of it */
			 U2(3), U2(3), U2(1), U2(1), U2(1),	  /* up to the pop */
			 U2(6), U2(2), U2(1), U2(1), U2(2)));	  /* from the pop on */
	maker_attr(&t.maker, &list, "RuntimeVisibleTypeAnnotations",
		   BYTES(0, 2, 0x44, U2(3), 0, U2(1), U2(0), 0x47, U2(6), 0, 0, U2(1), U2(0)));
	if (CHECK_INT(made_open(&t, 52, code, NULL), 0, NULL)) {
		struct insn *nop = insn_new(t.code, OP_NOP);

		insn_after(t.code, made_insn(&t, 1), nop); /* behind new, before the label */
		made_lower(&t);
		body = t.cls->methods[0].lowered;
		body.p += 8 + 9;
		CHECK_MEM(body.p, 2 + 16,
			  BYTES(0, 2, U2(0), U2(7), U2(7), U2(0), U2(7), U2(9), U2(8), U2(2)).p, 18,
			  "handlers");
		body.p += 18 + 2 + 6;
		CHECK_MEM(body.p, 18,
			  BYTES(0, 4, U2(0), U2(1), U2(3), U2(2), U2(7), U2(3), U2(4), U2(4)).p, 18,
			  "lines, also one inside an instruction");
		body.p += 18 + 6;
		CHECK_INT(get_u16(body.p + 2) << 16 | get_u16(body.p + 4), 9, "first variable");
		CHECK_INT(get_u16(body.p + 12) << 16 | get_u16(body.p + 14), 3 << 16 | 4, "second");
		CHECK_INT(get_u16(body.p + 22) << 16 | get_u16(body.p + 24), 7 << 16 | 2, "third");
		body.p += 32 + 6;
		CHECK_INT(get_u16(body.p + 3), 3, "annotation of new");
		CHECK_INT(get_u16(body.p + 11), 7, "annotation of pop");
	}
	made_close(&t);
}

/* A JVM refuses a line at the end of the code, and two equal variables. */
TEST(lower_keeps_tables_good_when_code_is_taken_out)
{
	struct maker_list list = { 0 };
	struct maker_code code = { .code = BYTES(OP_NOP, OP_NOP, OP_NOP, OP_NOP, OP_RETURN),
				   .tables = &list };
	struct made_code t = { 0 };
	struct slice body;

	maker_init(&t.maker, "A", 52);
	maker_attr(&t.maker, &list, "LineNumberTable", BYTES(0, 2, U2(0), U2(1), U2(4), U2(2)));
	maker_attr(&t.maker, &list, "LocalVariableTable",
		   BYTES(0, 4, U2(1), U2(1), U2(1), U2(1), U2(0), U2(2), U2(1), U2(1), U2(1), U2(0),
			 U2(3), U2(2), U2(1), U2(1), U2(1), U2(3), U2(0), U2(1), U2(1), U2(2)));
	if (CHECK_INT(made_open(&t, 52, code, NULL), 0, NULL)) {
		for (int i = 0; i < 2; i++) /* leaves nop, nop */
			insn_remove(t.code, made_insn(&t, 1));
		insn_remove(t.code, made_insn(&t, 2));
		made_lower(&t);
		body = t.cls->methods[0].lowered;
		body.p += 8 + 2 + 2 + 2 + 6;
		CHECK_MEM(body.p, 10, BYTES(0, 2, U2(0), U2(1), U2(1), U2(2)).p, 10, "lines");
		body.p += 10 + 2;
		CHECK_MEM(body.p, 26,
			  BYTES(U4(22), 0, 2, U2(1), U2(1), U2(1), U2(1), U2(1), U2(1), U2(0),
				U2(1), U2(1), U2(2))
				  .p,
			  26, "the variables that still have code, and one that never had");
	}
	made_close(&t);
}

TEST(lower_writes_no_negative_ranges_when_code_is_moved)
{
	struct maker_list list = { 0 };
	struct maker_code code = { .code = BYTES(OP_NOP, OP_ICONST_0, OP_POP, OP_RETURN),
				   .tables = &list };
	struct made_code t = { 0 };
	struct slice body;

	maker_init(&t.maker, "A", 49);
	maker_attr(&t.maker, &list, "LocalVariableTable",
		   BYTES(0, 1, U2(1), U2(2), U2(1), U2(1), U2(0)));
	if (CHECK_INT(made_open(&t, 49, code, NULL), 0, NULL)) {
		struct insn *first = insn_label_before(t.code, made_insn(&t, 3));

		insn_move(first, t.code->end, t.code->start); /* the return to the front */
		made_lower(&t);
		body = t.cls->methods[0].lowered;
		CHECK_INT(get_u16(body.p + body.n - 2), 0, "dropped");
	}
	made_close(&t);
}

TEST(lower_drops_handlers_of_nothing)
{
	struct maker_code code = { .code = BYTES(OP_NOP, OP_NOP, OP_RETURN),
				   .handlers = BYTES(U2(0), U2(1), U2(2), U2(0), U2(1), U2(2),
						     U2(2), U2(0)) };
	struct made_code t = { 0 };
	struct slice body;

	if (CHECK_INT(made_open(&t, 49, code, NULL), 0, NULL)) {
		insn_remove(t.code, made_insn(&t, 0));
		made_lower(&t);
		body = t.cls->methods[0].lowered;
		CHECK_MEM(body.p + 10, 10, BYTES(0, 1, U2(0), U2(1), U2(1), U2(0)).p, 10, NULL);
	}
	made_close(&t);
}

TEST(lower_maps_old_offsets_to_new_ones)
{
	struct maker_code code = { .code = BYTES(OP_NOP, OP_NOP, OP_NOP, OP_NOP, OP_RETURN) };
	struct made_code t = { 0 };
	struct buf map = { 0 };

	if (CHECK_INT(made_open(&t, 52, code, NULL), 0, NULL)) {
		made_lower(&t);
		code_offset_map(t.code, &map);
		CHECK_MEM(map.p, map.n, "\0\0", 2, "nothing moved");
		buf_clear(&map);
		insn_before(t.code, made_insn(&t, 1), insn_new(t.code, OP_ICONST_0));
		insn_before(t.code, made_insn(&t, 2), insn_new(t.code, OP_POP));
		insn_remove(t.code, made_insn(&t, 5));
		made_lower(&t);
		code_offset_map(t.code, &map);
		CHECK_MEM(map.p, map.n, BYTES(0, 2, U2(1), U2(3), U2(4), U2(5)).p, 10, NULL);
	}
	made_close(&t);
	buf_release(&map);
}

/* ---- memory ---- */

/* Read, elevate, edit so that everything grows, lower, write. */
static int whole_way(struct slice bytes, struct buf *out)
{
	struct class *cls = NULL;
	struct code *code;
	struct arena mem;
	int rc;

	arena_init(&mem);
	rc = class_read(&mem, bytes, &cls, NULL);
	if (rc >= 0)
		rc = code_elevate(cls, &cls->methods[0], &code, NULL);
	for (int i = 0; i < 100 && rc >= 0; i++)
		if (!insn_after(code, code->start->next, insn_int(code, 100000 + i)) ||
		    !insn_after(code, code->start->next->next, insn_new(code, OP_POP)))
			rc = E_NO_MEMORY;
	if (rc >= 0)
		rc = code_lower(code, NULL);
	if (rc >= 0)
		rc = class_write(cls, out);
	class_release(cls);
	arena_release(&mem);
	return rc;
}

TEST(lower_survives_every_failed_allocation)
{
	struct class_maker m = { 0 };
	struct maker_list list = { 0 };
	struct buf b = { 0 }, out = { 0 };
	struct slice bytes;
	int rc = -1;

	maker_init(&m, "A", 52);
	maker_attr(&m, &list, "StackMapTable", BYTES(0, 1, 251, U2(32764)));
	maker_attr(&m, &list, "LineNumberTable", BYTES(0, 1, U2(0), U2(1)));
	bytes = maker_simple(&m, 52,
			     (struct maker_code){ .code = long_jump(&b, OP_IFEQ, 32760),
						  .handlers = BYTES(U2(0), U2(1), U2(1), U2(0)),
						  .tables = &list });
	for (long n = 0; rc < 0 && n < 10000; n++) {
		mem_fail_at(n);
		rc = whole_way(bytes, &out);
		mem_fail_at(-1);
		if (rc < 0) {
			CHECK_INT(rc, E_NO_MEMORY, NULL);
			CHECK_INT(out.n, 0, NULL);
			buf_release(&out);
		}
	}
	CHECK_INT(rc, 0, NULL);
	CHECK(out.n > bytes.n);
	buf_release(&b);
	buf_release(&out);
	maker_release(&m);
}
