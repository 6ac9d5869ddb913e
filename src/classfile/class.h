/* SPDX-License-Identifier: Apache-2.0 */
/* class.h - a class file (JVMS 4.1) as a structure that can be written again.
 *
 * class_read() finds where everything lies and copies nothing: `bytes` must outlive the
 * class.  What is not changed is written byte for byte as it was.  A method is changed by
 * elevating its code (code.h), editing, and lowering it again; the constant pool only grows.
 * Everything lives in the arena given to class_read.  One thread at a time. */
#ifndef CLASSFILE_CLASS_H
#define CLASSFILE_CLASS_H

#include "base/buf.h"
#include "classfile/attr.h"

enum {
	ACC_PUBLIC = 0x0001,
	ACC_PRIVATE = 0x0002,
	ACC_PROTECTED = 0x0004,
	ACC_STATIC = 0x0008,
	ACC_FINAL = 0x0010,
	ACC_SYNCHRONIZED = 0x0020,
	ACC_SUPER = 0x0020,
	ACC_BRIDGE = 0x0040,
	ACC_VOLATILE = 0x0040,
	ACC_VARARGS = 0x0080,
	ACC_TRANSIENT = 0x0080,
	ACC_NATIVE = 0x0100,
	ACC_INTERFACE = 0x0200,
	ACC_ABSTRACT = 0x0400,
	ACC_STRICT = 0x0800,
	ACC_SYNTHETIC = 0x1000,
	ACC_ANNOTATION = 0x2000,
	ACC_ENUM = 0x4000,
	ACC_MANDATED = 0x8000,
	ACC_MODULE = 0x8000,
};

enum { CLASS_MAJOR_MIN = 45, CLASS_MAJOR_MAX = 70 };

struct member { /* field_info or method_info */
	uint16_t access, name, desc;
	struct slice bytes; /* as it lies in the file */
	struct attrs attrs;
	struct slice code;    /* body of the Code attribute; .p NULL: none */
	struct slice lowered; /* its replacement (code_lower); .p NULL: not changed */
	struct slice added;   /* attributes to be put behind the others, with their heads ... */
	uint16_t n_added;     /* ... so many */
};

struct class
{
	struct arena *mem;  /* what must live as long as the class, lowered methods too */
	struct arena *work; /* elevated lists.  The same as mem, unless the caller puts an arena
			     * here that he resets after each lowered method: it stays in the
			     * processor's cache, which makes editing faster. */
	struct slice bytes;
	uint16_t minor, major;
	struct pool pool;
	uint16_t access, this_class, super_class; /* super_class may be 0 */
	struct slice interfaces;		  /* u2 each */
	struct member *fields, *methods;
	uint32_t n_fields, n_methods;
	struct attrs attrs;
	struct slice middle; /* access_flags up to and with methods_count, as they lie */
	struct slice tail;   /* attributes_count and attributes, as they lie */
	uint16_t *scratch;   /* code.c: which instruction lies at an offset */
	uint32_t scratch_n;
	uint16_t frames_name; /* lower.c: pool index of "StackMapTable"; 0: not looked for */
};

/* On failure *out is untouched and f (may be NULL) tells the place.  Pool indices that
 * navigation needs are checked; class_check looks at the rest. */
int class_read(struct arena *mem, struct slice bytes, struct class **out, struct fault *f);

/* Appends the class to out.  With nothing changed this is a copy of the bytes read. */
int class_write(const struct class *cls, struct buf *out);

size_t class_method_size(const struct member *m); /* of its bytes in there */

/* Everything else that JVMS 4.1 to 4.8 demands and that can be seen without loading other
 * classes: UTF-8, names, descriptors, flags, duplicates, layout of every attribute.  Not the
 * code: elevate and check it (code.h, check.h). */
int class_check(const struct class *cls, struct fault *f);

/* Gives back what does not live in the arena. */
void class_release(struct class *cls);

static inline struct slice class_name(const struct class *cls)
{
	return pool_name(&cls->pool, cls->this_class);
}

static inline struct slice class_super(const struct class *cls)
{
	return pool_name(&cls->pool, cls->super_class);
}

static inline uint16_t class_n_interfaces(const struct class *cls)
{
	return (uint16_t)(cls->interfaces.n / 2);
}

static inline struct slice class_interface(const struct class *cls, unsigned i)
{
	return pool_name(&cls->pool, get_u16(cls->interfaces.p + 2 * (size_t)i));
}

static inline struct slice member_name(const struct class *cls, const struct member *m)
{
	return pool_utf8(&cls->pool, m->name);
}

static inline struct slice member_desc(const struct class *cls, const struct member *m)
{
	return pool_utf8(&cls->pool, m->desc);
}

#endif
