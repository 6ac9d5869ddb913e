/* SPDX-License-Identifier: Apache-2.0 */
/* classes.c - the parts of a class file are gathered in buffers and put together at the end. */
#include "classes.h"

#include "classfile/insn.h"
#include "test.h"

void maker_init(struct class_maker *m, const char *name, uint16_t major)
{
	*m = (struct class_maker){ .major = major, .access = ACC_PUBLIC | ACC_SUPER };
	m->pool.n = 1;
	m->this_class = maker_name(m, CONST_CLASS, name);
	m->super_class = maker_name(m, CONST_CLASS, "java/lang/Object");
}

void maker_release(struct class_maker *m)
{
	buf_release(&m->pool.bytes);
	buf_release(&m->interfaces.bytes);
	buf_release(&m->fields.bytes);
	buf_release(&m->methods.bytes);
	buf_release(&m->attrs.bytes);
	buf_release(&m->out);
}

static void put_list(struct buf *out, const struct maker_list *list)
{
	buf_u16(out, list->n);
	buf_put(out, buf_slice(&list->bytes));
	if (list->bytes.err)
		out->err = list->bytes.err;
}

struct slice maker_bytes(struct class_maker *m)
{
	struct buf *out = &m->out;

	buf_clear(out);
	buf_u32(out, 0xcafebabe);
	buf_u16(out, m->minor);
	buf_u16(out, m->major);
	put_list(out, &m->pool);
	buf_u16(out, m->access);
	buf_u16(out, m->this_class);
	buf_u16(out, m->super_class);
	put_list(out, &m->interfaces);
	put_list(out, &m->fields);
	put_list(out, &m->methods);
	put_list(out, &m->attrs);
	CHECK_INT(out->err, 0, "making a class");
	return buf_slice(out);
}

static uint16_t entry_made(struct class_maker *m)
{
	return m->pool.n++;
}

uint16_t maker_utf8(struct class_maker *m, const char *text)
{
	buf_u8(&m->pool.bytes, CONST_UTF8);
	buf_u16(&m->pool.bytes, (unsigned)strlen(text));
	buf_text(&m->pool.bytes, text);
	return entry_made(m);
}

uint16_t maker_name(struct class_maker *m, uint8_t tag, const char *name)
{
	uint16_t utf8 = maker_utf8(m, name);

	buf_u8(&m->pool.bytes, tag);
	buf_u16(&m->pool.bytes, utf8);
	return entry_made(m);
}

uint16_t maker_pair(struct class_maker *m, uint8_t tag, uint16_t first, uint16_t second)
{
	buf_u8(&m->pool.bytes, tag);
	buf_u16(&m->pool.bytes, first);
	buf_u16(&m->pool.bytes, second);
	return entry_made(m);
}

uint16_t maker_name_and_type(struct class_maker *m, const char *name, const char *desc)
{
	uint16_t n = maker_utf8(m, name), d = maker_utf8(m, desc);

	return maker_pair(m, CONST_NAME_AND_TYPE, n, d);
}

uint16_t maker_ref(struct class_maker *m, uint8_t tag, const char *owner, const char *name,
		   const char *desc)
{
	uint16_t c = maker_name(m, CONST_CLASS, owner), pair = maker_name_and_type(m, name, desc);

	return maker_pair(m, tag, c, pair);
}

uint16_t maker_handle(struct class_maker *m, uint8_t kind, uint16_t ref)
{
	buf_u8(&m->pool.bytes, CONST_METHOD_HANDLE);
	buf_u8(&m->pool.bytes, kind);
	buf_u16(&m->pool.bytes, ref);
	return entry_made(m);
}

uint16_t maker_number(struct class_maker *m, uint8_t tag, uint64_t bits)
{
	buf_u8(&m->pool.bytes, tag);
	if (tag == CONST_INTEGER || tag == CONST_FLOAT) {
		buf_u32(&m->pool.bytes, (uint32_t)bits);
		return entry_made(m);
	}
	buf_u32(&m->pool.bytes, (uint32_t)(bits >> 32));
	buf_u32(&m->pool.bytes, (uint32_t)bits);
	m->pool.n++;
	return (uint16_t)(entry_made(m) - 1);
}

void maker_interface(struct class_maker *m, const char *name)
{
	buf_u16(&m->interfaces.bytes, maker_name(m, CONST_CLASS, name));
	m->interfaces.n++;
}

void maker_attr(struct class_maker *m, struct maker_list *to, const char *name, struct slice data)
{
	buf_u16(&to->bytes, maker_utf8(m, name));
	buf_u32(&to->bytes, (uint32_t)data.n);
	buf_put(&to->bytes, data);
	to->n++;
}

struct head {
	uint16_t access;
	const char *name, *desc;
};

static void add_member(struct class_maker *m, struct maker_list *to, struct head head,
		       struct maker_list *attrs)
{
	struct maker_list none = { 0 };
	uint16_t name = maker_utf8(m, head.name), desc = maker_utf8(m, head.desc);

	buf_u16(&to->bytes, head.access);
	buf_u16(&to->bytes, name);
	buf_u16(&to->bytes, desc);
	put_list(&to->bytes, attrs ? attrs : &none);
	to->n++;
	if (attrs)
		buf_release(&attrs->bytes);
}

void maker_field(struct class_maker *m, uint16_t access, const char *name, const char *desc,
		 struct maker_list *attrs)
{
	add_member(m, &m->fields, (struct head){ access, name, desc }, attrs);
}

void maker_method(struct class_maker *m, uint16_t access, const char *name, const char *desc,
		  struct maker_list *attrs)
{
	add_member(m, &m->methods, (struct head){ access, name, desc }, attrs);
}

void maker_code(struct class_maker *m, uint16_t access, const char *name, const char *desc,
		struct maker_code code)
{
	bool sized = code.max_stack || code.max_locals;
	struct maker_list none = { 0 }, *tables = code.tables ? code.tables : &none;
	struct maker_list attrs = { 0 };
	struct buf body = { 0 };

	buf_u16(&body, sized ? code.max_stack : 10);
	buf_u16(&body, sized ? code.max_locals : 10);
	buf_u32(&body, (uint32_t)code.code.n);
	buf_put(&body, code.code);
	buf_u16(&body, (unsigned)(code.handlers.n / 8));
	buf_put(&body, code.handlers);
	put_list(&body, tables);
	maker_attr(m, &attrs, "Code", buf_slice(&body));
	buf_release(&body);
	buf_release(&tables->bytes);
	maker_method(m, access, name, desc, &attrs);
}

struct slice maker_simple(struct class_maker *m, uint16_t major, struct maker_code code)
{
	if (!m->pool.n)
		maker_init(m, "Simple", major);
	maker_code(m, ACC_PUBLIC | ACC_STATIC, "f", "()V", code);
	return maker_bytes(m);
}

int made_open(struct made_code *t, uint16_t major, struct maker_code code, struct fault *f)
{
	struct slice bytes = maker_simple(&t->maker, major, code);
	int rc;

	t->cls = NULL;
	t->code = NULL;
	arena_init(&t->mem);
	rc = class_read(&t->mem, bytes, &t->cls, f);
	if (!CHECK_INT(rc, 0, "reading a class that was made"))
		return rc;
	return code_elevate(t->cls, &t->cls->methods[0], &t->code, f);
}

void made_close(struct made_code *t)
{
	class_release(t->cls);
	arena_release(&t->mem);
	maker_release(&t->maker);
	*t = (struct made_code){ 0 };
}

struct insn *made_insn(const struct made_code *t, unsigned n)
{
	struct insn *i = insn_next_real(t->code->start);

	while (i && n--)
		i = insn_next_real(i);
	return i;
}

struct slice made_lower(struct made_code *t)
{
	struct slice body, none = { NULL, 0 };

	if (!CHECK_INT(code_lower(t->code, NULL), 0, "lowering"))
		return none;
	body = t->cls->methods[0].lowered;
	return (struct slice){ body.p + 8, get_u32(body.p + 4) };
}

int maker_check(struct class_maker *m, const char *what)
{
	struct fault f = { 0 };
	struct class *cls = NULL;
	struct arena mem;
	int rc;

	arena_init(&mem);
	if (CHECK_INT(class_read(&mem, maker_bytes(m), &cls, NULL), 0, what)) {
		rc = class_check(cls, &f);
		CHECK_INT(f.code, rc, what);
		CHECK_INT(f.text[0] == 0, rc == 0, what);
		CHECK(f.at < (long)m->out.n);
		class_release(cls);
	} else {
		rc = 1;
	}
	arena_release(&mem);
	maker_release(m);
	return rc;
}
