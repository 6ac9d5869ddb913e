/* SPDX-License-Identifier: Apache-2.0 */
/* Methods as text, and checking a table of them. */
#include "test_check.h"

#include <stdio.h>
#include <stdlib.h>

#include "classfile/check/check.h"
#include "test.h"

static const struct constant {
	const char *text;
	uint8_t tag;
	const char *owner, *name, *desc;
} constants[] = {
	{ "int", CONST_INTEGER, NULL, NULL, NULL },
	{ "float", CONST_FLOAT, NULL, NULL, NULL },
	{ "long", CONST_LONG, NULL, NULL, NULL },
	{ "double", CONST_DOUBLE, NULL, NULL, NULL },
	{ "string", CONST_STRING, "s", NULL, NULL },
	{ "type", CONST_METHOD_TYPE, "()V", NULL, NULL },
	{ "dynamic-int", CONST_DYNAMIC, NULL, "d", "I" },
	{ "dynamic-long", CONST_DYNAMIC, NULL, "d", "J" },
	{ "T", CONST_CLASS, "T", NULL, NULL },
	{ "Object", CONST_CLASS, "java/lang/Object", NULL, NULL },
	{ "String", CONST_CLASS, "java/lang/String", NULL, NULL },
	{ "Throwable", CONST_CLASS, "java/lang/Throwable", NULL, NULL },
	{ "Cloneable", CONST_CLASS, "java/lang/Cloneable", NULL, NULL },
	{ "A", CONST_CLASS, "a/A", NULL, NULL },
	{ "B", CONST_CLASS, "a/B", NULL, NULL },
	{ "int[]", CONST_CLASS, "[I", NULL, NULL },
	{ "int[][]", CONST_CLASS, "[[I", NULL, NULL },
	{ "A[]", CONST_CLASS, "[La/A;", NULL, NULL },
	{ "Object[]", CONST_CLASS, "[Ljava/lang/Object;", NULL, NULL },
	{ "T.i", CONST_FIELDREF, "T", "i", "I" },
	{ "T.o", CONST_FIELDREF, "T", "o", "Ljava/lang/Object;" },
	{ "T.inherited", CONST_FIELDREF, "T", "inherited", "I" },
	{ "A.i", CONST_FIELDREF, "a/A", "i", "I" },
	{ "int[].i", CONST_FIELDREF, "[I", "i", "I" },
	{ "T.<init>", CONST_METHODREF, "T", "<init>", "()V" },
	{ "Object.<init>", CONST_METHODREF, "java/lang/Object", "<init>", "()V" },
	{ "A.<init>", CONST_METHODREF, "a/A", "<init>", "()V" },
	{ "T.<clinit>", CONST_METHODREF, "T", "<clinit>", "()V" },
	{ "T.v()", CONST_METHODREF, "T", "v", "()V" },
	{ "T.take(IJ)", CONST_METHODREF, "T", "take", "(IJ)V" },
	{ "T.take(String)", CONST_METHODREF, "T", "take", "(Ljava/lang/String;)V" },
	{ "T.take(Object)", CONST_METHODREF, "T", "take", "(Ljava/lang/Object;)V" },
	{ "T.take(A)", CONST_METHODREF, "T", "take", "(La/A;)V" },
	{ "T.take(T)", CONST_METHODREF, "T", "take", "(LT;)V" },
	{ "T.take(A[])", CONST_METHODREF, "T", "take", "([La/A;)V" },
	{ "T.take(Object[])", CONST_METHODREF, "T", "take", "([Ljava/lang/Object;)V" },
	{ "T.long()", CONST_METHODREF, "T", "l", "()J" },
	{ "int[].clone()", CONST_METHODREF, "[I", "clone", "()Ljava/lang/Object;" },
	{ "I.run(I)", CONST_INTERFACE_METHODREF, "a/I", "run", "(I)V" },
	{ "J.run()", CONST_INTERFACE_METHODREF, "a/J", "run", "()V" },
	{ "dynamic(I)", CONST_INVOKE_DYNAMIC, NULL, "run", "(I)Ljava/lang/Object;" },
};

static uint16_t add_constant(struct class_maker *m, const struct constant *c)
{
	switch (c->tag) {
	case CONST_INTEGER:
	case CONST_FLOAT:
	case CONST_LONG:
	case CONST_DOUBLE:
		return maker_number(m, c->tag, 5);
	case CONST_STRING:
	case CONST_METHOD_TYPE:
	case CONST_CLASS:
		return maker_name(m, c->tag, c->owner);
	case CONST_DYNAMIC:
	case CONST_INVOKE_DYNAMIC:
		return maker_pair(m, c->tag, 0, maker_name_and_type(m, c->name, c->desc));
	default:
		return maker_ref(m, c->tag, c->owner, c->name, c->desc);
	}
}

static int op_named(const char *word)
{
	for (int op = 0; op < OP_COUNT; op++)
		if (op_table[op].name && strcmp(op_table[op].name, word) == 0)
			return op;
	return -1;
}

static void assemble_word(const char *word, const uint16_t *index, struct buf *out)
{
	size_t i = 0;
	int op;

	switch (word[0]) {
	case '=':
		buf_u8(out, (unsigned)atoi(word + 1));
		return;
	case '~':
		buf_u16(out, (unsigned)(uint16_t)atoi(word + 1));
		return;
	case '@':
	case '!':
		while (i < COUNT(constants) && strcmp(constants[i].text, word + 1) != 0)
			i++;
		CHECK_INT(i < COUNT(constants), 1, word);
		if (word[0] == '!')
			buf_u8(out, index[i % COUNT(constants)]);
		else
			buf_u16(out, index[i % COUNT(constants)]);
		return;
	default:
		op = op_named(word);
		CHECK_INT(op >= 0, 1, word);
		buf_u8(out, (unsigned)op);
	}
}

static void assemble(const char *text, const uint16_t *index, struct buf *out)
{
	char word[64];
	int n;

	for (; text && sscanf(text, " %63s%n", word, &n) == 1; text += n)
		assemble_word(word, index, out);
}

int text_open(struct made_code *t, const struct text_code *method, struct fault *f)
{
	const char *name = method->name ? method->name : "f";
	bool instance = method->instance || strcmp(name, "<init>") == 0;
	bool sized = method->max_stack || method->max_locals;
	uint16_t index[COUNT(constants)];
	struct buf code = { 0 }, handlers = { 0 }, frames = { 0 };
	struct maker_list tables = { 0 };
	int rc;

	maker_init(&t->maker, "T", method->major ? method->major : 52);
	for (size_t i = 0; i < COUNT(constants); i++)
		index[i] = add_constant(&t->maker, &constants[i]);
	maker_field(&t->maker, 0, "i", "I", NULL);
	maker_field(&t->maker, 0, "o", "Ljava/lang/Object;", NULL);
	maker_interface(&t->maker, "a/I");
	assemble(method->code, index, &code);
	assemble(method->handlers, index, &handlers);
	assemble(method->frames, index, &frames);
	if (method->frames)
		maker_attr(&t->maker, &tables, "StackMapTable", buf_slice(&frames));
	maker_code(&t->maker, instance ? 0 : ACC_STATIC, name, method->desc ? method->desc : "()V",
		   (struct maker_code){ .code = buf_slice(&code),
					.max_stack = sized ? method->max_stack : 6,
					.max_locals = sized ? method->max_locals : 6,
					.handlers = buf_slice(&handlers),
					.tables = &tables });
	buf_release(&code);
	buf_release(&handlers);
	buf_release(&frames);
	arena_init(&t->mem);
	rc = class_read(&t->mem, maker_bytes(&t->maker), &t->cls, f);
	return rc < 0 ? rc : code_elevate(t->cls, &t->cls->methods[0], &t->code, f);
}

static void check_case(const struct check_case *c)
{
	struct made_code t = { 0 };
	struct fault f = { 0 };
	int rc = text_open(&t, &c->method, &f);

	if (CHECK_INT(rc, 0, c->label))
		rc = code_check(t.code, &f);
	if (!c->fault) {
		CHECK_INT(rc, 0, c->label);
		CHECK_STR(f.text, "", c->label);
	} else {
		CHECK_INT(rc < 0, 1, c->label);
		if (!strstr(f.text, c->fault))
			CHECK_STR(f.text, c->fault, c->label);
	}
	made_close(&t);
}

void check_cases(const struct check_case *cases, size_t n)
{
	for (size_t i = 0; i < n; i++)
		check_case(&cases[i]);
}
