/* SPDX-License-Identifier: Apache-2.0 */
/* classes.h - makes class files by hand, so that tests can have odd ones.
 *
 *	struct class_maker m;
 *
 *	maker_init(&m, "a/B", 52);
 *	maker_code(&m, ACC_PUBLIC | ACC_STATIC, "f", "()V", (struct maker_code){
 *		.code = BYTES(OP_RETURN) });
 *	rc = class_read(&mem, maker_bytes(&m), &cls, NULL);
 *	...
 *	maker_release(&m);
 *
 * Nothing is checked and nothing is found again: each call adds to the pool.  Fields of the maker
 * may be changed until maker_bytes.  Running out of memory fails the test in maker_bytes. */
#ifndef TESTS_UNIT_CLASSES_H
#define TESTS_UNIT_CLASSES_H

#include "classfile/code.h"

/* A slice of these bytes; STATIC_BYTES is for tables outside of functions. */
#define STATIC_BYTES(...)                                                                  \
	{                                                                                  \
		(const uint8_t[]){ __VA_ARGS__ }, sizeof((const uint8_t[]){ __VA_ARGS__ }) \
	}
#define BYTES(...) ((struct slice)STATIC_BYTES(__VA_ARGS__))
#define U2(v) (uint8_t)((v) >> 8), (uint8_t)(v)
#define U4(v) \
	(uint8_t)((uint32_t)(v) >> 24), (uint8_t)((v) >> 16), (uint8_t)((v) >> 8), (uint8_t)(v)

struct maker_list { /* things one behind the other, and how many */
	struct buf bytes;
	uint16_t n;
};

struct class_maker {
	uint16_t major, minor;
	uint16_t access, this_class, super_class; /* public super, java/lang/Object */
	struct maker_list pool, interfaces, fields, methods, attrs;
	struct buf out;
};

void maker_init(struct class_maker *m, const char *name, uint16_t major);
void maker_release(struct class_maker *m);
struct slice maker_bytes(struct class_maker *m); /* the class; valid until maker_release */

/* Constants.  Each gives its index. */
uint16_t maker_utf8(struct class_maker *m, const char *text);
uint16_t maker_name(struct class_maker *m, uint8_t tag, const char *name); /* Class, String ... */
uint16_t maker_pair(struct class_maker *m, uint8_t tag, uint16_t first, uint16_t second);
uint16_t maker_name_and_type(struct class_maker *m, const char *name, const char *desc);
uint16_t maker_ref(struct class_maker *m, uint8_t tag, const char *owner, const char *name,
		   const char *desc);
uint16_t maker_handle(struct class_maker *m, uint8_t kind, uint16_t ref);
uint16_t maker_number(struct class_maker *m, uint8_t tag, uint64_t bits); /* takes 2 for Long */

void maker_interface(struct class_maker *m, const char *name);

/* Appends an attribute_info; `to` is &m->attrs for the class itself. */
void maker_attr(struct class_maker *m, struct maker_list *to, const char *name, struct slice data);

/* A field, or a method without code.  attrs may be NULL and is released. */
void maker_field(struct class_maker *m, uint16_t access, const char *name, const char *desc,
		 struct maker_list *attrs);
void maker_method(struct class_maker *m, uint16_t access, const char *name, const char *desc,
		  struct maker_list *attrs);

struct maker_code {
	struct slice code;
	uint16_t max_stack, max_locals; /* 0 and 0: 10 and 10 */
	struct slice handlers;		/* 8 bytes each: start, end, handler, type */
	struct maker_list *tables;	/* attributes of the Code attribute; released */
};

/* A method with code. */
void maker_code(struct class_maker *m, uint16_t access, const char *name, const char *desc,
		struct maker_code code);

/* Most tests need no more than one static void method f(). */
struct slice maker_simple(struct class_maker *m, uint16_t major, struct maker_code code);

/* Such a class, read, and its method elevated. */
struct made_code {
	struct class_maker maker;
	struct arena mem;
	struct class *cls;
	struct code *code; /* NULL when elevating failed */
};

/* The maker may have got constants before (after maker_init); else it must be zero.  Returns what
 * code_elevate says. */
int made_open(struct made_code *t, uint16_t major, struct maker_code code, struct fault *f);
void made_close(struct made_code *t);

/* The n-th instruction, labels not counted; NULL: there are fewer. */
struct insn *made_insn(const struct made_code *t, unsigned n);

/* Lowers; gives the instructions' bytes.  Empty when that failed, which fails the test. */
struct slice made_lower(struct made_code *t);

/* Reads and checks the class; releases the maker.  What class_check answers; 1: it could not be
 * read. */
int maker_check(struct class_maker *m, const char *what);

#endif
