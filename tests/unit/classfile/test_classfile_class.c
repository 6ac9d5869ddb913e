/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include <stdlib.h>

#include "base/mem.h"
#include "classes.h"

/* A class with something of everything. */
static struct slice rich(struct class_maker *m)
{
	struct maker_list field = { 0 }, tables = { 0 };

	maker_init(m, "p/Rich", 52);
	maker_interface(m, "p/I");
	maker_interface(m, "p/J");
	maker_attr(m, &field, "ConstantValue", BYTES(U2(maker_number(m, CONST_LONG, 5))));
	maker_field(m, ACC_STATIC | ACC_FINAL, "five", "J", &field);
	maker_field(m, ACC_PRIVATE, "x", "I", NULL);
	maker_method(m, ACC_PUBLIC | ACC_ABSTRACT, "a", "()V", NULL);
	maker_attr(m, &tables, "LineNumberTable", BYTES(0, 1, 0, 0, 0, 7));
	maker_code(
		m, ACC_PUBLIC | ACC_STATIC, "f", "()I",
		(struct maker_code){ .code = BYTES(OP_ICONST_1, OP_IRETURN), .tables = &tables });
	maker_code(m, ACC_STATIC, "g", "()V", (struct maker_code){ .code = BYTES(OP_RETURN) });
	maker_attr(m, &m->attrs, "SourceFile", BYTES(U2(maker_utf8(m, "Rich.java"))));
	m->access |= ACC_ABSTRACT;
	return maker_bytes(m);
}

TEST(class_read_finds_the_parts)
{
	struct class_maker m;
	struct arena mem;
	struct class *cls;

	arena_init(&mem);
	if (CHECK_INT(class_read(&mem, rich(&m), &cls, NULL), 0, NULL)) {
		CHECK_INT(cls->major, 52, NULL);
		CHECK(slice_is(class_name(cls), "p/Rich"));
		CHECK(slice_is(class_super(cls), "java/lang/Object"));
		CHECK_INT(class_n_interfaces(cls), 2, NULL);
		CHECK(slice_is(class_interface(cls, 1), "p/J"));
		CHECK_INT(cls->n_fields, 2, NULL);
		CHECK_INT(cls->n_methods, 3, NULL);
		CHECK(slice_is(member_name(cls, &cls->fields[0]), "five"));
		CHECK(slice_is(member_desc(cls, &cls->methods[1]), "()I"));
		CHECK(!cls->methods[0].code.p);
		CHECK_INT(cls->methods[1].code.n, 8 + 2 + 2 + 2 + 12, NULL);
		CHECK_INT(cls->attrs.n, 1, NULL);
		CHECK_INT(class_check(cls, NULL), 0, NULL);
		class_release(cls);
	}
	maker_release(&m);
	arena_release(&mem);
}

TEST(class_write_without_changes_is_a_copy)
{
	struct class_maker m;
	struct slice bytes = rich(&m);
	struct buf out = { 0 };
	struct arena mem;
	struct class *cls;

	arena_init(&mem);
	buf_text(&out, "before");
	if (CHECK_INT(class_read(&mem, bytes, &cls, NULL), 0, NULL)) {
		CHECK_INT(class_write(cls, &out), 0, NULL);
		CHECK_MEM(out.p, 6, "before", 6, "it appends");
		CHECK_MEM(out.p + 6, out.n - 6, bytes.p, bytes.n, NULL);
		class_release(cls);
	}
	buf_release(&out);
	maker_release(&m);
	arena_release(&mem);
}

TEST(class_write_puts_added_constants_behind_the_old_ones)
{
	struct class_maker m;
	struct slice bytes = rich(&m);
	struct buf out = { 0 };
	struct arena mem;
	struct class *cls, *again;
	uint32_t read;
	size_t old;

	arena_init(&mem);
	if (!CHECK_INT(class_read(&mem, bytes, &cls, NULL), 0, NULL))
		return;
	read = cls->pool.n;
	old = cls->pool.bytes.n;
	CHECK_INT(pool_add_int(&cls->pool, 7), read, NULL);
	CHECK_INT(pool_add_name(&cls->pool, CONST_CLASS, slice_str("p/New")), read + 2, NULL);
	CHECK_INT(class_write(cls, &out), 0, NULL);
	CHECK_INT(out.n, bytes.n + 5 + 3 + 5 + 3, NULL);
	CHECK_MEM(out.p + 10, old, bytes.p + 10, old, "old entries");
	CHECK_MEM(out.p + out.n - (bytes.n - 10 - old), bytes.n - 10 - old, bytes.p + 10 + old,
		  bytes.n - 10 - old, "all behind the pool");
	if (CHECK_INT(class_read(&mem, buf_slice(&out), &again, NULL), 0, "again")) {
		CHECK_INT(again->pool.n, read + 3, NULL);
		CHECK(slice_is(pool_name(&again->pool, read + 2), "p/New"));
		CHECK_INT(class_check(again, NULL), 0, NULL);
		class_release(again);
	}
	class_release(cls);
	buf_release(&out);
	maker_release(&m);
	arena_release(&mem);
}

TEST(class_write_replaces_lowered_code_alone)
{
	struct class_maker m;
	struct slice bytes = rich(&m);
	static const uint8_t body[] = { 0,	1,	     0,		 0, 0, 0, 0, 3,
					OP_NOP, OP_ICONST_2, OP_IRETURN, 0, 0, 0, 0 };
	struct buf out = { 0 };
	struct arena mem;
	struct class *cls, *again;

	arena_init(&mem);
	if (!CHECK_INT(class_read(&mem, bytes, &cls, NULL), 0, NULL))
		return;
	cls->methods[1].lowered = (struct slice){ body, sizeof(body) };
	CHECK_INT(class_write(cls, &out), 0, NULL);
	if (CHECK_INT(class_read(&mem, buf_slice(&out), &again, NULL), 0, "again")) {
		CHECK_MEM(again->methods[1].code.p, again->methods[1].code.n, body, sizeof(body),
			  NULL);
		CHECK_MEM(again->methods[2].bytes.p, again->methods[2].bytes.n,
			  cls->methods[2].bytes.p, cls->methods[2].bytes.n, "the next method");
		class_release(again);
	}
	class_release(cls);
	buf_release(&out);
	maker_release(&m);
	arena_release(&mem);
}

TEST(class_read_refuses_every_cut_and_every_addition)
{
	struct class_maker m;
	struct slice bytes = rich(&m);
	uint8_t *longer = malloc(bytes.n + 1);
	struct arena mem;
	struct class *cls = NULL;
	struct fault f = { 0 };

	arena_init(&mem);
	for (size_t n = 0; n < bytes.n; n++) {
		uint8_t *copy = malloc(n + 1); /* so that a sanitizer sees reads past the end */

		f = (struct fault){ 0 };
		memcpy(copy, bytes.p, n);
		CHECK(class_read(&mem, (struct slice){ copy, n }, &cls, &f) < 0);
		CHECK(f.code < 0 && f.text[0]);
		CHECK(f.at <= (long)n);
		CHECK(!cls);
		arena_reset(&mem);
		free(copy);
	}
	memcpy(longer, bytes.p, bytes.n);
	longer[bytes.n] = 0;
	CHECK_INT(class_read(&mem, (struct slice){ longer, bytes.n + 1 }, &cls, NULL), E_TRAILING,
		  NULL);
	free(longer);
	maker_release(&m);
	arena_release(&mem);
}

static const struct {
	uint16_t major, minor;
	int rc;
} versions[] = {
	{ 44, 0, E_VERSION }, { 45, 0, 0 }, { 45, 3, 0 },	  { 52, 0, 0 },
	{ 69, 65535, 0 },     { 70, 0, 0 }, { 71, 0, E_VERSION }, { 65535, 0, E_VERSION },
};

TEST(class_read_knows_versions_45_to_70)
{
	for (size_t i = 0; i < COUNT(versions); i++) {
		struct class_maker m;
		struct arena mem;
		struct class *cls;

		arena_init(&mem);
		maker_init(&m, "V", versions[i].major);
		m.minor = versions[i].minor;
		CHECK_INT(class_read(&mem, maker_bytes(&m), &cls, NULL), versions[i].rc, NULL);
		maker_release(&m);
		arena_release(&mem);
	}
}

TEST(class_read_refuses_two_codes_and_bad_indices)
{
	struct maker_list attrs = { 0 };
	struct class_maker m;
	struct arena mem;
	struct class *cls;

	arena_init(&mem);
	maker_init(&m, "A", 52);
	maker_attr(&m, &attrs, "Code", BYTES(0));
	maker_attr(&m, &attrs, "Code", BYTES(0));
	maker_method(&m, 0, "m", "()V", &attrs);
	CHECK_INT(class_read(&mem, maker_bytes(&m), &cls, NULL), E_CODE_MISSING, NULL);
	m.this_class = 1;
	CHECK_INT(class_read(&mem, maker_bytes(&m), &cls, NULL), E_POOL_INDEX, "this_class");
	m.this_class = 2;
	m.super_class = 3;
	CHECK_INT(class_read(&mem, maker_bytes(&m), &cls, NULL), E_POOL_INDEX, "super_class");
	m.super_class = 4;
	buf_u16(&m.interfaces.bytes, 1);
	m.interfaces.n = 1;
	CHECK_INT(class_read(&mem, maker_bytes(&m), &cls, NULL), E_POOL_INDEX, "interface");
	maker_release(&m);
	arena_release(&mem);
}

TEST(class_read_and_write_survive_every_failed_allocation)
{
	struct class_maker m;
	struct slice bytes = rich(&m);
	struct buf out = { 0 };
	int rc = -1;

	for (long n = 0; rc < 0; n++) {
		struct arena mem;
		struct class *cls = NULL;

		arena_init(&mem);
		buf_release(&out);
		mem_fail_at(n);
		rc = class_read(&mem, bytes, &cls, NULL);
		if (rc >= 0)
			rc = class_check(cls, NULL);
		if (rc >= 0)
			rc = pool_add_int(&cls->pool, 1);
		if (rc >= 0)
			rc = class_write(cls, &out);
		mem_fail_at(-1);
		if (rc < 0) {
			CHECK_INT(rc, E_NO_MEMORY, NULL);
			CHECK_INT(out.n, 0, NULL);
		}
		class_release(cls);
		arena_release(&mem);
		if (!CHECK(n < 1000))
			break;
	}
	CHECK_INT(out.n, bytes.n + 5, NULL);
	buf_release(&out);
	maker_release(&m);
}

TEST(class_write_puts_added_attributes_behind_the_others)
{
	struct class_maker m;
	struct buf out = { 0 };
	struct arena mem;
	struct class *cls, *again;
	struct attr a;
	int name;

	arena_init(&mem);
	if (CHECK_INT(class_read(&mem, rich(&m), &cls, NULL), 0, NULL)) {
		name = pool_add_utf8(&cls->pool, slice_str("Deprecated"));
		cls->methods[1].added = BYTES(U2(name), 0, 0, 0, 0);
		cls->methods[1].n_added = 1;
		CHECK_INT(class_write(cls, &out), 0, NULL);
		if (CHECK_INT(class_read(&mem, buf_slice(&out), &again, NULL), 0, NULL)) {
			CHECK_INT(again->methods[1].attrs.n, cls->methods[1].attrs.n + 1, NULL);
			CHECK(attrs_find(&again->methods[1].attrs, &again->pool, ATTR_DEPRECATED,
					 &a));
			CHECK_INT(again->methods[2].attrs.n, cls->methods[2].attrs.n, "the next");
			CHECK_INT(class_check(again, NULL), 0, NULL);
			class_release(again);
		}
		class_release(cls);
	}
	buf_release(&out);
	maker_release(&m);
	arena_release(&mem);
}
