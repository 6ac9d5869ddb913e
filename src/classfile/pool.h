/* SPDX-License-Identifier: Apache-2.0 */
/* pool.h - the constant pool (JVMS 4.4), append-only.
 *
 * Entries read from a class keep their indices and their bytes for ever; new ones go to the
 * end.  (HotSpot before 25 leaks metaspace when a class is redefined with a pool in another
 * order.)  After pool_read every index that one entry holds to another is in range and of
 * the right kind, so following them is safe; whether names and descriptors are well formed
 * is class_check's business.  Entries point into the class's bytes or into its arena. */
#ifndef CLASSFILE_POOL_H
#define CLASSFILE_POOL_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/map.h"
#include "base/reader.h"

enum {
	CONST_UTF8 = 1,
	CONST_INTEGER = 3,
	CONST_FLOAT = 4,
	CONST_LONG = 5,
	CONST_DOUBLE = 6,
	CONST_CLASS = 7,
	CONST_STRING = 8,
	CONST_FIELDREF = 9,
	CONST_METHODREF = 10,
	CONST_INTERFACE_METHODREF = 11,
	CONST_NAME_AND_TYPE = 12,
	CONST_METHOD_HANDLE = 15,
	CONST_METHOD_TYPE = 16,
	CONST_DYNAMIC = 17,
	CONST_INVOKE_DYNAMIC = 18,
	CONST_MODULE = 19,
	CONST_PACKAGE = 20,
};

/* Sets of tags, for pool_is. */
#define TAGS(tag) (1u << (tag))
#define TAGS_METHOD (TAGS(CONST_METHODREF) | TAGS(CONST_INTERFACE_METHODREF))
#define TAGS_LOADABLE                                                                      \
	(TAGS(CONST_INTEGER) | TAGS(CONST_FLOAT) | TAGS(CONST_LONG) | TAGS(CONST_DOUBLE) | \
	 TAGS(CONST_CLASS) | TAGS(CONST_STRING) | TAGS(CONST_METHOD_HANDLE) |              \
	 TAGS(CONST_METHOD_TYPE) | TAGS(CONST_DYNAMIC))

struct pool {
	const uint8_t **at; /* [n] the entry's tag byte; unusable ones point at a zero byte */
	uint8_t *attr_kind; /* [n] cache of attr_kind_of(): 0 not asked yet, else kind + 1 */
	uint32_t n, cap;    /* n is the class file's constant_pool_count */
	uint32_t read;	    /* entries that came out of the file; the rest was added */
	struct slice bytes; /* those entries as they lie in the file */
	struct map added;   /* entry bytes -> index */
	struct arena *mem;
};

/* Reads constant_pool_count and the entries.  fault.at is relative to r->start. */
int pool_read(struct pool *p, struct arena *mem, struct reader *r, struct fault *f);
void pool_release(struct pool *p);

static inline uint8_t pool_tag(const struct pool *p, uint32_t i)
{
	return i < p->n ? *p->at[i] : 0;
}

static inline bool pool_is(const struct pool *p, uint32_t i, uint32_t tags)
{
	return i < p->n && (1u << *p->at[i] & tags & ~1u) != 0;
}

size_t pool_entry_size(const uint8_t *entry); /* with its tag; 0: unknown tag */

/* The text of a Utf8 entry; empty when i is not one. */
static inline struct slice pool_utf8(const struct pool *p, uint32_t i)
{
	if (pool_tag(p, i) != CONST_UTF8)
		return (struct slice){ NULL, 0 };
	return (struct slice){ p->at[i] + 3, get_u16(p->at[i] + 1) };
}

/* First and second index of an entry that holds some (Class, NameAndType, Fieldref ...). */
static inline uint16_t pool_first(const struct pool *p, uint32_t i)
{
	return get_u16(p->at[i] + 1);
}

static inline uint16_t pool_second(const struct pool *p, uint32_t i)
{
	return get_u16(p->at[i] + 3);
}

/* The name in a Class, Module, Package, String or MethodType entry; empty for others. */
struct slice pool_name(const struct pool *p, uint32_t i);

struct pool_ref {
	struct slice owner; /* internal class name; empty for Dynamic and InvokeDynamic */
	struct slice name, desc;
	uint16_t bootstrap; /* index into BootstrapMethods, for Dynamic and InvokeDynamic */
};

/* Fieldref, Methodref, InterfaceMethodref, Dynamic, InvokeDynamic; false for others. */
bool pool_ref(const struct pool *p, uint32_t i, struct pool_ref *out);

/* Find or append; the index, or E_NO_MEMORY, E_POOL_FULL, E_LIMIT (text too long). */
int pool_add_utf8(struct pool *p, struct slice text);
int pool_add_name(struct pool *p, uint8_t tag, struct slice name); /* Class, String ... */
int pool_add_int(struct pool *p, int32_t v);
int pool_add_wide(struct pool *p, uint8_t tag, uint64_t bits); /* Long, Double */
int pool_add_own_int(struct pool *p, int32_t v); /* always a new entry, never shared */
int pool_add_pair(struct pool *p, uint8_t tag, uint16_t first, uint16_t second);
int pool_add_ref(struct pool *p, uint8_t tag, struct slice owner, struct slice name,
		 struct slice desc);

/* Re-create entry i of `from`, with all it refers to, in p.  Entries that need
 * BootstrapMethods (Dynamic, InvokeDynamic) are E_UNSUPPORTED.  `seen`, from->n entries that
 * start as zero, remembers what was done. */
int pool_import(struct pool *p, const struct pool *from, uint32_t i, uint16_t *seen);

#endif
