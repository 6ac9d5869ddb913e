/* SPDX-License-Identifier: Apache-2.0 */
/* The checker: what instructions do to types, and what is said where they do not fit. */
#include "test_check.h"

#include "base/mem.h"
#include "classfile/check/check.h"
#include "classfile/insn.h"
#include "test.h"

static const struct check_case instructions[] = {
	{ "nothing", { .code = "return" }, NULL },
	{ "falls off the end", { .code = "nop" }, "offset 0, nop: control falls off the end" },
	{ "empty stack", { .code = "pop return" }, "offset 0, pop: wants a value on the stack" },
	{ "overflow",
	  { .code = "iconst_0 iconst_0 pop2 return", .max_stack = 1 },
	  "offset 1, iconst_0: the stack would be deeper than max_stack, 1" },
	{ "a long needs two",
	  { .code = "lconst_0 pop2 return", .max_stack = 1 },
	  "deeper than max_stack, 1" },
	{ "int for float",
	  { .code = "iconst_0 fneg pop return" },
	  "fneg: wants float on the stack, finds int" },
	{ "long for int",
	  { .code = "lconst_0 ineg pop return" },
	  "wants int on the stack, finds long" },
	{ "shift of a long", { .code = "lconst_0 iconst_1 lshl pop2 return" }, NULL },
	{ "reference for int",
	  { .code = "aconst_null ineg pop return" },
	  "wants int on the stack, finds null" },
	{ "int for reference",
	  { .code = "iconst_0 monitorenter return" },
	  "monitorenter: wants a reference" },
	{ "half a long popped",
	  { .code = "lconst_0 pop pop return" },
	  "would cut a long or double" },
	{ "half a double copied", { .code = "dconst_0 dup pop2 pop return" }, "would cut" },
	{ "a long under one slot",
	  { .code = "lconst_0 iconst_0 dup_x2 pop pop2 pop return" },
	  NULL },
	{ "into a long", { .code = "lconst_0 iconst_0 dup_x1 return" }, "would cut" },
	{ "two longs", { .code = "lconst_0 dconst_0 dup2_x2 pop2 pop2 pop2 return" }, NULL },
	{ "swapped long",
	  { .code = "lconst_0 swap return" },
	  "swap: needs two values of one slot" },
	{ "locals", { .code = "iconst_1 istore_0 iload_0 istore =5 return" }, NULL },
	{ "local of another type",
	  { .code = "iconst_1 istore_0 fload_0 pop return" },
	  "wants float in local 0, finds int" },
	{ "local never set",
	  { .code = "aload_1 pop return" },
	  "wants a reference in local 1, finds nothing usable" },
	{ "beyond max_locals",
	  { .code = "iconst_1 istore =6 return" },
	  "local 6 is beyond max_locals, 6" },
	{ "upper half beyond",
	  { .code = "lconst_0 lstore =5 return" },
	  "local 6 is beyond max_locals" },
	{ "long overwritten from above",
	  { .code = "lconst_0 lstore_0 iconst_0 istore_1 lload_0 pop2 return" },
	  "wants long in local 0" },
	{ "long overwritten from below",
	  { .code = "lconst_0 lstore_1 dconst_0 dstore_0 lload_1 pop2 return" },
	  "wants long in local 1, finds the upper half of a double" },
	{ "arguments",
	  { .desc = "(IJLa/A;)V", .code = "iload_0 lload_1 pop2 pop aload_3 pop return" },
	  NULL },
	{ "iinc", { .code = "iconst_0 istore_0 iinc =0 =1 return" }, NULL },
	{ "iinc of a reference",
	  { .desc = "([I)V", .code = "iinc =0 =1 return" },
	  "wants int in local 0, finds int[]" },
	{ "array element",
	  { .desc = "([I)V", .code = "aload_0 iconst_0 iaload pop return" },
	  NULL },
	{ "array of another type",
	  { .desc = "([F)V", .code = "aload_0 iconst_0 iaload pop return" },
	  "wants int[] on the stack, finds float[]" },
	{ "boolean as byte",
	  { .desc = "([Z)V", .code = "aload_0 iconst_0 baload pop return" },
	  NULL },
	{ "element of null", { .code = "aconst_null iconst_0 laload pop2 return" }, NULL },
	{ "element of int[][]",
	  { .desc = "([[I)V", .code = "aload_0 iconst_0 aaload iconst_0 iaload pop return" },
	  NULL },
	{ "element of int[] by aaload",
	  { .desc = "([I)V", .code = "aload_0 iconst_0 aaload pop return" },
	  "wants an array of references on the stack, finds int[]" },
	{ "element of an element",
	  { .desc = "([La/A;)V", .code = "aload_0 iconst_0 aaload iconst_0 aaload pop return" },
	  "finds a/A" },
	{ "any object into an array",
	  { .desc = "([La/A;)V", .code = "aload_0 iconst_0 ldc !string aastore return" },
	  NULL },
	{ "int into an array of objects",
	  { .desc = "([La/A;)V", .code = "aload_0 iconst_0 iconst_0 aastore return" },
	  "wants java/lang/Object on the stack, finds int" },
	{ "length", { .desc = "([[La/A;)V", .code = "aload_0 arraylength pop return" }, NULL },
	{ "length of an object",
	  { .desc = "(La/A;)V", .code = "aload_0 arraylength pop return" },
	  "wants an array" },
	{ "new arrays",
	  { .code = "iconst_1 newarray =10 pop iconst_1 anewarray @int[] iconst_0 aaload arraylength pop return" },
	  NULL },
	{ "no such type", { .code = "iconst_1 newarray =3 pop return" }, "no such type, 3" },
	{ "two dimensions",
	  { .code = "iconst_1 iconst_1 multianewarray @int[][] =2 pop return" },
	  NULL },
	{ "too many dimensions",
	  { .code = "iconst_1 iconst_1 multianewarray @int[] =2 pop return" },
	  "2 dimensions of an array that has 1" },
	{ "cast",
	  { .desc = "(Ljava/lang/Object;)V",
	    .code = "aload_0 checkcast @A invokestatic @T.take(A) return" },
	  NULL },
	{ "cast of an int",
	  { .code = "iconst_0 checkcast @A pop return" },
	  "wants java/lang/Object on the stack, finds int" },
	{ "throw", { .desc = "(La/A;)V", .code = "aload_0 athrow" }, NULL },
	{ "throw an array",
	  { .desc = "([La/A;)V", .code = "aload_0 athrow" },
	  "wants java/lang/Throwable on the stack, finds a/A[]" },
	{ "throw a string", { .code = "ldc !string athrow" }, "finds java/lang/String" },
	{ "throw an object",
	  { .desc = "(Ljava/lang/Object;)V", .code = "aload_0 athrow" },
	  "finds java/lang/Object" },
	{ "constants",
	  { .major = 55,
	    .code = "ldc !int istore_0 ldc !float pop ldc !string pop ldc_w @type pop ldc2_w @long pop2 ldc_w @T pop ldc !dynamic-int istore_0 ldc2_w @dynamic-long lstore_0 return" },
	  NULL },
	{ "long by ldc", { .code = "ldc_w @long pop2 return" }, "cannot load constant" },
	{ "int by ldc2_w", { .code = "ldc2_w @int pop2 return" }, "cannot load constant" },
	{ "dynamic constant of two slots",
	  { .major = 55, .code = "ldc_w @dynamic-long pop2 return" },
	  "takes two slots" },
	{ "dynamic constant too early",
	  { .major = 54, .code = "ldc_w @dynamic-int pop return" },
	  "in class version 54" },
	{ "class constant too early",
	  { .major = 48, .code = "ldc_w @T pop return" },
	  "in class version 48" },
	{ "method type too early",
	  { .major = 50, .code = "ldc_w @type pop return" },
	  "in class version 50" },
	{ "return a value", { .desc = "()J", .code = "lconst_0 lreturn" }, NULL },
	{ "value of a void method",
	  { .code = "iconst_0 ireturn" },
	  "ireturn: method returns void" },
	{ "no value", { .desc = "()I", .code = "return" }, "return: method returns int" },
	{ "another value",
	  { .desc = "()I", .code = "aconst_null areturn" },
	  "areturn: method returns int" },
	{ "object for a string",
	  { .desc = "(Ljava/lang/Object;)Ljava/lang/String;", .code = "aload_0 areturn" },
	  "wants java/lang/String on the stack, finds java/lang/Object" },
	{ "boolean is an int", { .desc = "()Z", .code = "iconst_0 ireturn" }, NULL },
	{ "jsr", { .major = 51, .code = "jsr ~3 return" }, "jsr: not allowed in class version 51" },
};

TEST(check_knows_what_instructions_do)
{
	check_cases(instructions, COUNT(instructions));
}

static const struct check_case members[] = {
	{ "fields",
	  { .instance = true,
	    .code = "aload_0 getfield @T.i aload_0 swap putfield @T.i getstatic @T.o putstatic @T.o return" },
	  NULL },
	{ "field of another type",
	  { .code = "iconst_0 putstatic @T.o return" },
	  "putstatic: wants java/lang/Object on the stack, finds int" },
	{ "field of an array",
	  { .desc = "([I)V", .code = "aload_0 getfield @int[].i pop return" },
	  "an array has no fields" },
	{ "no field", { .code = "getstatic @T.v() pop return" }, "has the wrong tag, 10" },
	{ "arguments", { .code = "iconst_0 lconst_0 invokestatic @T.take(IJ) return" }, NULL },
	{ "arguments turned",
	  { .code = "lconst_0 iconst_0 invokestatic @T.take(IJ) return" },
	  "wants long on the stack, finds int" },
	{ "result", { .code = "invokestatic @T.long() lstore_0 return" }, NULL },
	{ "result that there is not",
	  { .code = "iconst_0 lconst_0 invokestatic @T.take(IJ) pop return" },
	  "pop: wants a value" },
	{ "unknown classes",
	  { .desc = "(La/B;)V", .code = "aload_0 invokestatic @T.take(A) return" },
	  NULL },
	{ "null", { .code = "aconst_null invokestatic @T.take(A[]) return" }, NULL },
	{ "unknown for a string",
	  { .desc = "(La/A;)V", .code = "aload_0 invokestatic @T.take(String) return" },
	  "wants java/lang/String" },
	{ "anything for Object",
	  { .desc = "([I)V", .code = "aload_0 invokestatic @T.take(Object) return" },
	  NULL },
	{ "Object for this class",
	  { .desc = "(Ljava/lang/Object;)V", .code = "aload_0 invokestatic @T.take(T) return" },
	  "wants T on the stack, finds java/lang/Object" },
	{ "a class below this one",
	  { .desc = "(La/A;)V", .code = "aload_0 invokestatic @T.take(T) return" },
	  NULL },
	{ "array for a class",
	  { .desc = "([I)V", .code = "aload_0 invokestatic @T.take(A) return" },
	  "wants a/A on the stack, finds int[]" },
	{ "arrays of unknown classes",
	  { .desc = "([La/B;)V", .code = "aload_0 invokestatic @T.take(A[]) return" },
	  NULL },
	{ "array of arrays",
	  { .desc = "([[I)V", .code = "aload_0 invokestatic @T.take(Object[]) return" },
	  NULL },
	{ "array of ints",
	  { .desc = "([I)V", .code = "aload_0 invokestatic @T.take(Object[]) return" },
	  "wants java/lang/Object[] on the stack, finds int[]" },
	{ "array of arrays for one",
	  { .desc = "([[La/A;)V", .code = "aload_0 invokestatic @T.take(A[]) return" },
	  "wants a/A[]" },
	{ "clone of an array",
	  { .desc = "([I)V", .code = "aload_0 invokevirtual @int[].clone() pop return" },
	  NULL },
	{ "receiver is an int",
	  { .code = "iconst_0 invokevirtual @T.v() return" },
	  "wants T on the stack, finds int" },
	{ "interface",
	  { .desc = "(La/A;)V", .code = "aload_0 iconst_0 invokeinterface @I.run(I) =2 =0 return" },
	  NULL },
	{ "interface, wrong count",
	  { .desc = "(La/A;)V", .code = "aload_0 iconst_0 invokeinterface @I.run(I) =3 =0 return" },
	  "says 3 argument slots, the descriptor 2" },
	{ "interface, padding",
	  { .desc = "(La/A;)V", .code = "aload_0 iconst_0 invokeinterface @I.run(I) =2 =1 return" },
	  "must be zero" },
	{ "interface by invokevirtual",
	  { .desc = "(La/A;)V", .code = "aload_0 iconst_0 invokevirtual @I.run(I) return" },
	  "has the wrong tag, 11" },
	{ "static of an interface", { .code = "iconst_0 invokestatic @I.run(I) return" }, NULL },
	{ "static of an interface too early",
	  { .major = 51, .code = "iconst_0 invokestatic @I.run(I) return" },
	  "for class version 51" },
	{ "dynamic",
	  { .major = 51,
	    .code = "iconst_0 invokedynamic @dynamic(I) ~0 invokestatic @T.take(Object) return" },
	  NULL },
	{ "dynamic too early",
	  { .major = 50, .code = "iconst_0 invokedynamic @dynamic(I) ~0 pop return" },
	  "for class version 50" },
	{ "own method by invokespecial",
	  { .instance = true, .code = "aload_0 invokespecial @T.v() return" },
	  NULL },
	{ "default method of an interface",
	  { .instance = true, .code = "aload_0 iconst_0 invokespecial @I.run(I) return" },
	  NULL },
	{ "... that is not named",
	  { .instance = true, .code = "aload_0 invokespecial @J.run() return" },
	  "a/J is not a direct superclass or interface" },
	{ "static initializer",
	  { .code = "invokestatic @T.<clinit> return" },
	  "must not call <clinit>" },
	{ "constructor by invokevirtual",
	  { .instance = true, .code = "aload_0 invokevirtual @T.<init> return" },
	  "must not call <init>" },
};

TEST(check_holds_descriptors_against_the_stack)
{
	check_cases(members, COUNT(members));
}

static const struct check_case objects[] = {
	{ "new",
	  { .code = "new @A dup invokespecial @A.<init> invokestatic @T.take(A) return" },
	  NULL },
	{ "new of an array", { .code = "new @int[] pop return" }, "names an array" },
	{ "used too early",
	  { .code = "new @A invokestatic @T.take(A) return" },
	  "finds uninitialized a/A" },
	{ "constructor of another class",
	  { .code = "new @A invokespecial @T.<init> return" },
	  "<init> of T is called on uninitialized a/A" },
	{ "initialized twice",
	  { .code = "new @A dup invokespecial @A.<init> invokespecial @A.<init> return" },
	  "is called on a/A, which is initialized" },
	{ "initialized in locals",
	  { .code = "new @A dup astore_0 invokespecial @A.<init> aload_0 invokestatic @T.take(A) return" },
	  NULL },
	{ "constructor",
	  { .name = "<init>", .code = "aload_0 invokespecial @Object.<init> return" },
	  NULL },
	{ "constructor by this()",
	  { .name = "<init>", .code = "aload_0 invokespecial @T.<init> return" },
	  NULL },
	{ "constructor without super()",
	  { .name = "<init>", .code = "return" },
	  "without a call of this() or super()" },
	{ "super() of another class",
	  { .name = "<init>", .code = "aload_0 invokespecial @A.<init> return" },
	  "neither of that class nor directly below it" },
	{ "super() twice",
	  { .name = "<init>",
	    .code = "aload_0 invokespecial @Object.<init> aload_0 invokespecial @Object.<init> return" },
	  "which is initialized" },
	{ "this too early",
	  { .name = "<init>", .code = "aload_0 invokestatic @T.take(T) return" },
	  "finds uninitialized this" },
	{ "own field before super()",
	  { .name = "<init>",
	    .code = "aload_0 iconst_0 putfield @T.i aload_0 invokespecial @Object.<init> return" },
	  NULL },
	{ "inherited field before super()",
	  { .name = "<init>", .code = "aload_0 iconst_0 putfield @T.inherited return" },
	  "finds uninitialized this" },
	{ "own field gets this too early",
	  { .name = "<init>", .code = "aload_0 aload_0 putfield @T.o return" },
	  "finds uninitialized this" },
	{ "own field read before super()",
	  { .name = "<init>", .code = "aload_0 getfield @T.i pop return" },
	  "finds uninitialized this" },
	{ "comparing what is not initialized",
	  { .name = "<init>",
	    .code = "aload_0 new @A if_acmpeq ~3 aload_0 invokespecial @Object.<init> return",
	    .frames = "~1 =255 ~7 ~1 =6 ~0" },
	  NULL },
	{ "super() in a try",
	  { .name = "<init>",
	    .code = "aload_0 invokespecial @Object.<init> return athrow",
	    .handlers = "~0 ~4 ~5 ~0",
	    .frames = "~1 =255 ~5 ~0 ~1 =7 @Throwable" },
	  "does not say so" },
	{ "super() in a try, known to the handler",
	  { .name = "<init>",
	    .code = "aload_0 invokespecial @Object.<init> return athrow",
	    .handlers = "~0 ~4 ~5 ~0",
	    .frames = "~1 =69 =7 @Throwable" },
	  "this() or super() is called where" },
};

TEST(check_follows_objects_until_they_are_initialized)
{
	check_cases(objects, COUNT(objects));
}

/* ---- what an edit can do wrong ---- */

TEST(check_tells_where_new_code_is_wrong)
{
	struct made_code t = { 0 };
	struct fault f = { 0 };

	text_open(&t, &(struct text_code){ .code = "nop return" }, &f);
	insn_before(t.code, made_insn(&t, 1), insn_new(t.code, OP_POP));
	CHECK_INT(code_check(t.code, &f), E_VERIFY, NULL);
	CHECK_STR(f.text,
		  "f()V: new code behind offset 0, pop: wants a value on the stack, which is empty",
		  NULL);
	made_close(&t);
}

TEST(check_refuses_ranges_that_are_turned_around)
{
	struct made_code t = { 0 };
	struct fault f = { 0 };
	struct text_code method = { .code = "nop nop nop return pop return",
				    .handlers = "~0 ~2 ~4 ~0",
				    .frames = CAUGHT_AT_4 };

	for (uint16_t major = 49; major < 53; major += 3) {
		struct handler *h;
		struct insn *start;

		method.major = major;
		f = (struct fault){ 0 };
		text_open(&t, &method, &f);
		h = &t.code->handlers[0];
		start = h->start;
		h->start = h->end;
		h->end = start;
		CHECK_INT(code_check(t.code, &f), E_HANDLER, f.text);
		made_close(&t);
	}
}

TEST(check_refuses_frames_that_name_a_removed_new)
{
	struct made_code t = { 0 };
	struct fault f = { 0 };

	text_open(&t,
		  &(struct text_code){ .code = "new @A pop return nop return",
				       .frames = "~1 =255 ~5 ~1 =8 ~0 ~0" },
		  &f);
	insn_remove(t.code, made_insn(&t, 0));
	insn_remove(t.code, made_insn(&t, 0));
	CHECK_INT(code_check(t.code, &f), E_FRAME, f.text);
	made_close(&t);
}

/* ---- limits ---- */

/* Types change before each of many handlers of many locals: slow on purpose. */
TEST(check_gives_up_on_code_that_is_made_to_be_slow)
{
	enum { STORES = 9000, TARGETS = 9000 };
	struct made_code t = { 0 };
	struct buf code = { 0 }, table = { 0 };
	struct fault f = { 0 };

	for (int i = 0; i < STORES; i++)
		buf_bytes(&code, (uint8_t[]){ OP_ICONST_0, OP_ISTORE_0 }, 2);
	buf_u8(&code, OP_RETURN);
	for (unsigned i = 0; i < TARGETS; i++) {
		buf_u16(&table, 0);
		buf_u16(&table, 2 * STORES);
		buf_u16(&table, (unsigned)code.n);
		buf_u16(&table, 0);
		buf_bytes(&code, (uint8_t[]){ OP_POP, OP_RETURN }, 2);
	}
	made_open(&t, 49,
		  (struct maker_code){ .code = buf_slice(&code), .handlers = buf_slice(&table) },
		  &f);
	CHECK_INT(code_check(t.code, &f), E_LIMIT, f.text);
	made_close(&t);
	buf_release(&code);
	buf_release(&table);
}

/* ---- running out of memory ---- */

static int check_failing(const struct text_code *method, long n)
{
	struct made_code t = { 0 };
	struct fault f = { 0 };
	struct insn *label;
	int rc;

	text_open(&t, method, &f);
	label = insn_before(t.code, made_insn(&t, 1), insn_label(t.code));
	mem_fail_at(n);
	rc = check_frames_at(t.code, &label, 1, &f);
	if (rc == 0)
		rc = code_check(t.code, &f);
	mem_fail_at(-1);
	if (rc < 0) {
		CHECK_INT(rc, E_NO_MEMORY, f.text);
		CHECK_INT(f.code, E_NO_MEMORY, f.text);
	}
	made_close(&t);
	return rc;
}

TEST(check_survives_every_failed_allocation)
{
	static const struct text_code methods[] = {
		{ .desc = "([La/B;)V",
		  .code = "nop nop nop return pop return",
		  .handlers = "~0 ~2 ~4 ~0",
		  .frames = CAUGHT_AT_4,
		  .max_stack = 1000,
		  .max_locals = 1000 },
		{ .major = 50, .code = "nop nop nop return pop return", .handlers = "~0 ~2 ~4 ~0" },
		{ .major = 49,
		  .code = "nop jsr ~4 return astore_0 jsr ~5 ret =0 astore_1 ret =1",
		  .max_stack = 300,
		  .max_locals = 10 },
	};

	for (size_t i = 0; i < COUNT(methods); i++) {
		long n = 0;

		while (check_failing(&methods[i], n) < 0)
			n++;
		CHECK(n > 0);
	}
}

/* What a JVM takes, and what weaving makes of a method that says it has nearly all the locals there
 * can be: frames that name them all, after stores that make the checker look at each. */
TEST(check_takes_many_frames_of_many_locals)
{
	enum { JUMPS = 300, LOCALS = 57860 };
	static const uint8_t block[] = { OP_ICONST_0, OP_ISTORE_0, OP_ICONST_0, OP_IFEQ, 0, 3 };
	struct buf code = { 0 }, frames = { 0 };
	struct maker_list tables = { 0 };
	struct made_code t = { 0 };
	struct fault f = { 0 };
	int rc;

	buf_u16(&frames, JUMPS);
	buf_bytes(&frames, (uint8_t[]){ 255, 0, sizeof(block) }, 3); /* full_frame */
	buf_u16(&frames, LOCALS);
	buf_u8(&frames, 1); /* int, and then TOP */
	for (int i = 1; i < LOCALS; i++)
		buf_u8(&frames, 0);
	buf_u16(&frames, 0);
	for (int i = 0; i < JUMPS; i++) {
		buf_bytes(&code, block, sizeof(block));
		if (i > 0)
			buf_u8(&frames, sizeof(block) - 1); /* same_frame */
	}
	buf_u8(&code, OP_RETURN);
	maker_init(&t.maker, "T", 52);
	maker_attr(&t.maker, &tables, "StackMapTable", buf_slice(&frames));
	maker_code(&t.maker, ACC_STATIC, "f", "()V",
		   (struct maker_code){ .code = buf_slice(&code),
					.max_stack = 1,
					.max_locals = LOCALS,
					.tables = &tables });
	arena_init(&t.mem);
	rc = class_read(&t.mem, maker_bytes(&t.maker), &t.cls, &f);
	if (rc >= 0)
		rc = code_elevate(t.cls, &t.cls->methods[0], &t.code, &f);
	CHECK_INT(rc < 0 ? rc : code_check(t.code, &f), 0, f.text);
	made_close(&t);
	buf_release(&code);
	buf_release(&frames);
}
