/* SPDX-License-Identifier: Apache-2.0 */
/* check_type.h - the checker's types: JVMS 4.10.1.2 without class loading.
 *
 * A type is one word, made without memory: a class is identified by the place of its name in the
 * constant pool, an array by its dimensions and its element, an uninitialized object by its `new`
 * instruction.  Two words may mean the same class; equal words always do.  A long or double takes
 * two slots, each with a type of its own.  Only check*.c include this. */
#ifndef CLASSFILE_CHECK_CHECK_TYPE_H
#define CLASSFILE_CHECK_CHECK_TYPE_H

#include "classfile/code.h"

typedef uint64_t ctype;

enum {
	CT_TOP, /* nothing that can be used */
	CT_INT,
	CT_FLOAT,
	CT_LONG,  /* the lower slot */
	CT_LONG2, /* the upper one */
	CT_DOUBLE,
	CT_DOUBLE2,
	CT_RETURN, /* a return address; value: number of the call (check_infer.c) */
	CT_NULL,   /* from here on references */
	CT_UNINIT_THIS,
	CT_UNINIT, /* value: the `new` instruction */
	CT_PRIMS,  /* array of primitives; value: dimensions, letter */
	CT_OBJECT, /* class or array of classes; value: dimensions, place of the name */
};

enum { CT_TEXT = 80 }; /* room for ct_text */

static inline unsigned ct_kind(ctype t)
{
	return (uint8_t)t;
}

static inline bool ct_is_reference(ctype t) /* also one that is not initialized yet */
{
	return ct_kind(t) >= CT_NULL;
}

static inline bool ct_is_upper(ctype t)
{
	return t == CT_LONG2 || t == CT_DOUBLE2;
}

static inline ctype ct_return(uint32_t call)
{
	return CT_RETURN | (ctype)call << 8;
}

static inline ctype ct_uninit(const struct insn *made_by)
{
	return CT_UNINIT | (ctype)(uintptr_t)made_by << 8;
}

static inline const struct insn *ct_made_by(ctype t)
{
	return (const struct insn *)(uintptr_t)(t >> 8);
}

static inline unsigned ct_dims(ctype t) /* 0 for what is no array */
{
	return ct_kind(t) >= CT_PRIMS ? (uint8_t)(t >> 8) : 0;
}

static inline ctype ct_with_dims(ctype t, unsigned dims)
{
	return (t & ~(ctype)0xff00) | (ctype)dims << 8;
}

static inline ctype ct_prims(unsigned dims, char letter)
{
	return CT_PRIMS | (ctype)dims << 8 | (ctype)(uint8_t)letter << 16;
}

static inline char ct_letter(ctype t)
{
	return (char)(t >> 16);
}

/* Classes that the checker needs although no pool may name them. */
enum ct_known {
	CT_SOME,
	CT_OBJECT_CLASS,
	CT_STRING,
	CT_CLASS,
	CT_THROWABLE,
	CT_HANDLE,
	CT_METHOD_TYPE
};

static inline ctype ct_known(enum ct_known which) /* CT_SOME: a class of unknown name */
{
	return CT_OBJECT | (ctype)which << 32;
}

/* Of a Class entry; CT_TOP when its name is malformed. */
ctype ct_class(const struct pool *p, uint32_t index);

/* The field descriptor at *at of a Utf8 entry (which must be one); moves *at behind it.  CT_TOP:
 * malformed. */
ctype ct_desc(const struct pool *p, uint16_t utf8, size_t *at);

/* Of a type in a frame; a long or double gives its lower slot; CT_TOP for what is no type. */
ctype ct_frame(const struct code *code, vtype t);

struct slice ct_name(const struct pool *p, ctype t); /* of a CT_OBJECT's class or element */
bool ct_same_class(const struct pool *p, ctype a, ctype b);

/* May a value of type `from` stand where `to` is wanted?  Where only loading classes would tell,
 * the answer is yes. */
bool ct_assignable(const struct class *cls, ctype from, ctype to);

/* What is known of a slot that holds one or the other; idempotent, and goes only upwards. */
ctype ct_merge(const struct pool *p, ctype a, ctype b);

/* As a person would write it: "int", "a/B[]", "uninitialized a/B". */
const char *ct_text(const struct pool *p, ctype t, char out[CT_TEXT]);

#endif
