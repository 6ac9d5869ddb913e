/* SPDX-License-Identifier: Apache-2.0 */
/* format.h - what format.c and format_attr.c share while they check one class. */
#ifndef CLASSFILE_FORMAT_H
#define CLASSFILE_FORMAT_H

#include "classfile/class.h"
#include "classfile/name.h"

enum {
	JAVA_5 = 49,
	JAVA_6 = 50,
	JAVA_7 = 51,
	JAVA_8 = 52,
	JAVA_9 = 53,
	JAVA_11 = 55,
	JAVA_12 = 56,
	JAVA_16 = 60,
	JAVA_17 = 61,
};

/* Flags that mean something on a class. */
enum {
	FORMAT_CLASS_FLAGS = ACC_PUBLIC | ACC_FINAL | ACC_SUPER | ACC_INTERFACE | ACC_ABSTRACT |
			     ACC_SYNTHETIC | ACC_ANNOTATION | ACC_ENUM,
};

struct format {
	const struct class *cls;
	const struct pool *pool;
	struct fault *fault;
	const struct member *member; /* the one being checked; NULL: the class */
	bool in_method;
	unsigned slots;	     /* of the method's arguments, with `this` */
	uint8_t *good;	     /* [pool.n] for a Utf8 entry: the kinds of name.h that it is */
	uint16_t *canonical; /* [pool.n] the first entry with the same text; 0: not asked yet */
	struct map texts;    /* text -> that entry */
	uint64_t *rows;	     /* scratch: things of which no two may be equal */
	size_t rows_cap;
	int bootstrap_max; /* highest index into BootstrapMethods; -1: none */
};

/* Fills the fault with "method f(I)V: what is wrong".  `at` points into the class's bytes. */
int format_fail(const struct format *c, const uint8_t *at, int code, const char *fmt, ...)
	__attribute__((format(printf, 4, 5), cold));
int format_fail_entry(const struct format *c, uint32_t i, int code, const char *what)
	__attribute__((cold));
int format_no_memory(const struct format *c);

/* Is this Utf8 entry a text of that kind?  The answer yes is remembered. */
bool format_good(const struct format *c, uint32_t utf8, uint8_t kind);

bool format_rows(struct format *c, size_t n); /* room for n rows; false: out of memory */

/* The number of the first row that equals one before it; 0: there is none; or E_NO_MEMORY. */
int format_twin(const uint64_t *rows, size_t n);
enum { FORMAT_FEW = 32 }; /* up to here comparing each with each is faster than a map */

/* Checks all attributes that count in a place (a letter of attributes.def); *seen gets a bit for
 * the kind of each. */
int format_attrs(struct format *c, const struct attrs *attrs, char place, uint64_t *seen);

static inline bool format_is_module(const struct class *cls)
{
	return cls->major >= JAVA_9 && (cls->access & ACC_MODULE);
}

static inline bool format_is_array(struct slice name)
{
	return name.n && name.p[0] == '[';
}

static inline struct slice format_row_key(const uint64_t *row)
{
	return (struct slice){ (const uint8_t *)row, sizeof(*row) };
}

#endif
