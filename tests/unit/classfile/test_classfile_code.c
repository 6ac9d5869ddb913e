/* SPDX-License-Identifier: Apache-2.0 */
/* Elevation: what comes out of the bytes of a method, and which bytes are refused. */
#include "test.h"

#include <stdlib.h>

#include "base/mem.h"
#include "classes.h"
#include "classfile/insn.h"

#define CODE STATIC_BYTES

static const struct {
	const char *what;
	struct slice code;
	int rc;
} codes[] = {
	{ "return", CODE(OP_RETURN), 0 },
	{ "opcode 202", CODE(202), E_OPCODE },
	{ "opcode 254", CODE(254), E_OPCODE },
	{ "opcode 255, which labels use", CODE(255), E_OPCODE },
	{ "bipush without its byte", CODE(OP_RETURN, OP_BIPUSH), E_TRUNCATED },
	{ "sipush without its second", CODE(OP_SIPUSH, 1), E_TRUNCATED },
	{ "iload without its byte", CODE(OP_ILOAD), E_TRUNCATED },
	{ "iinc without its second", CODE(OP_IINC, 1), E_TRUNCATED },
	{ "ldc_w without its second", CODE(OP_LDC_W, 1), E_TRUNCATED },
	{ "invokeinterface cut off", CODE(OP_INVOKEINTERFACE, 0, 1, 1), E_TRUNCATED },
	{ "invokedynamic cut off", CODE(OP_INVOKEDYNAMIC, 0, 1, 0), E_TRUNCATED },
	{ "multianewarray cut off", CODE(OP_MULTIANEWARRAY, 0, 1), E_TRUNCATED },
	{ "goto cut off", CODE(OP_GOTO, 0), E_TRUNCATED },
	{ "goto_w cut off", CODE(OP_GOTO_W, 0, 0, 0), E_TRUNCATED },
	{ "wide alone", CODE(OP_RETURN, OP_WIDE), E_TRUNCATED },
	{ "wide iload cut off", CODE(OP_WIDE, OP_ILOAD, 1), E_TRUNCATED },
	{ "wide iinc cut off", CODE(OP_WIDE, OP_IINC, 0, 1, 0), E_TRUNCATED },
	{ "wide nop", CODE(OP_WIDE, OP_NOP, 0, 0), E_OPCODE },
	{ "wide wide", CODE(OP_WIDE, OP_WIDE, 0, 0), E_OPCODE },
	{ "wide iload_0", CODE(OP_WIDE, OP_ILOAD_0, 0, 0), E_OPCODE },
	{ "goto itself", CODE(OP_GOTO, 0, 0), 0 },
	{ "goto into itself", CODE(OP_GOTO, 0, 1), E_BRANCH },
	{ "goto the end", CODE(OP_GOTO, 0, 3), E_BRANCH },
	{ "goto behind the end", CODE(OP_GOTO, 0, 4), E_BRANCH },
	{ "goto before the start", CODE(OP_GOTO, 255, 255), E_BRANCH },
	{ "goto_w far back", CODE(OP_GOTO_W, 128, 0, 0, 0), E_BRANCH },
	{ "goto_w far on", CODE(OP_GOTO_W, 127, 255, 255, 255), E_BRANCH },
	{ "goto_w around", CODE(OP_NOP, OP_GOTO_W, 255, 255, 255, 255), 0 },
	{ "tableswitch", CODE(OP_TABLESWITCH, 0, 0, 0, U4(0), U4(1), U4(2), U4(0), U4(0)), 0 },
	{ "tableswitch high below low",
	  CODE(OP_TABLESWITCH, 0, 0, 0, U4(0), U4(2), U4(1), U4(0), U4(0)), E_SWITCH },
	{ "tableswitch cut off", CODE(OP_TABLESWITCH, 0, 0, 0, U4(0), U4(1)), E_SWITCH },
	{ "tableswitch too long", CODE(OP_TABLESWITCH, 0, 0, 0, U4(0), U4(1), U4(3), U4(0), U4(0)),
	  E_SWITCH },
	{ "tableswitch as long as can be",
	  CODE(OP_TABLESWITCH, 0, 0, 0, U4(0), U4(0x80000000), U4(0x7fffffff), U4(0)), E_SWITCH },
	{ "tableswitch to nowhere", CODE(OP_TABLESWITCH, 0, 0, 0, U4(0), U4(1), U4(1), U4(1)),
	  E_BRANCH },
	{ "tableswitch default to the end",
	  CODE(OP_TABLESWITCH, 0, 0, 0, U4(20), U4(1), U4(1), U4(0)), E_BRANCH },
	{ "lookupswitch", CODE(OP_LOOKUPSWITCH, 0, 0, 0, U4(0), U4(2), U4(-5), U4(0), U4(7), U4(0)),
	  0 },
	{ "lookupswitch without cases", CODE(OP_LOOKUPSWITCH, 0, 0, 0, U4(0), U4(0)), 0 },
	{ "lookupswitch not sorted",
	  CODE(OP_LOOKUPSWITCH, 0, 0, 0, U4(0), U4(2), U4(7), U4(0), U4(-5), U4(0)), E_SWITCH },
	{ "lookupswitch with a key twice",
	  CODE(OP_LOOKUPSWITCH, 0, 0, 0, U4(0), U4(2), U4(7), U4(0), U4(7), U4(0)), E_SWITCH },
	{ "lookupswitch with minus one case", CODE(OP_LOOKUPSWITCH, 0, 0, 0, U4(0), U4(-1)),
	  E_SWITCH },
	{ "lookupswitch cut off", CODE(OP_LOOKUPSWITCH, 0, 0, 0, U4(0), U4(2), U4(7), U4(0)),
	  E_SWITCH },
	{ "switch without padding", CODE(OP_LOOKUPSWITCH, 0, 0), E_SWITCH },
};

TEST(code_elevate_accepts_and_refuses_instructions)
{
	for (size_t i = 0; i < COUNT(codes); i++) {
		struct maker_code code = { .code = codes[i].code };
		struct made_code t = { 0 };
		struct fault f = { 0 };

		CHECK_INT(made_open(&t, 52, code, &f), codes[i].rc, codes[i].what);
		CHECK_INT(f.code, codes[i].rc, codes[i].what);
		made_close(&t);
	}
}

TEST(code_elevate_decodes_every_format)
{
	static const struct {
		uint8_t op;
		uint16_t index;
		int16_t arg;
		uint8_t flags;
	} want[] = {
		{ OP_NOP, 0, 0, 0 },
		{ OP_ALOAD_2, 2, 0, 0 },
		{ OP_DSTORE_3, 3, 0, 0 },
		{ OP_BIPUSH, 0, -3, 0 },
		{ OP_SIPUSH, 0, -300, 0 },
		{ OP_NEWARRAY, 0, 10, 0 },
		{ OP_ILOAD, 200, 0, 0 },
		{ OP_IINC, 200, -1, 0 },
		{ OP_LDC, 2, 0, 0 },
		{ OP_LDC_W, 2, 0, 0 },
		{ OP_INVOKEINTERFACE, 2, 3, 0 },
		{ OP_INVOKEDYNAMIC, 2, 0, 0 },
		{ OP_MULTIANEWARRAY, 2, 2, 0 },
		{ OP_ISTORE, 0x1234, 0, INSN_WIDE },
		{ OP_IINC, 0x1234, -2, INSN_WIDE },
		{ OP_RET, 5, 0, INSN_WIDE },
		{ OP_GOTO_W, 0, 0, 0 },
	};
	struct maker_code code = {
		.code = BYTES(OP_NOP, OP_ALOAD_2, OP_DSTORE_3, OP_BIPUSH, 253, OP_SIPUSH, U2(-300),
			      OP_NEWARRAY, 10, OP_ILOAD, 200, OP_IINC, 200, 255, OP_LDC, 2,
			      OP_LDC_W, 0, 2, OP_INVOKEINTERFACE, 0, 2, 3, 0, OP_INVOKEDYNAMIC, 0,
			      2, 0, 0, OP_MULTIANEWARRAY, 0, 2, 2, OP_WIDE, OP_ISTORE, 0x12, 0x34,
			      OP_WIDE, OP_IINC, 0x12, 0x34, 255, 254, OP_WIDE, OP_RET, 0, 5,
			      OP_GOTO_W, 0, 0, 0, 0)
	};
	struct made_code t = { 0 };
	unsigned n = 0;

	if (CHECK_INT(made_open(&t, 52, code, NULL), 0, NULL)) {
		for (; n < COUNT(want) && made_insn(&t, n); n++) {
			struct insn *i = made_insn(&t, n);
			const char *name = op_table[want[n].op].name;

			CHECK_INT(i->op, want[n].op, name);
			CHECK_INT(i->index, want[n].index, name);
			CHECK_INT(i->arg, want[n].arg, name);
			CHECK_INT(i->flags & INSN_WIDE, want[n].flags, name);
		}
		CHECK_INT(n, COUNT(want), NULL);
		CHECK(!made_insn(&t, n));
	}
	made_close(&t);
}

TEST(code_branches_point_at_labels_before_their_targets)
{
	struct maker_code code = { .code = BYTES(OP_ICONST_0, OP_IFEQ, 0, 6, OP_GOTO, 255, 252,
						 OP_RETURN) };
	struct made_code t = { 0 };

	if (CHECK_INT(made_open(&t, 52, code, NULL), 0, NULL)) {
		struct insn *first = made_insn(&t, 0), *branch = made_insn(&t, 1);
		struct insn *back = made_insn(&t, 2), *last = made_insn(&t, 3);

		CHECK_INT(branch->target->op, OP_LABEL, NULL);
		CHECK(branch->target->next == last);
		CHECK(back->target->next == first);
		CHECK(back->target != t.code->start); /* see code.h */
		CHECK(back->target->prev == t.code->start);
		CHECK(last->next == t.code->end);
	}
	made_close(&t);
}

static const struct {
	const char *what;
	struct slice handlers;
	int rc;
} handlers[] = {
	/* over three bytes of code */
	{ "good", CODE(U2(0), U2(2), U2(2), U2(0)), 0 },
	{ "to the end", CODE(U2(0), U2(3), U2(0), U2(2)), 0 },
	{ "nothing", CODE(U2(1), U2(1), U2(2), U2(0)), E_HANDLER },
	{ "backwards", CODE(U2(2), U2(1), U2(2), U2(0)), E_HANDLER },
	{ "start behind", CODE(U2(4), U2(5), U2(2), U2(0)), E_HANDLER },
	{ "end behind", CODE(U2(0), U2(4), U2(2), U2(0)), E_HANDLER },
	{ "handler at the end", CODE(U2(0), U2(2), U2(3), U2(0)), E_HANDLER },
	{ "type is no class", CODE(U2(0), U2(2), U2(2), U2(1)), E_HANDLER },
	{ "type behind the pool", CODE(U2(0), U2(2), U2(2), U2(999)), E_HANDLER },
};

TEST(code_elevate_checks_handlers)
{
	for (size_t i = 0; i < COUNT(handlers); i++) {
		struct maker_code code = { .code = BYTES(OP_NOP, OP_NOP, OP_RETURN),
					   .handlers = handlers[i].handlers };
		struct made_code t = { 0 };

		CHECK_INT(made_open(&t, 52, code, NULL), handlers[i].rc, handlers[i].what);
		made_close(&t);
	}
}

TEST(code_handler_ranges_may_not_split_an_instruction)
{
	struct maker_code code = { .code = BYTES(OP_SIPUSH, 0, 0, OP_RETURN),
				   .handlers = BYTES(U2(0), U2(2), U2(3), U2(0)) };
	struct made_code t = { 0 };

	CHECK_INT(made_open(&t, 52, code, NULL), E_HANDLER, NULL);
	made_close(&t);
}

/* ---- tables ---- */

static const struct {
	const char *what, *table;
	struct slice data;
	int rc;
} tables[] = {
	/* over goto +3, new, pop, return: 8 bytes, starts 0 3 6 7 */
	{ "line", "LineNumberTable", CODE(0, 2, U2(0), U2(1), U2(7), U2(2)), 0 },
	{ "line inside an instruction", "LineNumberTable", CODE(0, 1, U2(1), U2(1)), 0 },
	{ "line at the end", "LineNumberTable", CODE(0, 1, U2(8), U2(1)), E_LINES },
	{ "lines cut off", "LineNumberTable", CODE(0, 1, U2(0), 0), E_LINES },
	{ "lines without count", "LineNumberTable", CODE(0), E_LINES },
	{ "variable", "LocalVariableTable", CODE(0, 1, U2(0), U2(8), U2(1), U2(1), U2(0)), 0 },
	{ "variable too long", "LocalVariableTable", CODE(0, 1, U2(0), U2(9), U2(1), U2(1), U2(0)),
	  E_VARS },
	{ "variable behind", "LocalVariableTypeTable",
	  CODE(0, 1, U2(9), U2(0), U2(1), U2(1), U2(0)), E_VARS },
	{ "same", "StackMapTable", CODE(0, 1, 3), 0 },
	{ "same, two", "StackMapTable", CODE(0, 2, 3, 2), 0 },
	{ "same at 0", "StackMapTable", CODE(0, 1, 0), 0 },
	{ "same inside", "StackMapTable", CODE(0, 1, 4), E_FRAME },
	{ "same at the end", "StackMapTable", CODE(0, 1, 8), E_FRAME },
	{ "same_extended", "StackMapTable", CODE(0, 1, 251, U2(3)), 0 },
	{ "one item", "StackMapTable", CODE(0, 1, 64 + 3, 1), 0 },
	{ "one item extended", "StackMapTable", CODE(0, 1, 247, U2(3), 7, U2(2)), 0 },
	{ "item is no class", "StackMapTable", CODE(0, 1, 247, U2(3), 7, U2(1)), E_FRAME },
	{ "chop of nothing", "StackMapTable", CODE(0, 1, 250, U2(3)), E_FRAME },
	{ "append and chop", "StackMapTable", CODE(0, 2, 253, U2(3), 1, 2, 249, U2(2)), 0 },
	{ "append and chop more", "StackMapTable", CODE(0, 2, 252, U2(3), 1, 249, U2(2)), E_FRAME },
	{ "full", "StackMapTable", CODE(0, 1, 255, U2(3), U2(3), 4, 3, 5, U2(2), 0, 7, U2(2)), 0 },
	{ "uninitialized", "StackMapTable", CODE(0, 1, 64 + 6, 8, U2(3)), 0 },
	{ "uninitialized of no new", "StackMapTable", CODE(0, 1, 64 + 6, 8, U2(0)), E_FRAME },
	{ "uninitialized behind", "StackMapTable", CODE(0, 1, 64 + 6, 8, U2(80)), E_FRAME },
	{ "unknown item", "StackMapTable", CODE(0, 1, 64 + 3, 9, U2(2)), E_FRAME },
	{ "reserved frame type", "StackMapTable", CODE(0, 1, 128), E_FRAME },
	{ "reserved frame type 246", "StackMapTable", CODE(0, 1, 246, 0, 0), E_FRAME },
	{ "frames cut off", "StackMapTable", CODE(0, 2, 3), E_FRAME },
	{ "frames too long", "StackMapTable", CODE(0, 1, 3, 0), E_FRAME },
	{ "full with too many", "StackMapTable", CODE(0, 1, 255, U2(3), U2(9), 1), E_FRAME },
	{ "annotation on an instruction", "RuntimeVisibleTypeAnnotations",
	  CODE(0, 1, 0x44, U2(3), 0, U2(1), U2(0)), 0 },
	{ "annotation inside one", "RuntimeVisibleTypeAnnotations",
	  CODE(0, 1, 0x44, U2(4), 0, U2(1), U2(0)), 0 }, /* carried as it is */
	{ "annotation malformed", "RuntimeVisibleTypeAnnotations", CODE(0, 1, 0x44), 0 },
	{ "unknown", "Unknown", CODE(1, 2, 3), 0 },
};

static struct slice goto_new_pop = CODE(OP_GOTO, 0, 3, OP_NEW, 0, 2, OP_POP, OP_RETURN);

TEST(code_elevate_reads_tables)
{
	for (size_t i = 0; i < COUNT(tables); i++) {
		struct maker_list list = { 0 };
		struct maker_code code = { .code = goto_new_pop, .tables = &list };
		struct made_code t = { 0 };
		struct fault f = { 0 };

		maker_init(&t.maker, "A", 52);
		maker_attr(&t.maker, &list, tables[i].table, tables[i].data);
		CHECK_INT(made_open(&t, 52, code, &f), tables[i].rc, tables[i].what);
		CHECK_INT(f.code, tables[i].rc, tables[i].what);
		if (t.code) { /* and what was read is written again */
			struct slice body = t.cls->methods[0].code, got;

			made_lower(&t);
			got = t.cls->methods[0].lowered;
			if (strcmp(tables[i].table, "StackMapTable") != 0 ||
			    (tables[i].data.p[2] != 251 && /* these have a smaller form */
			     tables[i].data.p[2] != 247))
				CHECK_MEM(got.p, got.n, body.p, body.n, tables[i].what);
		}
		made_close(&t);
	}
}

TEST(code_tables_mean_nothing_before_their_version)
{
	struct maker_list list = { 0 };
	struct maker_code code = { .code = goto_new_pop, .tables = &list };
	struct made_code t = { 0 };

	maker_init(&t.maker, "A", 49);
	maker_attr(&t.maker, &list, "StackMapTable", BYTES(9, 9, 9));
	CHECK_INT(made_open(&t, 49, code, NULL), 0, NULL);
	CHECK_INT(t.code->n_frames, 0, NULL);
	CHECK_INT(t.code->tables[0].attr.kind, ATTR_UNKNOWN, "carried as it is");
	made_close(&t);
}

TEST(code_old_stack_map_keeps_its_offsets)
{
	/* At 3 with an int local; at 6 with what new at 3 made on the stack. */
	static const uint8_t map[] = {
		0, 2, U2(3), U2(1), 1, U2(0), U2(6), U2(0), U2(1), 8, U2(3)
	};
	struct maker_list list = { 0 };
	struct maker_code code = { .code = goto_new_pop, .tables = &list };
	struct made_code t = { 0 };
	struct slice body;

	maker_init(&t.maker, "A", 48);
	maker_attr(&t.maker, &list, "StackMap", (struct slice){ map, sizeof(map) });
	if (CHECK_INT(made_open(&t, 48, code, NULL), 0, NULL)) {
		insn_after(t.code, t.code->start, insn_new(t.code, OP_NOP));
		made_lower(&t);
		body = t.cls->methods[0].lowered;
		body.p += body.n - sizeof(map);
		CHECK_INT(get_u16(body.p + 2), 4, "first frame");
		CHECK_INT(get_u16(body.p + 9), 7, "second frame");
		CHECK_INT(get_u16(body.p + 16), 4, "the new");
	}
	made_close(&t);
}

TEST(code_frames_are_written_out_in_full)
{
	struct maker_list list = { 0 };
	struct maker_code code = { .code = goto_new_pop, .tables = &list };
	struct made_code t = { 0 };
	const struct frame *a, *b, *c;

	maker_init(&t.maker, "A", 52);
	/* append int float; same, with a null; chop one */
	maker_attr(&t.maker, &list, "StackMapTable",
		   BYTES(0, 3, 253, U2(3), 1, 2, 64 + 2, 5, 250, U2(0)));
	if (CHECK_INT(made_open(&t, 52, code, NULL), 0, NULL)) {
		a = made_insn(&t, 1)->prev->frame;
		b = made_insn(&t, 2)->prev->frame;
		c = made_insn(&t, 3)->prev->frame;
		CHECK_INT(t.code->n_frames, 3, NULL);
		CHECK_INT(a->n_locals * 10 + a->n_stack, 20, NULL);
		CHECK_INT(b->n_locals * 10 + b->n_stack, 21, NULL);
		CHECK_INT(c->n_locals * 10 + c->n_stack, 10, NULL);
		CHECK_INT(b->locals[0], VT_INT, NULL);
		CHECK_INT(b->locals[1], VT_FLOAT, NULL);
		CHECK_INT(b->stack[0], VT_NULL, NULL);
	}
	made_close(&t);
}

static const struct {
	const char *name, *desc;
	uint16_t access;
	struct slice tags; /* of the first frame's locals */
} firsts[] = {
	{ "f", "()V", ACC_STATIC, { NULL, 0 } },
	{ "f", "()V", 0, CODE(VT_OBJECT) },
	{ "<init>", "()V", 0, CODE(VT_UNINIT_THIS) },
	{ "f", "(ZBCSIJFD[ILa;)V", ACC_STATIC,
	  CODE(VT_INT, VT_INT, VT_INT, VT_INT, VT_INT, VT_LONG, VT_FLOAT, VT_DOUBLE, VT_OBJECT,
	       VT_OBJECT) },
};

TEST(code_first_frame_follows_from_the_descriptor)
{
	for (size_t i = 0; i < COUNT(firsts); i++) {
		struct class_maker m;
		struct class *cls;
		struct arena mem;
		struct code *code;

		arena_init(&mem);
		maker_init(&m, "A", 52);
		maker_code(&m, firsts[i].access, firsts[i].name, firsts[i].desc,
			   (struct maker_code){ .code = BYTES(OP_RETURN) });
		class_read(&mem, maker_bytes(&m), &cls, NULL);
		if (CHECK_INT(code_elevate(cls, &cls->methods[0], &code, NULL), 0, NULL)) {
			CHECK_INT(code->first.n_locals, firsts[i].tags.n, firsts[i].desc);
			for (size_t k = 0; k < firsts[i].tags.n; k++)
				CHECK_INT(vt_tag(code->first.locals[k]), firsts[i].tags.p[k],
					  firsts[i].desc);
		}
		class_release(cls);
		maker_release(&m);
		arena_release(&mem);
	}
}

TEST(code_elevate_refuses_a_malformed_descriptor_and_a_method_without_code)
{
	struct class_maker m;
	struct class *cls;
	struct arena mem;
	struct code *code;

	arena_init(&mem);
	maker_init(&m, "A", 52);
	maker_code(&m, 0, "f", "(", (struct maker_code){ .code = BYTES(OP_RETURN) });
	maker_method(&m, ACC_ABSTRACT, "g", "()V", NULL);
	class_read(&mem, maker_bytes(&m), &cls, NULL);
	CHECK_INT(code_elevate(cls, &cls->methods[0], &code, NULL), E_DESCRIPTOR, NULL);
	CHECK_INT(code_elevate(cls, &cls->methods[1], &code, NULL), E_CODE_MISSING, NULL);
	class_release(cls);
	maker_release(&m);
	arena_release(&mem);
}

TEST(code_lengths_are_between_1_and_65535)
{
	static const struct {
		size_t n;
		int rc;
	} lengths[] = { { 0, E_CODE_LENGTH }, { 1, 0 }, { 65535, 0 }, { 65536, E_CODE_LENGTH } };
	uint8_t *nops = calloc(1, 65536);

	for (size_t i = 0; i < COUNT(lengths); i++) {
		struct maker_code code = { .code = { nops, lengths[i].n } };
		struct made_code t = { 0 };

		CHECK_INT(made_open(&t, 52, code, NULL), lengths[i].rc, NULL);
		made_close(&t);
	}
	free(nops);
}

/* Branches, returns and new stand alone, and runs end where something jumps to. */
TEST(code_runs_are_as_good_as_their_instructions)
{
	struct maker_list list = { 0 };
	struct maker_code code = { .code = BYTES(OP_ICONST_0, OP_ISTORE_0, OP_IINC, 0, 1,
						 OP_ILOAD_0, OP_IFEQ, 255, 252, OP_NEW, 0, 2,
						 OP_POP, OP_NOP, OP_NOP, OP_RETURN),
				   .handlers = BYTES(U2(14), U2(15), U2(15), U2(0)),
				   .tables = &list };
	static const uint8_t want[] = {
		OP_RUN, OP_RUN, OP_IFEQ, OP_NEW, OP_RUN, OP_RUN, OP_RETURN
	};
	struct made_code t = { 0 };
	struct slice body, got;
	struct insn *n;

	maker_init(&t.maker, "A", 49);
	maker_attr(&t.maker, &list, "LineNumberTable",
		   BYTES(0, 3, U2(0), U2(1), U2(5), U2(2), U2(13), U2(3)));
	if (CHECK_INT(made_open(&t, 49, code, NULL), 0, NULL) &&
	    CHECK_INT(code_elevate_coarse(t.cls, &t.cls->methods[0], &t.code, NULL), 0, NULL)) {
		for (size_t i = 0; i < COUNT(want) && CHECK(made_insn(&t, (unsigned)i)); i++)
			CHECK_INT(made_insn(&t, (unsigned)i)->op, want[i], NULL);
		CHECK(!made_insn(&t, COUNT(want)));
		body = t.cls->methods[0].code;
		made_lower(&t);
		got = t.cls->methods[0].lowered;
		CHECK_MEM(got.p, got.n, body.p, body.n, "runs");
		CHECK_INT(code_expand(t.code), 0, NULL);
		for (n = t.code->start; n; n = n->next)
			CHECK(n->op != OP_RUN);
		CHECK_INT(made_insn(&t, 2)->op, OP_IINC, NULL);
		CHECK_INT(made_insn(&t, 2)->arg, 1, NULL);
		CHECK(made_insn(&t, 4)->target->next == made_insn(&t, 2));
		made_lower(&t);
		got = t.cls->methods[0].lowered;
		CHECK_MEM(got.p, got.n, body.p, body.n, "expanded");
	}
	made_close(&t);
}

/* Tables may point into an instruction; finding its start must not take a walk each time. */
TEST(code_elevate_is_not_slow_on_hostile_tables)
{
	enum { CASES = 16000 };
	struct buf body = { 0 }, lines = { 0 };
	struct maker_list list = { 0 };
	struct made_code t = { 0 };

	buf_bytes(&body, BYTES(OP_TABLESWITCH, 0, 0, 0, U4(0), U4(1), U4(CASES)).p, 16);
	for (int i = 0; i < CASES; i++)
		buf_u32(&body, 0);
	buf_u16(&lines, 65535);
	for (int i = 0; i < 65535; i++)
		buf_u32(&lines, (uint32_t)(body.n - 1) << 16);
	maker_init(&t.maker, "A", 52);
	for (int i = 0; i < 4; i++)
		maker_attr(&t.maker, &list, "LineNumberTable", buf_slice(&lines));
	CHECK_INT(made_open(&t, 52,
			    (struct maker_code){ .code = buf_slice(&body), .tables = &list }, NULL),
		  0, NULL);
	made_close(&t);
	buf_release(&body);
	buf_release(&lines);
}

TEST(code_elevate_is_not_slow_on_hostile_frames)
{
	enum { NEWS = 20000, TYPES = 65000, FRAMES = 8 };
	struct buf body = { 0 }, frames = { 0 };
	struct maker_list list = { 0 };
	struct made_code t = { 0 };

	for (int i = 0; i < NEWS; i++)
		buf_bytes(&body, BYTES(OP_NEW, 0, 2).p, 3);
	buf_u8(&body, OP_RETURN);
	buf_u16(&frames, FRAMES);
	for (int i = 0; i < FRAMES; i++) {
		buf_u8(&frames, 255);
		buf_u16(&frames, i ? 2 : 0);
		buf_u16(&frames, TYPES);
		for (int k = 0; k < TYPES; k++) {
			buf_u8(&frames, VT_UNINIT);
			buf_u16(&frames, i ? 0 : 3u * (unsigned)(k % NEWS));
		}
		buf_u16(&frames, 0);
	}
	maker_init(&t.maker, "A", 52);
	maker_attr(&t.maker, &list, "StackMapTable", buf_slice(&frames));
	CHECK_INT(made_open(&t, 52,
			    (struct maker_code){ .code = buf_slice(&body), .tables = &list }, NULL),
		  0, NULL);
	made_close(&t);
	buf_release(&body);
	buf_release(&frames);
}

/* Versions 45.0 to 45.2 had a header of four bytes; JVMs of today read one of eight all the
 * same. */
TEST(code_of_version_45_0_is_read_with_either_header)
{
	const struct {
		const char *label;
		struct slice attr;
	} cases[] = {
		{ "short", BYTES(1, 1, U2(1), OP_RETURN, U2(0), U2(0)) },
		{ "long", BYTES(U2(1), U2(1), U4(1), OP_RETURN, U2(0), U2(0)) },
	};

	for (size_t i = 0; i < COUNT(cases); i++) {
		struct maker_list attrs = { 0 };
		struct class_maker m;
		struct arena mem;
		struct class *cls;
		struct code *code;

		arena_init(&mem);
		maker_init(&m, "a/B", 45);
		maker_attr(&m, &attrs, "Code", cases[i].attr);
		maker_method(&m, ACC_STATIC, "f", "()V", &attrs);
		if (CHECK_INT(class_read(&mem, maker_bytes(&m), &cls, NULL), 0, cases[i].label) &&
		    CHECK_INT(code_elevate(cls, cls->methods, &code, NULL), 0, cases[i].label) &&
		    CHECK_INT(code_lower(code, NULL), 0, cases[i].label))
			CHECK_MEM(cls->methods->lowered.p, cls->methods->lowered.n, cases[i].attr.p,
				  cases[i].attr.n, cases[i].label);
		class_release(cls);
		arena_release(&mem);
		maker_release(&m);
	}
}
