/* SPDX-License-Identifier: Apache-2.0 */
/* The attribute Code and its tables: each table here takes a good one, spoils it in one way and
 * says what class_check answers. */
#include "test.h"

#include "classes.h"

enum { V_NAME = 5, V_INT = 6, V_LONG = 7, V_DOTTED = 8, V_VOID = 9 };

#define ROW(start, length, name, desc, slot) U2(start), U2(length), U2(name), U2(desc), U2(slot)
#define TABLE STATIC_BYTES
#define VARS "LocalVariableTable"
#define TYPES "LocalVariableTypeTable"

/* In a method of 3 bytes with 2 locals; up to two tables. */
static const struct {
	const char *what;
	uint16_t major;
	struct {
		const char *name;
		struct slice data;
	} tables[2];
	int rc;
} code_tables[] = {
	{ "lines", 52, { { "LineNumberTable", TABLE(0, 1, 0, 2, 0, 1) } }, 0 },
	{ "line behind the code", 52, { { "LineNumberTable", TABLE(0, 1, 0, 3, 0, 1) } }, E_LINES },
	{ "lines too short", 52, { { "LineNumberTable", TABLE(0, 1, 0, 0, 0) } }, E_LINES },
	{ "lines empty", 52, { { "LineNumberTable", TABLE(0) } }, E_LINES },
	{ "two LineNumberTables",
	  52,
	  { { "LineNumberTable", TABLE(0, 0) }, { "LineNumberTable", TABLE(0, 0) } },
	  0 },
	{ "variable", 52, { { VARS, TABLE(0, 1, ROW(0, 3, V_NAME, V_INT, 1)) } }, 0 },
	{ "long variable", 52, { { VARS, TABLE(0, 1, ROW(0, 3, V_NAME, V_LONG, 0)) } }, 0 },
	{ "long variable's slot",
	  52,
	  { { VARS, TABLE(0, 1, ROW(0, 3, V_NAME, V_LONG, 1)) } },
	  E_VARS },
	{ "variable's slot", 52, { { VARS, TABLE(0, 1, ROW(0, 3, V_NAME, V_INT, 2)) } }, E_VARS },
	{ "variable's start", 52, { { VARS, TABLE(0, 1, ROW(3, 0, V_NAME, V_INT, 0)) } }, E_VARS },
	{ "variable's end", 52, { { VARS, TABLE(0, 1, ROW(1, 3, V_NAME, V_INT, 0)) } }, E_VARS },
	{ "variable's name", 52, { { VARS, TABLE(0, 1, ROW(0, 3, V_DOTTED, V_INT, 0)) } }, E_NAME },
	{ "name is no text", 52, { { VARS, TABLE(0, 1, ROW(0, 3, 2, V_INT, 0)) } }, E_VARS },
	{ "variable's type",
	  52,
	  { { VARS, TABLE(0, 1, ROW(0, 3, V_NAME, V_VOID, 0)) } },
	  E_DESCRIPTOR },
	{ "variables too long", 52, { { VARS, TABLE(0, 0, 0) } }, E_VARS },
	{ "variable twice",
	  52,
	  { { VARS, TABLE(0, 1, ROW(0, 3, V_NAME, V_INT, 0)) },
	    { VARS, TABLE(0, 1, ROW(0, 3, V_NAME, V_LONG, 0)) } },
	  E_VARS },
	{ "variable twice, once",
	  48,
	  { { VARS, TABLE(0, 1, ROW(0, 3, V_NAME, V_INT, 0)) },
	    { VARS, TABLE(0, 1, ROW(0, 3, V_NAME, V_INT, 0)) } },
	  0 },
	{ "variable in two slots",
	  52,
	  { { VARS, TABLE(0, 2, ROW(0, 3, V_NAME, V_INT, 0), ROW(0, 3, V_NAME, V_INT, 1)) } },
	  0 },
	{ "variable and its type",
	  52,
	  { { TYPES, TABLE(0, 1, ROW(0, 3, V_NAME, V_VOID, 0)) },
	    { VARS, TABLE(0, 1, ROW(0, 3, V_NAME, V_INT, 0)) } },
	  0 },
	{ "type of another variable",
	  52,
	  { { VARS, TABLE(0, 1, ROW(0, 3, V_NAME, V_INT, 0)) },
	    { TYPES, TABLE(0, 1, ROW(0, 2, V_NAME, V_INT, 0)) } },
	  E_VARS },
	{ "type twice",
	  52,
	  { { VARS, TABLE(0, 1, ROW(0, 3, V_NAME, V_INT, 0)) },
	    { TYPES, TABLE(0, 2, ROW(0, 3, V_NAME, V_INT, 0), ROW(0, 3, V_NAME, V_INT, 0)) } },
	  E_VARS },
	{ "types alone", 52, { { TYPES, TABLE(0, 1, ROW(0, 3, V_NAME, V_INT, 0)) } }, 0 },
	{ "types before their time", 48, { { TYPES, TABLE(1, 2, 3) } }, 0 },
	{ "two StackMapTables",
	  52,
	  { { "StackMapTable", TABLE(0, 0) }, { "StackMapTable", TABLE(0, 0) } },
	  E_DUPLICATE },
	{ "two StackMapTables, once",
	  49,
	  { { "StackMapTable", TABLE(0, 0) }, { "StackMapTable", TABLE(0, 0) } },
	  0 },
	{ "annotations are not looked into",
	  52,
	  { { "RuntimeVisibleTypeAnnotations", TABLE(0) } },
	  0 },
};

TEST(format_checks_tables_of_code)
{
	for (size_t i = 0; i < COUNT(code_tables); i++) {
		struct maker_list tables = { 0 };
		struct class_maker m;

		maker_init(&m, "A", code_tables[i].major);
		CHECK_INT(maker_utf8(&m, "v"), V_NAME, NULL);
		CHECK_INT(maker_utf8(&m, "I"), V_INT, NULL);
		CHECK_INT(maker_utf8(&m, "J"), V_LONG, NULL);
		CHECK_INT(maker_utf8(&m, "a.b"), V_DOTTED, NULL);
		CHECK_INT(maker_utf8(&m, "V"), V_VOID, NULL);
		for (size_t k = 0; k < 2 && code_tables[i].tables[k].name; k++)
			maker_attr(&m, &tables, code_tables[i].tables[k].name,
				   code_tables[i].tables[k].data);
		maker_code(&m, ACC_STATIC, "f", "()V",
			   (struct maker_code){ .code = BYTES(OP_NOP, OP_NOP, OP_RETURN),
						.max_locals = 2,
						.tables = &tables });
		CHECK_INT(maker_check(&m, code_tables[i].what), code_tables[i].rc,
			  code_tables[i].what);
	}
}

TEST(format_compares_many_variables_too)
{
	for (int twin = 0; twin < 2; twin++)
		for (int stray = 0; stray < 2; stray++) {
			struct maker_list tables = { 0 };
			struct buf vars = { 0 }, types = { 0 };
			struct class_maker m;

			maker_init(&m, "A", 52);
			maker_utf8(&m, "v");
			maker_utf8(&m, "I");
			buf_u16(&vars, 200);
			buf_u16(&types, 1);
			for (unsigned i = 0; i < 200; i++) {
				unsigned slot = twin && i == 199 ? 7 : i;

				buf_bytes(&vars, BYTES(ROW(0, 1, V_NAME, V_INT, slot)).p, 10);
			}
			buf_bytes(&types, BYTES(ROW(0, stray ? 0 : 1, V_NAME, V_INT, 150)).p, 10);
			maker_attr(&m, &tables, VARS, buf_slice(&vars));
			maker_attr(&m, &tables, TYPES, buf_slice(&types));
			maker_code(&m, ACC_STATIC, "f", "()V",
				   (struct maker_code){ .code = BYTES(OP_RETURN),
							.max_locals = 300,
							.tables = &tables });
			CHECK_INT(maker_check(&m, NULL), twin || stray ? E_VARS : 0, NULL);
			buf_release(&vars);
			buf_release(&types);
		}
}

static const struct {
	const char *what;
	struct slice body; /* of the Code attribute */
	int rc;
} bodies[] = {
	{ "good", TABLE(0, 0, 0, 0, 0, 0, 0, 1, OP_RETURN, 0, 0, 0, 0), 0 },
	{ "no code", TABLE(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0), E_CODE_LENGTH },
	{ "too much code", TABLE(0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0), E_CODE_LENGTH },
	{ "nothing", { NULL, 0 }, E_CODE_LENGTH },
	{ "cut off in the code", TABLE(0, 0, 0, 0, 0, 0, 0, 9, 0), E_TRUNCATED },
	{ "cut off in the handlers", TABLE(0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 1, 0), E_TRUNCATED },
	{ "cut off in the tables", TABLE(0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0), E_TRUNCATED },
	{ "too long", TABLE(0, 0, 0, 0, 0, 0, 0, 1, OP_RETURN, 0, 0, 0, 0, 0), E_ATTRIBUTE },
};

TEST(format_checks_the_frame_of_code)
{
	for (size_t i = 0; i < COUNT(bodies); i++) {
		struct maker_list attrs = { 0 };
		struct class_maker m;

		maker_init(&m, "A", 52);
		maker_attr(&m, &attrs, "Code", bodies[i].body);
		maker_method(&m, ACC_STATIC, "f", "()V", &attrs);
		CHECK_INT(maker_check(&m, bodies[i].what), bodies[i].rc, bodies[i].what);
	}
}
