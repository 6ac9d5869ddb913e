/* SPDX-License-Identifier: Apache-2.0 */
/* The listing of a class: harmless whatever the class holds, and the same in text and JSON. */
#include "test.h"

#include "base/mem.h"
#include "classes.h"
#include "classfile/show/show.h"

static const struct {
	const char *in, *out;
} names[] = {
	{ "plain/Name", "plain/Name" },
	{ "tab\tnewline\nreturn\r", "tab\\tnewline\\nreturn\\r" },
	{ "\033[31m", "\\u001b[31m" },
	{ "back\\slash", "back\\\\slash" },
	{ "\xc0\x80", "\\u0000" },			    /* zero, as class files write it */
	{ "\xc2\x9b", "\\u009b" },			    /* a control character, too */
	{ "\xe2\x80\xae", "\\u202e" },			    /* would turn the text around */
	{ "\xc3\xa4\xe2\x82\xac", "\xc3\xa4\xe2\x82\xac" }, /* letters of two and three bytes */
	{ "\xed\xa0\xbd\xed\xb8\x80", "\xf0\x9f\x98\x80" }, /* one character, two surrogates */
	{ "\xed\xa0\xbd", "\\ud83d" },			    /* half of it */
	{ "\xff\x80", "\\xff\\x80" },
	{ "\xe2\x82", "\\xe2\\x82" },
};

TEST(show_escapes_what_a_terminal_would_obey)
{
	struct buf out = { 0 };

	for (size_t i = 0; i < COUNT(names); i++) {
		buf_clear(&out);
		show_name(&out, slice_str(names[i].in));
		CHECK_MEM(out.p, out.n, names[i].out, strlen(names[i].out), names[i].out);
	}
	buf_release(&out);
}

static bool contains(const struct buf *b, const char *text)
{
	size_t n = strlen(text);

	for (size_t i = 0; i + n <= b->n; i++)
		if (memcmp(b->p + i, text, n) == 0)
			return true;
	return false;
}

/* A class with a loop, a handler, a frame, lines, a variable; and a method whose code is broken. */
static struct slice make(struct class_maker *m)
{
	struct maker_list tables = { 0 }, attrs = { 0 };
	uint16_t object, x, type;

	maker_init(m, "a/B", 61);
	maker_interface(m, "java/lang/Runnable");
	object = maker_name(m, CONST_CLASS, "java/lang/Exception");
	x = maker_utf8(m, "x\n");
	type = maker_utf8(m, "I");
	maker_attr(m, &attrs, "ConstantValue", BYTES(U2(maker_number(m, CONST_FLOAT, 0x3dcccccd))));
	maker_field(m, ACC_STATIC | ACC_FINAL, "ratio", "F", &attrs);
	maker_attr(m, &tables, "StackMapTable",
		   BYTES(U2(2), 0, 255, U2(6), U2(1), VT_INT, U2(1), VT_OBJECT, U2(object)));
	maker_attr(m, &tables, "LineNumberTable", BYTES(U2(1), U2(4), U2(77)));
	maker_attr(m, &tables, "LocalVariableTable",
		   BYTES(U2(1), U2(0), U2(9), U2(x), U2(type), U2(0)));
	maker_attr(m, &tables, "Mystery", BYTES(1, 2, 3));
	maker_code(m, ACC_STATIC, "f", "(I)V",
		   (struct maker_code){ .code = BYTES(OP_IINC, 0, 255, OP_ILOAD_0, OP_IFNE, U2(-4),
						      OP_RETURN, OP_POP, OP_RETURN),
					.handlers = BYTES(U2(0), U2(7), U2(8), U2(object)),
					.tables = &tables });
	maker_code(m, 0, "broken", "()V", (struct maker_code){ .code = BYTES(OP_GOTO, U2(1)) });
	maker_method(m, ACC_ABSTRACT, "last", "()V", NULL);
	maker_attr(m, &m->attrs, "SourceFile", BYTES(U2(9999)));
	return maker_bytes(m);
}

TEST(show_lists_every_part_and_survives_the_broken_ones)
{
	static const char *const wanted[] = {
		"public class a/B\n",
		"implements java/lang/Runnable\n",
		"version 61.0 (Java 17)\n",
		"SourceFile: malformed: ",
		"field static final float ratio\n",
		"ConstantValue: 0.1f\n",
		"method static void f(int)\n  f(I)V  flags 0x0008\n",
		"L0:  frame locals [int] stack []\n",
		"    0  iinc 0 by -1\n",
		"    4  ifne L0\n",
		"frame locals [int] stack [java/lang/Exception]\n",
		"try L0 to L2 catch java/lang/Exception at L3\n",
		"L1: line 77\n",
		"L0 to L4: local 0 int x\\n\n",
		"Mystery: 3 bytes\n",
		"    010203\n",
		"cannot be shown: broken()V: goto at offset 0",
		"method abstract void last()\n",
	};
	struct class_maker m = { 0 };
	struct arena mem = { 0 };
	struct buf out = { 0 };
	struct class *cls;

	if (!CHECK_INT(class_read(&mem, make(&m), &cls, NULL), 0, NULL))
		return;
	CHECK_INT(show_class(cls, &(struct show_options){ .code = true, .hex = true }, &out), 0,
		  NULL);
	for (size_t i = 0; i < COUNT(wanted); i++)
		if (!CHECK_INT(contains(&out, wanted[i]), true, wanted[i]))
			CHECK_STR((buf_u8(&out, 0), (char *)out.p), wanted[i], NULL);
	class_release(cls);
	buf_release(&out);
	arena_release(&mem);
	maker_release(&m);
}

TEST(show_json_holds_instructions_with_their_targets)
{
	struct class_maker m = { 0 };
	struct arena mem = { 0 };
	struct buf out = { 0 };
	struct json j = json_to(&out);
	struct class *cls;

	if (!CHECK_INT(class_read(&mem, make(&m), &cls, NULL), 0, NULL))
		return;
	CHECK_INT(show_class_json(cls, &(struct show_options){ .code = true, .method = "f*" }, &j),
		  0, NULL);
	CHECK(contains(&out, "{\"at\":4,\"label\":\"L1\",\"op\":\"ifne\",\"text\":\"ifne L0\","
			     "\"target\":\"L0\"}"));
	CHECK(contains(&out, "\"handlers\":[{\"start\":\"L0\",\"end\":\"L2\",\"handler\":\"L3\","
			     "\"catch\":\"java/lang/Exception\"}]"));
	CHECK(!contains(&out, "\"broken\""));
	class_release(cls);
	buf_release(&out);
	arena_release(&mem);
	maker_release(&m);
}

TEST(show_survives_every_failed_allocation)
{
	struct class_maker m = { 0 };
	struct slice bytes = make(&m);
	bool hit = true;

	for (long n = 0; hit && n < 1000; n++) {
		struct arena mem = { 0 };
		struct buf out = { 0 };
		struct class *cls = NULL;
		int rc;

		mem_fail_at(n);
		rc = class_read(&mem, bytes, &cls, NULL);
		if (rc >= 0)
			rc = show_class(cls, &(struct show_options){ .code = true, .pool = true },
					&out);
		hit = mem_fail_hit() != 0;
		mem_fail_at(-1);
		CHECK(rc == 0 || (hit && rc == E_NO_MEMORY));
		class_release(cls);
		buf_release(&out);
		arena_release(&mem);
	}
	CHECK(!hit);
	maker_release(&m);
}
