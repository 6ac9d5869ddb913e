/* SPDX-License-Identifier: Apache-2.0 */
/* check_type.c - making, comparing and merging the checker's types.
 *
 * The name of a class is kept as (Utf8 entry, offset, length), so a type out of a descriptor costs
 * no more than finding its end.  Without loading classes most pairs of classes may be assigned to
 * each other: either could be an interface, or a subclass of the other.  What is known for certain
 * is used: the class in hand and its superclass, and classes of java.lang that every JVM has. */
#include "classfile/check/check_type.h"

#include <stdio.h>

#include "classfile/desc.h"

/* Names for ct_known; an entry is 0 where a Utf8 index stands otherwise. */
static const char *const known_names[] = {
	[CT_SOME] = "",
	[CT_OBJECT_CLASS] = "java/lang/Object",
	[CT_STRING] = "java/lang/String",
	[CT_CLASS] = "java/lang/Class",
	[CT_THROWABLE] = "java/lang/Throwable",
	[CT_HANDLE] = "java/lang/invoke/MethodHandle",
	[CT_METHOD_TYPE] = "java/lang/invoke/MethodType",
};

static ctype object_at(unsigned dims, uint16_t utf8, size_t off, size_t len)
{
	return CT_OBJECT | (ctype)dims << 8 | (ctype)utf8 << 16 | (ctype)off << 32 |
	       (ctype)len << 48;
}

/* A class of unknown name, or an array of it. */
static bool is_some(ctype t)
{
	return t >> 16 == 0;
}

struct slice ct_name(const struct pool *p, ctype t)
{
	uint16_t utf8 = (uint16_t)(t >> 16), off = (uint16_t)(t >> 32);

	if (!utf8)
		return slice_str(known_names[off]);
	return (struct slice){ p->at[utf8] + 3 + off, (size_t)(t >> 48) };
}

ctype ct_desc(const struct pool *p, uint16_t utf8, size_t *at)
{
	struct slice s = pool_utf8(p, utf8);
	size_t i = *at, dims;
	const uint8_t *end;

	while (i < s.n && s.p[i] == '[')
		i++;
	dims = i - *at;
	if (i >= s.n || dims > 255)
		return CT_TOP;
	*at = i + 1;
	switch (s.p[i]) {
	case 'L':
		end = memchr(s.p + i, ';', s.n - i);
		if (!end || end == s.p + i + 1)
			return CT_TOP;
		*at = (size_t)(end + 1 - s.p);
		return object_at((unsigned)dims, utf8, i + 1, *at - i - 2);
	case 'B':
	case 'C':
	case 'S':
	case 'Z':
	case 'I':
		return dims ? ct_prims((unsigned)dims, (char)s.p[i]) : CT_INT;
	case 'F':
		return dims ? ct_prims((unsigned)dims, 'F') : CT_FLOAT;
	case 'J':
		return dims ? ct_prims((unsigned)dims, 'J') : CT_LONG;
	case 'D':
		return dims ? ct_prims((unsigned)dims, 'D') : CT_DOUBLE;
	default:
		return CT_TOP;
	}
}

ctype ct_class(const struct pool *p, uint32_t index)
{
	uint16_t utf8;
	struct slice name;
	size_t at = 0;
	ctype t;

	if (!pool_is(p, index, TAGS(CONST_CLASS)))
		return CT_TOP;
	utf8 = pool_first(p, index);
	name = pool_utf8(p, utf8);
	if (!name.n)
		return CT_TOP;
	if (name.p[0] != '[')
		return object_at(0, utf8, 0, name.n);
	t = ct_desc(p, utf8, &at);
	return at == name.n ? t : CT_TOP;
}

ctype ct_frame(const struct code *code, vtype t)
{
	uint32_t value = vt_value(t);
	size_t at;

	switch (vt_tag(t)) {
	case VT_INT:
		return CT_INT;
	case VT_FLOAT:
		return CT_FLOAT;
	case VT_DOUBLE:
		return CT_DOUBLE;
	case VT_LONG:
		return CT_LONG;
	case VT_NULL:
		return CT_NULL;
	case VT_UNINIT_THIS:
		return CT_UNINIT_THIS;
	case VT_OBJECT:
		if (value < VT_DESC)
			return ct_class(&code->cls->pool, value);
		at = value - VT_DESC;
		return ct_desc(&code->cls->pool, code->method->desc, &at);
	case VT_UNINIT:
		if (value >= code->n_news || code->news[value]->op != OP_NEW)
			return CT_TOP;
		return ct_uninit(code->news[value]);
	default:
		return CT_TOP;
	}
}

bool ct_same_class(const struct pool *p, ctype a, ctype b)
{
	if (a == b)
		return true;
	return ct_kind(a) == CT_OBJECT && ct_kind(b) == CT_OBJECT && ct_dims(a) == ct_dims(b) &&
	       !is_some(a) && slice_eq(ct_name(p, a), ct_name(p, b));
}

/* ---- what every JVM has ---- */

/* Classes (not interfaces) of java.lang, by name behind "java/lang/".  Nobody else can define
 * them, and neither their superclass nor their being final changes.  All superclasses are in
 * the list, too. */
struct core_class {
	const char *name;
	uint8_t len;
	bool final;
	int8_t super; /* -1: none */
};

enum { CORE_OBJECT, CORE_THROWABLE, CORE_EXCEPTION, CORE_NUMBER, CORE_BUILDER };

#define CORE(name, final, super)                     \
	{                                            \
		name, sizeof(name) - 1, final, super \
	}
static const struct core_class core[] = {
	[CORE_OBJECT] = CORE("Object", false, -1),
	[CORE_THROWABLE] = CORE("Throwable", false, CORE_OBJECT),
	[CORE_EXCEPTION] = CORE("Exception", false, CORE_THROWABLE),
	[CORE_NUMBER] = CORE("Number", false, CORE_OBJECT),
	[CORE_BUILDER] = CORE("AbstractStringBuilder", false, CORE_OBJECT),
	CORE("Error", false, CORE_THROWABLE),
	CORE("RuntimeException", false, CORE_EXCEPTION),
	CORE("Thread", false, CORE_OBJECT),
	CORE("ClassLoader", false, CORE_OBJECT),
	CORE("String", true, CORE_OBJECT),
	CORE("StringBuilder", true, CORE_BUILDER),
	CORE("StringBuffer", true, CORE_BUILDER),
	CORE("Class", true, CORE_OBJECT),
	CORE("Boolean", true, CORE_OBJECT),
	CORE("Character", true, CORE_OBJECT),
	CORE("Byte", true, CORE_NUMBER),
	CORE("Short", true, CORE_NUMBER),
	CORE("Integer", true, CORE_NUMBER),
	CORE("Long", true, CORE_NUMBER),
	CORE("Float", true, CORE_NUMBER),
	CORE("Double", true, CORE_NUMBER),
	CORE("StackTraceElement", true, CORE_OBJECT),
	CORE("invoke/MethodType", true, CORE_OBJECT),
	CORE("invoke/MethodHandle", false, CORE_OBJECT),
};
#undef CORE

static const char core_package[] = "java/lang/";
enum { CORE_PREFIX = sizeof(core_package) - 1, CORE_LONGEST = CORE_PREFIX + 21 };

/* Index into core, or -1. */
static int core_find(struct slice name)
{
	if (name.n <= CORE_PREFIX || name.n > CORE_LONGEST ||
	    memcmp(name.p, core_package, CORE_PREFIX) != 0)
		return -1;
	for (size_t i = 0; i < COUNT(core); i++)
		if (core[i].len + (size_t)CORE_PREFIX == name.n &&
		    memcmp(core[i].name, name.p + CORE_PREFIX, core[i].len) == 0)
			return (int)i;
	return -1;
}

/* Is it certain that the class `from` is neither `to` nor below it?  Both are no arrays. */
static bool certainly_unrelated(const struct class *cls, struct slice from, struct slice to)
{
	struct slice this_name = class_name(cls);
	int to_core = core_find(to), from_core;
	bool to_final;

	if (to_core >= 0)
		to_final = core[to_core].final;
	else if (!(cls->access & ACC_INTERFACE) && slice_eq(to, this_name))
		to_final = cls->access & ACC_FINAL;
	else
		return false; /* an interface, for all we know: everything may go there */
	if (slice_eq(from, to))
		return false;
	if (to_final)
		return true;
	if (slice_eq(from, this_name) && cls->super_class) {
		from = class_super(cls);
		if (slice_eq(from, to))
			return false;
	}
	from_core = core_find(from);
	if (from_core < 0) /* unknown; but a superclass of this class is not below it */
		return to_core < 0 && slice_eq(from, class_super(cls));
	while (from_core >= 0 && from_core != to_core)
		from_core = core[from_core].super;
	return from_core < 0;
}

static bool is_array_super(const struct pool *p, ctype t)
{
	struct slice name = ct_name(p, t);

	return is_some(t) || slice_is(name, "java/lang/Object") ||
	       slice_is(name, "java/lang/Cloneable") || slice_is(name, "java/io/Serializable");
}

/* Both are classes or arrays, and not the same word. */
static bool reference_assignable(const struct class *cls, ctype from, ctype to)
{
	const struct pool *p = &cls->pool;
	unsigned from_dims = ct_dims(from), to_dims = ct_dims(to);

	if (from_dims < to_dims)
		return false;
	if (ct_kind(to) == CT_PRIMS)
		return false; /* only itself */
	if (from_dims > to_dims)
		return is_array_super(p, to);
	if (ct_kind(from) == CT_PRIMS)
		return false;
	from = ct_with_dims(from, 0);
	to = ct_with_dims(to, 0);
	return is_some(from) || is_some(to) || from == to ||
	       !certainly_unrelated(cls, ct_name(p, from), ct_name(p, to));
}

bool ct_assignable(const struct class *cls, ctype from, ctype to)
{
	if (from == to || to == CT_TOP)
		return true;
	if (ct_kind(to) < CT_PRIMS)
		return false;
	if (from == CT_NULL)
		return true;
	return ct_kind(from) >= CT_PRIMS && reference_assignable(cls, from, to);
}

ctype ct_merge(const struct pool *p, ctype a, ctype b)
{
	unsigned dims, other;

	if (a == b)
		return a;
	if (a == CT_NULL && ct_kind(b) >= CT_PRIMS)
		return b;
	if (b == CT_NULL && ct_kind(a) >= CT_PRIMS)
		return a;
	if (ct_kind(a) < CT_PRIMS || ct_kind(b) < CT_PRIMS)
		return CT_TOP;
	if (ct_same_class(p, a, b))
		return a;
	/* The innermost dimension of an array of primitives is no array of objects. */
	dims = ct_dims(a) - (ct_kind(a) == CT_PRIMS);
	other = ct_dims(b) - (ct_kind(b) == CT_PRIMS);
	return ct_with_dims(ct_known(CT_SOME), dims < other ? dims : other);
}

/* ---- for people ---- */

const char *ct_text(const struct pool *p, ctype t, char out[CT_TEXT])
{
	static const char *const plain[] = { "nothing usable",
					     "int",
					     "float",
					     "long",
					     "the upper half of a long",
					     "double",
					     "the upper half of a double",
					     "a return address",
					     "null",
					     "uninitialized this" };
	const char *before = "";
	struct slice name;
	unsigned dims = ct_dims(t);

	if (ct_kind(t) < COUNT(plain))
		return plain[ct_kind(t)];
	if (ct_kind(t) == CT_PRIMS) {
		name = slice_str(desc_primitive((uint8_t)ct_letter(t)));
	} else if (ct_kind(t) == CT_UNINIT) {
		before = "uninitialized ";
		name = pool_name(p, ct_made_by(t)->index);
	} else {
		name = is_some(t) ? slice_str("some class") : ct_name(p, t);
	}
	snprintf(out, CT_TEXT, "%s%.*s%s%s", before, name.n > 50 ? 50 : (int)name.n,
		 (const char *)name.p, dims ? "[]" : "", dims > 1 ? "[]..." : "");
	return out;
}
