/* SPDX-License-Identifier: Apache-2.0 */
/* format.c - class_check(): format checking (JVMS 4.8) of what class_read() did not look at.
 *
 * The measure is what HotSpot 17 and 25 do under -Xverify:all, because a class that they load must
 * not be refused here: where they are laxer than the specification, so is this file, and a comment
 * says so.
 *
 * Names and descriptors are shared by many entries and members; `good` remembers for each Utf8
 * entry what it was found to be good for, so that each text is looked at about once. */
#include "classfile/format.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/mem.h"
#include "classfile/access.h"
#include "classfile/desc.h"

static struct slice shortened(struct slice s)
{
	return (struct slice){ s.p, s.n < 60 ? s.n : 60 };
}

int format_fail(const struct format *c, const uint8_t *at, int code, const char *fmt, ...)
{
	const struct class *cls = c->cls;
	bool inside = at >= cls->bytes.p && at < cls->bytes.p + cls->bytes.n;
	long offset = inside ? (long)(at - cls->bytes.p) : -1;
	const struct member *m = c->member;
	struct slice name, desc;
	char what[160];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(what, sizeof(what), fmt, ap);
	va_end(ap);
	if (!m) {
		name = shortened(class_name(cls));
		return fault_set(c->fault, code, offset, "class %.*s: %s", SLICE_FMT(name), what);
	}
	name = shortened(member_name(cls, m));
	desc = shortened(member_desc(cls, m));
	return fault_set(c->fault, code, offset, "%s %.*s%s%.*s: %s",
			 c->in_method ? "method" : "field", SLICE_FMT(name),
			 c->in_method ? "" : " ", SLICE_FMT(desc), what);
}

int format_fail_entry(const struct format *c, uint32_t i, int code, const char *what)
{
	struct slice text = pool_tag(c->pool, i) == CONST_UTF8 ? pool_utf8(c->pool, i)
							       : pool_name(c->pool, i);

	text = shortened(text);
	return format_fail(c, c->pool->at[i], code, "constant-pool entry %u \"%.*s\": %s", i,
			   SLICE_FMT(text), what);
}

int format_no_memory(const struct format *c)
{
	return fault_no_memory(c->fault);
}

bool format_good(const struct format *c, uint32_t utf8, uint8_t kind)
{
	if (c->good[utf8] & kind)
		return true;
	if (!name_is(pool_utf8(c->pool, utf8), kind, c->cls->major))
		return false;
	c->good[utf8] |= kind;
	return true;
}

static bool is_clinit(const struct format *c)
{
	return slice_is(member_name(c->cls, c->member), "<clinit>");
}

static bool is_void(struct slice desc)
{
	return desc.n && desc.p[desc.n - 1] == 'V';
}

/* ---- duplicates ---- */

bool format_rows(struct format *c, size_t n)
{
	uint64_t *rows;

	if (n <= c->rows_cap)
		return true;
	n = n < 64 ? 64 : n * 2;
	rows = mem_realloc(c->rows, n * sizeof(*rows));
	if (!rows)
		return false;
	c->rows = rows;
	c->rows_cap = n;
	return true;
}

int format_twin(const uint64_t *rows, size_t n)
{
	struct map seen = { 0 };
	int rc = 0;

	if (n <= FORMAT_FEW) {
		for (size_t i = 1; i < n; i++)
			for (size_t j = 0; j < i; j++)
				if (rows[i] == rows[j])
					return (int)i;
		return 0;
	}
	for (size_t i = 0; i < n && !rc; i++) {
		bool fresh;

		if (!map_put(&seen, format_row_key(&rows[i]), &fresh))
			rc = E_NO_MEMORY;
		else if (!fresh)
			rc = (int)i;
	}
	map_release(&seen);
	return rc;
}

/* Number of the first Utf8 entry with the same text; 0: out of memory. */
static uint16_t canonical(struct format *c, uint16_t utf8)
{
	uintptr_t *first;
	bool fresh;

	if (!c->canonical[utf8]) {
		first = map_put(&c->texts, pool_utf8(c->pool, utf8), &fresh);
		if (!first)
			return 0;
		if (fresh)
			*first = utf8;
		c->canonical[utf8] = (uint16_t)*first;
	}
	return c->canonical[utf8];
}

static bool same_member(const struct class *cls, const struct member *a, const struct member *b)
{
	return slice_eq(member_name(cls, a), member_name(cls, b)) &&
	       slice_eq(member_desc(cls, a), member_desc(cls, b));
}

/* As format_twin, for a few members: texts are compared where lengths and ends agree. */
static int twin_of_few(const struct class *cls, const struct member *list, uint32_t n)
{
	uint64_t hints[FORMAT_FEW];

	for (uint32_t i = 0; i < n; i++) {
		struct slice name = member_name(cls, &list[i]), desc = member_desc(cls, &list[i]);

		hints[i] = (uint64_t)name.n << 32 | (uint64_t)desc.n << 16 |
			   (unsigned)name.p[0] << 8 | name.p[name.n - 1];
		for (uint32_t j = 0; j < i; j++)
			if (hints[i] == hints[j] && same_member(cls, &list[i], &list[j]))
				return (int)i;
	}
	return 0;
}

/* Names and descriptors are good, so not empty. */
static int twin_of_members(struct format *c, const struct member *list, uint32_t n)
{
	if (n <= FORMAT_FEW)
		return twin_of_few(c->cls, list, n);
	if (!format_rows(c, n))
		return E_NO_MEMORY;
	for (uint32_t i = 0; i < n; i++) {
		uint64_t name = canonical(c, list[i].name), desc = canonical(c, list[i].desc);

		if (!name || !desc)
			return E_NO_MEMORY;
		c->rows[i] = name << 16 | desc;
	}
	return format_twin(c->rows, n);
}

static int check_members_differ(struct format *c, const struct member *list, uint32_t n)
{
	int twin = twin_of_members(c, list, n);

	if (twin < 0)
		return format_no_memory(c);
	if (!twin)
		return 0;
	c->member = &list[twin];
	return format_fail(c, list[twin].bytes.p, E_DUPLICATE, "is declared twice");
}

/* ---- constant pool ---- */

/* The version that brought each tag. */
static uint16_t tag_since(uint8_t tag)
{
	switch (tag) {
	case CONST_METHOD_HANDLE:
	case CONST_METHOD_TYPE:
	case CONST_INVOKE_DYNAMIC:
		return JAVA_7;
	case CONST_MODULE:
	case CONST_PACKAGE:
		return JAVA_9;
	case CONST_DYNAMIC:
		return JAVA_11;
	default:
		return 0;
	}
}

static uint8_t first_char(const struct format *c, uint32_t utf8)
{
	struct slice s = pool_utf8(c->pool, utf8);

	return s.n ? s.p[0] : 0;
}

static int check_name_and_type(const struct format *c, uint32_t i)
{
	uint16_t name = pool_first(c->pool, i), desc = pool_second(c->pool, i);
	bool method = first_char(c, desc) == '(';

	if (!format_good(c, name, method ? NAME_METHOD : NAME_FIELD))
		return format_fail_entry(c, name, E_NAME,
					 method ? "is not a method's name"
						: "is not a field's name");
	if (!format_good(c, desc, method ? NAME_METHOD_DESC : NAME_FIELD_DESC))
		return format_fail_entry(c, desc, E_DESCRIPTOR, "is not a descriptor");
	return 0;
}

/* Fieldref, Methodref, InterfaceMethodref, Dynamic, InvokeDynamic */
static int check_ref(struct format *c, uint32_t i, uint8_t tag)
{
	bool method = tag != CONST_FIELDREF && tag != CONST_DYNAMIC;
	uint16_t pair = pool_second(c->pool, i);
	uint16_t name = pool_first(c->pool, pair), desc = pool_second(c->pool, pair);

	if ((first_char(c, desc) == '(') != method)
		return format_fail_entry(c, desc, E_DESCRIPTOR,
					 method ? "is used as a method's descriptor"
						: "is used as a field's descriptor");
	if (tag == CONST_DYNAMIC || tag == CONST_INVOKE_DYNAMIC) {
		if (pool_first(c->pool, i) > c->bootstrap_max)
			c->bootstrap_max = pool_first(c->pool, i);
	} else if (tag == CONST_METHODREF && first_char(c, name) == '<') {
		if (!slice_is(pool_utf8(c->pool, name), "<init>"))
			return format_fail_entry(c, name, E_NAME,
						 "is a method that nobody may call");
		if (!is_void(pool_utf8(c->pool, desc)))
			return format_fail_entry(c, desc, E_DESCRIPTOR, "gives <init> a result");
	}
	return 0;
}

static int check_handle(const struct format *c, uint32_t i)
{
	uint8_t kind = c->pool->at[i][1];
	uint16_t to = get_u16(c->pool->at[i] + 2);
	struct pool_ref ref;

	if (kind < 5 || kind > 8)
		return 0;
	if (pool_tag(c->pool, to) == CONST_INTERFACE_METHODREF && c->cls->major < JAVA_8)
		return format_fail_entry(c, i, E_POOL_INDEX,
					 "is a handle to an interface method, before version 52");
	pool_ref(c->pool, to, &ref);
	if (slice_is(ref.name, "<init>") != (kind == 8))
		return format_fail_entry(
			c, i, E_NAME,
			kind == 8 ? "is a constructor's handle, but leads to a method"
				  : "is a method's handle, but leads to a constructor");
	return 0;
}

static int check_entry(struct format *c, uint32_t i)
{
	const struct pool *p = c->pool;
	uint8_t tag = *p->at[i];

	switch (tag) {
	case CONST_UTF8:
		if (!name_is_utf8(pool_utf8(p, i), c->cls->major))
			return format_fail(c, p->at[i], E_UTF8,
					   "constant-pool entry %u is not modified UTF-8", i);
		return 0;
	case CONST_CLASS:
		if (!format_good(c, pool_first(p, i), NAME_CLASS))
			return format_fail_entry(c, i, E_NAME, "is not a class's name");
		return 0;
	case CONST_NAME_AND_TYPE:
		return check_name_and_type(c, i);
	case CONST_FIELDREF:
	case CONST_METHODREF:
	case CONST_INTERFACE_METHODREF:
	case CONST_DYNAMIC:
	case CONST_INVOKE_DYNAMIC:
		return check_ref(c, i, tag);
	case CONST_METHOD_HANDLE:
		return check_handle(c, i);
	case CONST_METHOD_TYPE:
		if (!format_good(c, pool_first(p, i), NAME_METHOD_DESC))
			return format_fail_entry(c, i, E_DESCRIPTOR,
						 "is not a method's descriptor");
		return 0;
	case CONST_MODULE:
		if (!name_is(pool_name(p, i), NAME_MODULE, 0))
			return format_fail_entry(c, i, E_NAME, "is not a module's name");
		return 0;
	case CONST_PACKAGE:
		if (!name_is(pool_name(p, i), NAME_PACKAGE, 0))
			return format_fail_entry(c, i, E_NAME, "is not a package's name");
		return 0;
	default:
		return 0;
	}
}

static int check_pool(struct format *c)
{
	const struct pool *p = c->pool;
	uint32_t modular = TAGS(CONST_MODULE) | TAGS(CONST_PACKAGE), tags = 0;

	for (uint32_t i = 1; i < p->n; i++) {
		int rc = check_entry(c, i);

		if (rc < 0)
			return rc;
		tags |= TAGS(*p->at[i]);
	}
	for (uint8_t tag = 1; tag <= CONST_PACKAGE; tag++)
		if ((tags & TAGS(tag)) && c->cls->major < tag_since(tag))
			return format_fail(c, p->bytes.p, E_POOL_TAG,
					   "version %u has no constants of tag %u", c->cls->major,
					   tag);
	if ((tags & modular) && !format_is_module(c->cls))
		return format_fail(c, p->bytes.p, E_POOL_TAG,
				   "only module-info may have Module and Package constants");
	return 0;
}

/* ---- members ---- */

static int check_names(const struct format *c, uint8_t name, uint8_t desc)
{
	const struct member *m = c->member;

	if (!format_good(c, m->name, name))
		return format_fail(c, m->bytes.p + 2, E_NAME, "has a malformed name");
	if (!format_good(c, m->desc, desc))
		return format_fail(c, m->bytes.p + 4, E_DESCRIPTOR, "has a malformed descriptor");
	return 0;
}

static int check_field(struct format *c)
{
	const struct member *m = c->member;
	uint64_t seen = 0;
	int rc = check_names(c, NAME_FIELD, NAME_FIELD_DESC);

	if (rc < 0)
		return rc;
	if (!access_field_ok(c->cls, m->access))
		return format_fail(c, m->bytes.p, E_ACCESS, "has contradictory flags 0x%04x",
				   m->access);
	return format_attrs(c, &m->attrs, 'F', &seen);
}

/* Of <clinit> only the flag static is looked at, from version 51 on, and nothing before. */
static int check_clinit(const struct format *c)
{
	const struct member *m = c->member;

	if (c->cls->major >= JAVA_7 && !(m->access & ACC_STATIC))
		return format_fail(c, m->bytes.p, E_ACCESS, "is not static");
	if (c->cls->major >= JAVA_7 && !slice_is(member_desc(c->cls, m), "()V"))
		return format_fail(c, m->bytes.p, E_DESCRIPTOR, "has arguments");
	return 0;
}

/* Slots of the arguments of a good descriptor. */
static unsigned argument_slots(struct slice desc)
{
	unsigned slots = 0;
	bool array = false;

	for (const uint8_t *p = desc.p + 1, *end = desc.p + desc.n; *p != ')'; p++) {
		if (*p == '[') {
			array = true;
			continue;
		}
		slots += !array && (*p == 'J' || *p == 'D') ? 2 : 1;
		array = false;
		if (*p == 'L')
			p = memchr(p, ';', (size_t)(end - p));
	}
	return slots;
}

static int check_method(struct format *c)
{
	const struct member *m = c->member;
	bool init = slice_is(member_name(c->cls, m), "<init>"), clinit = is_clinit(c);
	bool bare = !clinit && (m->access & (ACC_ABSTRACT | ACC_NATIVE));
	uint64_t seen = 0;
	int rc = check_names(c, NAME_METHOD, NAME_METHOD_DESC);

	if (rc < 0)
		return rc;
	if (!clinit && !access_method_ok(c->cls, m->access, init))
		return format_fail(c, m->bytes.p, E_ACCESS, "has contradictory flags 0x%04x",
				   m->access);
	if (init && (c->cls->access & ACC_INTERFACE))
		return format_fail(c, m->bytes.p, E_NAME, "is a constructor in an interface");
	if ((init || clinit) && !is_void(member_desc(c->cls, m)))
		return format_fail(c, m->bytes.p, E_DESCRIPTOR, "has a result");
	rc = clinit ? check_clinit(c) : 0;
	if (rc < 0)
		return rc;
	c->slots = argument_slots(member_desc(c->cls, m));
	if (!clinit && !(m->access & ACC_STATIC))
		c->slots++; /* <clinit> is static whatever its flags say */
	if (c->slots > 255)
		return format_fail(c, m->bytes.p, E_DESCRIPTOR,
				   "has %u slots of arguments, more than 255", c->slots);
	if (bare && m->code.p)
		return format_fail(c, m->bytes.p, E_CODE_MISSING,
				   "has code, but is abstract or native");
	if (!bare && !m->code.p)
		return format_fail(c, m->bytes.p, E_CODE_MISSING, "has no code");
	return format_attrs(c, &m->attrs, 'M', &seen);
}

static int check_members(struct format *c, const struct member *list, uint32_t n, bool methods)
{
	int rc = 0;

	c->in_method = methods;
	for (uint32_t i = 0; i < n && rc >= 0; i++) {
		c->member = &list[i];
		rc = methods ? check_method(c) : check_field(c);
	}
	if (rc >= 0)
		rc = check_members_differ(c, list, n);
	c->member = NULL;
	return rc;
}

/* ---- the class itself ---- */

/* The number of an interface that is named twice; 0: there is none; or E_NO_MEMORY. */
static int twin_of_interfaces(struct format *c, uint32_t n)
{
	const struct class *cls = c->cls;

	if (n <= FORMAT_FEW) {
		for (uint32_t i = 1; i < n; i++)
			for (uint32_t j = 0; j < i; j++)
				if (slice_eq(class_interface(cls, i), class_interface(cls, j)))
					return (int)i;
		return 0;
	}
	if (!format_rows(c, n))
		return E_NO_MEMORY;
	for (uint32_t i = 0; i < n; i++) {
		c->rows[i] = canonical(c, pool_first(c->pool, get_u16(cls->interfaces.p + 2 * i)));
		if (!c->rows[i])
			return E_NO_MEMORY;
	}
	return format_twin(c->rows, n);
}

static int check_interfaces(struct format *c)
{
	const struct class *cls = c->cls;
	uint32_t n = class_n_interfaces(cls);
	int twin;

	if (n && slice_is(class_name(cls), "java/lang/Object"))
		return format_fail(c, cls->interfaces.p, E_SUPER, "has interfaces");
	for (uint32_t i = 0; i < n; i++) {
		struct slice name = class_interface(cls, i);

		if (format_is_array(name) || slice_eq(name, class_name(cls)))
			return format_fail(c, cls->interfaces.p + 2 * i, E_SUPER,
					   "interface %u is an array or the class itself", i);
	}
	twin = twin_of_interfaces(c, n);
	if (twin < 0)
		return format_no_memory(c);
	if (twin)
		return format_fail(c, cls->interfaces.p + 2 * twin, E_DUPLICATE,
				   "interface %d is named twice", twin);
	return 0;
}

static int check_head(struct format *c)
{
	const struct class *cls = c->cls;
	struct slice super = class_super(cls);
	const uint8_t *at = cls->middle.p;

	if (cls->major >= JAVA_12 && cls->minor != 0 && cls->minor != 65535)
		return format_fail(c, cls->bytes.p + 4, E_VERSION,
				   "version %u has no minor version %u", cls->major, cls->minor);
	if (format_is_module(cls))
		return 0;
	if (!access_class_ok(cls->major, cls->access & FORMAT_CLASS_FLAGS))
		return format_fail(c, at, E_ACCESS, "has contradictory flags 0x%04x", cls->access);
	if (format_is_array(class_name(cls)))
		return format_fail(c, at + 2, E_NAME, "has the name of an array");
	if (!cls->super_class && !slice_is(class_name(cls), "java/lang/Object"))
		return format_fail(c, at + 4, E_SUPER, "has no superclass");
	if (format_is_array(super))
		return format_fail(c, at + 4, E_SUPER, "has an array as superclass");
	if (slice_eq(super, class_name(cls)))
		return format_fail(c, at + 4, E_SUPER, "is its own superclass");
	if (cls->super_class && (cls->access & ACC_INTERFACE) &&
	    !slice_is(super, "java/lang/Object"))
		return format_fail(c, at + 4, E_SUPER, "is an interface with a superclass");
	return check_interfaces(c);
}

/* module-info is never loaded as a class: here the specification and java.lang.module decide. */
static int check_module(const struct format *c)
{
	const struct class *cls = c->cls;
	const uint8_t *at = cls->middle.p;

	if (cls->access != ACC_MODULE)
		return format_fail(c, at, E_ACCESS, "is a module, but has flags 0x%04x",
				   cls->access);
	if (!slice_is(class_name(cls), "module-info"))
		return format_fail(c, at + 2, E_NAME, "is a module, but not called module-info");
	if (cls->super_class || cls->interfaces.n)
		return format_fail(c, at + 4, E_SUPER,
				   "is a module, but has a superclass or interfaces");
	if (cls->n_fields || cls->n_methods)
		return format_fail(c, at, E_ATTRIBUTE, "is a module, but has fields or methods");
	return 0;
}

static int check_class_attrs(struct format *c)
{
	uint64_t one = 1, seen = 0;
	int rc = format_attrs(c, &c->cls->attrs, 'C', &seen);

	if (rc < 0)
		return rc;
	if (c->bootstrap_max >= 0 && !(seen & one << ATTR_BOOTSTRAP_METHODS))
		return format_fail(c, c->cls->tail.p, E_ATTRIBUTE, "BootstrapMethods is missing");
	if ((seen & one << ATTR_NEST_HOST) && (seen & one << ATTR_NEST_MEMBERS))
		return format_fail(c, c->cls->tail.p, E_ATTRIBUTE,
				   "has both NestHost and NestMembers");
	if (format_is_module(c->cls) && !(seen & one << ATTR_MODULE))
		return format_fail(c, c->cls->tail.p, E_ATTRIBUTE,
				   "is a module without attribute Module");
	return 0;
}

static int check_all(struct format *c)
{
	const struct class *cls = c->cls;
	int rc = check_pool(c);

	if (rc >= 0)
		rc = check_head(c);
	if (rc >= 0 && format_is_module(cls))
		rc = check_module(c);
	if (rc >= 0)
		rc = check_members(c, cls->fields, cls->n_fields, false);
	if (rc >= 0)
		rc = check_members(c, cls->methods, cls->n_methods, true);
	if (rc >= 0)
		rc = check_class_attrs(c);
	return rc;
}

int class_check(const struct class *cls, struct fault *f)
{
	struct format c = { .cls = cls, .pool = &cls->pool, .fault = f, .bootstrap_max = -1 };
	int rc;

	c.canonical = mem_alloc(cls->pool.n * (sizeof(*c.canonical) + sizeof(*c.good)));
	if (!c.canonical)
		return format_no_memory(&c);
	memset(c.canonical, 0, cls->pool.n * (sizeof(*c.canonical) + sizeof(*c.good)));
	c.good = (uint8_t *)(c.canonical + cls->pool.n);
	rc = check_all(&c);
	map_release(&c.texts);
	mem_free(c.rows);
	mem_free(c.canonical);
	return rc < 0 ? rc : 0;
}
