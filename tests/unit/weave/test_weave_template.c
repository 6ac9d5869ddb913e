/* SPDX-License-Identifier: Apache-2.0 */
/* What makes a template, and how it is told what is wrong with it. */
#include "weave/template.h"

#include "base/mem.h"
#include "classes.h"
#include "test.h"
#include "weave/builtin.h"

/* What code below may call, or make with invokedynamic. */
enum call { BODY, ID, SELF, ARG, INT_ARG, RESULT, INT_RESULT, THROWN, UNKNOWN, WRONG_TYPE, CALLS };

static const struct {
	const char *name, *desc;
} calls[CALLS] = {
	[BODY] = { "body", "()V" },
	[ID] = { "id", "()I" },
	[SELF] = { "self", "()Ljava/lang/Object;" },
	[ARG] = { "arg", "(I)Ljava/lang/Object;" },
	[INT_ARG] = { "intArg", "(I)I" },
	[RESULT] = { "result", "()Ljava/lang/Object;" },
	[INT_RESULT] = { "intResult", "()I" },
	[THROWN] = { "thrown", "()Ljava/lang/Throwable;" },
	[UNKNOWN] = { "nothing", "()V" },
	[WRONG_TYPE] = { "id", "()J" },
};

#define HERE(call) OP_INVOKESTATIC, 0, call /* the index is put in by patch() */
#define OBJECT U2(4)			    /* the Class entry that maker_init makes */
#define THROWABLE 6			    /* the first that make() adds */
#define AT(pc, to) (uint8_t)(((to) - (pc)) >> 8), (uint8_t)((to) - (pc)) /* of the branch at pc */
/* Entries of a StackMapTable, with their distance to the one before. */
#define FRAME_PLAIN(distance) (distance)
#define FRAME_CAUGHT(distance) 64 + (distance), 7, U2(THROWABLE)

struct body {
	const char *label;
	struct slice code, handlers, frames; /* frames: with their number before them */
	const char *why;		     /* behind "template t/T: " */
	uint16_t major;			     /* 0: 52 */
	uint16_t access;		     /* 0: static */
	const char *desc;		     /* NULL: ()V */
};

/* Calls get the indices of their constants. */
static void patch(uint8_t *code, size_t n, const uint16_t *refs)
{
	for (size_t at = 0; at < n; at += op_table[code[at]].size)
		if (code[at] == OP_INVOKESTATIC)
			put_u16(code + at + 1, refs[code[at + 2]]);
}

static void add_method(struct class_maker *m, const char *name, const struct body *b,
		       const uint16_t *refs)
{
	struct maker_list tables = { 0 };
	uint8_t code[64];

	memcpy(code, b->code.p, b->code.n);
	patch(code, b->code.n, refs);
	if (b->frames.n)
		maker_attr(m, &tables, "StackMapTable", b->frames);
	maker_code(m, b->access ? b->access : ACC_STATIC, name, b->desc ? b->desc : "()V",
		   (struct maker_code){ .code = { code, b->code.n },
					.handlers = b->handlers,
					.tables = &tables });
}

/* A class t/T with the methods "a", "b" ...; `refs` has room for CALLS. */
static struct slice make(struct class_maker *m, const struct body *b, unsigned n)
{
	uint16_t refs[CALLS];

	maker_init(m, "t/T", b->major ? b->major : 52);
	CHECK_INT(maker_name(m, CONST_CLASS, "java/lang/Throwable"), THROWABLE, NULL);
	for (unsigned i = 0; i < CALLS; i++)
		refs[i] = maker_ref(m, CONST_METHODREF, HERE_CLASS, calls[i].name, calls[i].desc);
	for (unsigned i = 0; i < n; i++)
		add_method(m, (const char[]){ (char)('a' + i), 0 }, &b[i], refs);
	return maker_bytes(m);
}

/* All refusals are found before a template is used: each row is one. */
static const struct body bad[] = {
	{ "no sentinel", BYTES(OP_RETURN), .why = "no method calls sonde.Here.body()" },
	{ "two sentinels", BYTES(HERE(BODY), HERE(BODY), OP_RETURN),
	  .why = "Here.body() is called more than once" },
	{ "sentinel in one branch", BYTES(OP_ICONST_0, OP_IFEQ, AT(1, 7), HERE(BODY), OP_RETURN),
	  .frames = BYTES(U2(1), FRAME_PLAIN(7)),
	  .why = "Here.body() is not called exactly once on every path" },
	{ "sentinel in a loop", BYTES(HERE(BODY), OP_ICONST_0, OP_IFEQ, AT(4, 0), OP_RETURN),
	  .frames = BYTES(U2(1), FRAME_PLAIN(0)),
	  .why = "Here.body() is not called exactly once on every path" },
	{ "return before the sentinel",
	  BYTES(OP_ICONST_0, OP_IFNE, AT(1, 5), OP_RETURN, HERE(BODY), OP_RETURN),
	  .frames = BYTES(U2(1), FRAME_PLAIN(5)), .why = "returns before Here.body() is called" },
	{ "handler that swallows", BYTES(HERE(BODY), OP_RETURN, OP_POP, OP_RETURN),
	  .handlers = BYTES(U2(0), U2(3), U2(4), U2(0)), .frames = BYTES(U2(1), FRAME_CAUGHT(4)),
	  .why = "returns from a handler around Here.body(); the exception must be thrown on" },
	{ "handler that goes on", BYTES(HERE(BODY), OP_GOTO, AT(3, 7), OP_POP, OP_RETURN),
	  .handlers = BYTES(U2(0), U2(3), U2(6), U2(0)),
	  .frames = BYTES(U2(2), FRAME_CAUGHT(6), FRAME_PLAIN(0)),
	  .why = "normal and exceptional exits meet; let the handler throw" },
	{ "argument after the sentinel",
	  BYTES(HERE(BODY), OP_ICONST_1, HERE(ARG), OP_POP, OP_RETURN),
	  .why = "`this` and arguments can be had before Here.body() only; keep them in a "
		 "variable" },
	{ "`this` after the sentinel", BYTES(HERE(BODY), HERE(SELF), OP_POP, OP_RETURN),
	  .why = "`this` and arguments can be had before Here.body() only; keep them in a "
		 "variable" },
	{ "result before the sentinel", BYTES(HERE(RESULT), OP_POP, HERE(BODY), OP_RETURN),
	  .why = "result and exception can be had after Here.body() only" },
	{ "int result before the sentinel", BYTES(HERE(INT_RESULT), OP_POP, HERE(BODY), OP_RETURN),
	  .why = "result and exception can be had after Here.body() only" },
	{ "exception asked for in a handler",
	  BYTES(HERE(BODY), OP_RETURN, HERE(THROWN), OP_POP, OP_ATHROW),
	  .handlers = BYTES(U2(0), U2(3), U2(4), U2(0)), .frames = BYTES(U2(1), FRAME_CAUGHT(4)),
	  .why = "a handler has the exception in its own variable" },
	{ "argument number in a variable",
	  BYTES(OP_ICONST_1, OP_ISTORE_0, OP_ILOAD_0, HERE(ARG), OP_POP, HERE(BODY), OP_RETURN),
	  .why = "the number of an argument must be a constant from 1 on" },
	{ "argument number 0", BYTES(OP_ICONST_0, HERE(INT_ARG), OP_POP, HERE(BODY), OP_RETURN),
	  .why = "the number of an argument must be a constant from 1 on" },
	{ "argument number below 0",
	  BYTES(OP_BIPUSH, 0xff, HERE(INT_ARG), OP_POP, HERE(BODY), OP_RETURN),
	  .why = "the number of an argument must be a constant from 1 on" },
	{ "unknown method", BYTES(HERE(UNKNOWN), HERE(BODY), OP_RETURN),
	  .why = "sonde.Here has no nothing()V" },
	{ "known method of another type", BYTES(HERE(WRONG_TYPE), OP_POP2, HERE(BODY), OP_RETURN),
	  .why = "sonde.Here has no id()J" },
	{ "not static", BYTES(HERE(BODY), OP_RETURN), .access = ACC_PUBLIC,
	  .why = "the method must be static, without arguments and void" },
	{ "with an argument", BYTES(HERE(BODY), OP_RETURN), .desc = "(I)V",
	  .why = "the method must be static, without arguments and void" },
	{ "with a result", BYTES(HERE(BODY), OP_ICONST_0, OP_IRETURN), .desc = "()I",
	  .why = "the method must be static, without arguments and void" },
	{ "stack not empty", BYTES(OP_ICONST_0, HERE(BODY), OP_POP, OP_RETURN),
	  .why = "the stack is not empty where Here.body() is called" },
	{ "object being made", BYTES(OP_NEW, OBJECT, OP_ASTORE_0, HERE(BODY), OP_RETURN),
	  .why = "an object is being made where Here.body() is called" },
	{ "prolog behind the sentinel",
	  BYTES(OP_GOTO, AT(0, 7), HERE(BODY), OP_RETURN, OP_GOTO, AT(7, 3)),
	  .frames = BYTES(U2(2), FRAME_PLAIN(3), FRAME_PLAIN(3)),
	  .why = "code of the prolog lies behind Here.body(), or code of the epilog before it" },
	{ "frames may be missing", BYTES(HERE(BODY), OP_RETURN), .major = 50,
	  .why = "the class file is older than version 51 (Java 7)" },
};

TEST(template_is_refused_with_the_reason)
{
	for (size_t i = 0; i < COUNT(bad); i++) {
		struct class_maker m = { 0 };
		struct template *t = NULL;
		struct arena mem;
		struct fault f = { 0 };
		char want[200] = "template t/T: ";

		arena_init(&mem);
		strcat(want, bad[i].why);
		CHECK_INT(template_read(&mem, make(&m, &bad[i], 1), slice_str(""), &t, &f),
			  E_TEMPLATE, bad[i].label);
		CHECK_STR(f.text, want, bad[i].label);
		CHECK(!t);
		arena_release(&mem);
		maker_release(&m);
	}
}

TEST(template_with_invokedynamic_is_refused)
{
	struct class_maker m = { 0 };
	struct template *t = NULL;
	struct fault f = { 0 };
	struct arena mem;
	uint16_t body, handle, indy;

	arena_init(&mem);
	maker_init(&m, "t/T", 52);
	body = maker_ref(&m, CONST_METHODREF, HERE_CLASS, "body", "()V");
	handle = maker_handle(&m, 6, body);
	indy = maker_pair(&m, CONST_INVOKE_DYNAMIC, 0, maker_name_and_type(&m, "x", "()V"));
	maker_attr(&m, &m.attrs, "BootstrapMethods", BYTES(U2(1), U2(handle), U2(0)));
	maker_code(&m, ACC_STATIC, "a", "()V",
		   (struct maker_code){ .code = BYTES(OP_INVOKEDYNAMIC, U2(indy), 0, 0,
						      OP_INVOKESTATIC, U2(body), OP_RETURN) });
	CHECK_INT(template_read(&mem, maker_bytes(&m), slice_str("a"), &t, &f), E_TEMPLATE, NULL);
	CHECK_STR(
		f.text,
		"template t/T: invokedynamic and dynamic constants (lambdas, string concatenation "
		"of Java 9 and later) cannot be merged",
		NULL);
	arena_release(&mem);
	maker_release(&m);
}

static const struct body two[] = {
	{ "a", BYTES(HERE(BODY), OP_RETURN), .why = NULL },
	{ "b", BYTES(HERE(ID), OP_POP, HERE(BODY), OP_RETURN), .why = NULL },
};

TEST(template_of_several_is_chosen_by_name)
{
	static const struct {
		const char *method, *why;
	} cases[] = {
		{ "a", NULL },
		{ "b", NULL },
		{ "", "template t/T: several methods call Here.body(); name the one to use" },
		{ "c", "template t/T: no method calls sonde.Here.body()" },
	};

	for (size_t i = 0; i < COUNT(cases); i++) {
		struct class_maker m = { 0 };
		struct template *t = NULL;
		struct fault f = { 0 };
		struct arena mem;
		int rc;

		arena_init(&mem);
		rc = template_read(&mem, make(&m, two, 2), slice_str(cases[i].method), &t, &f);
		CHECK_INT(rc, cases[i].why ? E_TEMPLATE : 0, cases[i].method);
		CHECK_STR(f.text, cases[i].why ? cases[i].why : "", cases[i].method);
		template_release(t);
		arena_release(&mem);
		maker_release(&m);
	}
}

/* Code that does not verify is told by the checker, with the place. */
TEST(template_that_does_not_verify_is_refused)
{
	const struct body wrong = { "pop", BYTES(OP_POP, HERE(BODY), OP_RETURN), .why = NULL };
	struct class_maker m = { 0 };
	struct template *t = NULL;
	struct fault f = { 0 };
	struct arena mem;

	arena_init(&mem);
	CHECK_INT(template_read(&mem, make(&m, &wrong, 1), slice_str(""), &t, &f), E_VERIFY, NULL);
	CHECK(f.text[0]);
	arena_release(&mem);
	maker_release(&m);
}

/* What is found out about good ones. */
TEST(template_tells_what_merging_needs_to_know)
{
	const struct {
		struct body body;
		bool catches, epilog_empty, prolog_framed, epilog_framed;
		bool wants_args, wants_result, wants_thrown;
		uint16_t locals; /* that live across the sentinel */
	} cases[] = {
		{ { "light", BYTES(HERE(ID), OP_POP, HERE(BODY), OP_RETURN), .why = NULL },
		  .epilog_empty = true },
		{ { "argument kept",
		    BYTES(OP_ICONST_1, HERE(INT_ARG), OP_ISTORE_0, HERE(BODY), OP_ILOAD_0, OP_POP,
			  OP_RETURN),
		    .why = NULL },
		  .wants_args = true,
		  .locals = 1 },
		{ { "branch before",
		    BYTES(OP_ICONST_0, OP_IFEQ, AT(1, 5), OP_NOP, HERE(BODY), OP_RETURN),
		    .frames = BYTES(U2(1), FRAME_PLAIN(5)), .why = NULL },
		  .epilog_empty = true,
		  .prolog_framed = true },
		{ { "branch after",
		    BYTES(HERE(BODY), HERE(INT_RESULT), OP_IFEQ, AT(6, 10), OP_NOP, OP_RETURN),
		    .frames = BYTES(U2(1), FRAME_PLAIN(10)), .why = NULL },
		  .wants_result = true,
		  .epilog_framed = true },
		{ { "handler after",
		    BYTES(HERE(BODY), HERE(THROWN), OP_POP, OP_RETURN, OP_POP, OP_RETURN),
		    .handlers = BYTES(U2(3), U2(7), U2(8), U2(0)),
		    .frames = BYTES(U2(1), FRAME_CAUGHT(8)), .why = NULL },
		  .wants_thrown = true,
		  .epilog_framed = true },
		{ { "handler around", BYTES(HERE(BODY), OP_RETURN, OP_ATHROW),
		    .handlers = BYTES(U2(0), U2(3), U2(4), U2(0)),
		    .frames = BYTES(U2(1), FRAME_CAUGHT(4)), .why = NULL },
		  .catches = true },
	};

	for (size_t i = 0; i < COUNT(cases); i++) {
		const char *label = cases[i].body.label;
		struct class_maker m = { 0 };
		struct template *t = NULL;
		struct fault f = { 0 };
		struct arena mem;

		arena_init(&mem);
		CHECK_INT(template_read(&mem, make(&m, &cases[i].body, 1), slice_str(""), &t, &f),
			  0, label);
		CHECK_STR(f.text, "", label);
		if (t) {
			CHECK_INT(t->catches, cases[i].catches, label);
			CHECK_INT(t->epilog_empty, cases[i].epilog_empty, label);
			CHECK_INT(t->prolog_framed, cases[i].prolog_framed, label);
			CHECK_INT(t->epilog_framed, cases[i].epilog_framed, label);
			CHECK_INT(t->wants_args, cases[i].wants_args, label);
			CHECK_INT(t->wants_result, cases[i].wants_result, label);
			CHECK_INT(t->wants_thrown, cases[i].wants_thrown, label);
			CHECK_INT(t->at_body.n_locals, cases[i].locals, label);
		}
		template_release(t);
		arena_release(&mem);
		maker_release(&m);
	}
}

TEST(template_reading_survives_every_failed_allocation)
{
	for (size_t i = 0; i < builtin_count; i++) {
		struct slice bytes = { builtins[i].start,
				       (size_t)(builtins[i].end - builtins[i].start) };
		int rc = E_NO_MEMORY;

		for (long n = 0; rc < 0 && n < 1000; n++) {
			struct template *t = NULL;
			struct fault f = { 0 };
			struct arena mem;

			arena_init(&mem);
			mem_fail_at(n);
			rc = template_read(&mem, bytes, slice_str(builtins[i].method), &t, &f);
			mem_fail_at(-1);
			CHECK(rc == 0 || rc == E_NO_MEMORY);
			template_release(t);
			arena_release(&mem);
		}
		CHECK_INT(rc, 0, builtins[i].method);
	}
}

/* The classes a template names outside of java.base must be named by its target, too. */
TEST(template_is_kept_from_classes_that_may_not_see_its_types)
{
	static const struct {
		const char *desc, *unseen; /* of a method of the target */
	} cases[] = {
		{ "(Ljavax/jms/Message;)V", "" },
		{ "()V", "javax/jms/Message" },
	};

	for (size_t i = 0; i < COUNT(cases); i++) {
		struct class_maker m = { 0 };
		struct template *t = NULL;
		struct class *cls = NULL;
		struct slice unseen = { NULL, 0 };
		struct arena mem;

		arena_init(&mem);
		maker_init(&m, "a/Target", 52);
		maker_method(&m, ACC_ABSTRACT, "f", cases[i].desc, NULL);
		for (size_t k = 0; k < builtin_count && !t; k++)
			if (strcmp(builtins[k].method, "deliver") == 0)
				CHECK_INT(
					template_read(&mem,
						      (struct slice){ builtins[k].start,
								      (size_t)(builtins[k].end -
									       builtins[k].start) },
						      slice_str("deliver"), &t, NULL),
					0, NULL);
		if (CHECK_INT(class_read(&mem, maker_bytes(&m), &cls, NULL), 0, NULL) && CHECK(t))
			unseen = template_invisible(t, cls);
		CHECK_MEM(unseen.p, unseen.n, cases[i].unseen, strlen(cases[i].unseen),
			  cases[i].desc);
		template_release(t);
		if (cls)
			class_release(cls);
		arena_release(&mem);
		maker_release(&m);
	}
}
