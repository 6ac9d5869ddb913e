/* SPDX-License-Identifier: Apache-2.0 */
/* class.c - reading and writing a class file.
 *
 * The reader goes once over the file and remembers where the parts lie.  The writer copies
 * those parts, with the added constants behind the old ones and the lowered code in place of
 * the old. */
#include "classfile/class.h"

static int read_member(struct class *cls, struct member *m, struct reader *r, bool method,
		       struct fault *f)
{
	const uint8_t *start = r->p;
	struct attr attr;
	int rc;

	m->access = rd_u16(r);
	m->name = rd_u16(r);
	m->desc = rd_u16(r);
	m->code = m->lowered = m->added = (struct slice){ NULL, 0 };
	m->n_added = 0;
	if (!r->err && (!pool_is(&cls->pool, m->name, TAGS(CONST_UTF8)) ||
			!pool_is(&cls->pool, m->desc, TAGS(CONST_UTF8))))
		return fault_set(f, E_POOL_INDEX, (long)(start - r->start),
				 "name %u or descriptor %u of a %s is not a Utf8 entry", m->name,
				 m->desc, method ? "method" : "field");
	rc = attrs_read(&m->attrs, &cls->pool, r, f);
	if (rc < 0)
		return rc;
	m->bytes = (struct slice){ start, (size_t)(r->p - start) };
	if (!method)
		return 0;
	for (const uint8_t *at = NULL; attrs_next(&m->attrs, &cls->pool, &at, &attr);) {
		if (attr.kind != ATTR_CODE)
			continue;
		if (m->code.p)
			return fault_set(f, E_CODE_MISSING, (long)(attr.data.p - r->start),
					 "method %.*s has two Code attributes",
					 SLICE_FMT(member_name(cls, m)));
		m->code = attr.data;
	}
	return 0;
}

static int read_members(struct class *cls, struct reader *r, bool methods, struct fault *f)
{
	uint32_t n = rd_u16(r);
	struct member *list;

	/* The smallest member takes 8 bytes: do not let a count alone take memory. */
	if (r->err || n > rd_left(r) / 8)
		return fault_set(f, E_TRUNCATED, (long)rd_at(r), "%u %s do not fit into the file",
				 n, methods ? "methods" : "fields");
	list = arena_alloc(cls->mem, n * sizeof(*list));
	if (!list)
		return fault_no_memory(f);
	for (uint32_t i = 0; i < n; i++) {
		int rc = read_member(cls, &list[i], r, methods, f);

		if (rc < 0)
			return rc;
	}
	if (methods) {
		cls->methods = list;
		cls->n_methods = n;
	} else {
		cls->fields = list;
		cls->n_fields = n;
	}
	return 0;
}

static int read_head(struct class *cls, struct reader *r, struct fault *f)
{
	uint32_t magic = rd_u32(r);
	int rc;

	if (r->err || magic != 0xcafebabe)
		return fault_set(f, E_MAGIC, 0, "does not begin with CAFEBABE");
	cls->minor = rd_u16(r);
	cls->major = rd_u16(r);
	if (r->err)
		return fault_set(f, E_TRUNCATED, (long)rd_at(r), "ends before the version");
	if (cls->major < CLASS_MAJOR_MIN || cls->major > CLASS_MAJOR_MAX)
		return fault_set(f, E_VERSION, 6, "version %u.%u is not between %d and %d",
				 cls->major, cls->minor, CLASS_MAJOR_MIN, CLASS_MAJOR_MAX);
	rc = pool_read(&cls->pool, cls->mem, r, f);
	if (rc < 0)
		return rc;
	cls->middle.p = r->p;
	cls->access = rd_u16(r);
	cls->this_class = rd_u16(r);
	cls->super_class = rd_u16(r);
	cls->interfaces = rd_bytes(r, 2 * (size_t)rd_u16(r));
	if (r->err)
		return fault_set(f, E_TRUNCATED, (long)rd_at(r), "ends in the list of interfaces");
	if (!pool_is(&cls->pool, cls->this_class, TAGS(CONST_CLASS)))
		return fault_set(f, E_POOL_INDEX, (long)(cls->middle.p - r->start) + 2,
				 "this_class %u is not a Class entry", cls->this_class);
	if (cls->super_class && !pool_is(&cls->pool, cls->super_class, TAGS(CONST_CLASS)))
		return fault_set(f, E_POOL_INDEX, (long)(cls->middle.p - r->start) + 4,
				 "super_class %u is not a Class entry", cls->super_class);
	for (unsigned i = 0; i < class_n_interfaces(cls); i++)
		if (!pool_is(&cls->pool, get_u16(cls->interfaces.p + 2 * i), TAGS(CONST_CLASS)))
			return fault_set(f, E_POOL_INDEX,
					 (long)(cls->interfaces.p - r->start) + 2 * (long)i,
					 "interface %u is not a Class entry", i);
	return 0;
}

int class_read(struct arena *mem, struct slice bytes, struct class **out, struct fault *f)
{
	struct class *cls = arena_zero(mem, sizeof(*cls));
	struct reader r = rd_init(bytes);
	int rc;

	if (!cls)
		return fault_no_memory(f);
	cls->mem = cls->work = mem;
	cls->bytes = bytes;
	rc = read_head(cls, &r, f);
	if (rc < 0)
		return rc;
	rc = read_members(cls, &r, false, f);
	if (rc < 0)
		return rc;
	rc = read_members(cls, &r, true, f);
	if (rc < 0)
		return rc;
	cls->tail.p = r.p;
	rc = attrs_read(&cls->attrs, &cls->pool, &r, f);
	if (rc < 0)
		return rc;
	cls->tail.n = (size_t)(r.p - cls->tail.p);
	cls->middle.n =
		(size_t)((cls->n_methods ? cls->methods[0].bytes.p : cls->tail.p) - cls->middle.p);
	if (rd_left(&r))
		return fault_set(f, E_TRAILING, (long)rd_at(&r), "%zu bytes behind the class",
				 rd_left(&r));
	*out = cls;
	return 0;
}

void class_release(struct class *cls)
{
	if (cls)
		pool_release(&cls->pool);
}

static void write_member(const struct member *m, struct buf *out)
{
	const uint8_t *from = m->bytes.p, *end = m->bytes.p + m->bytes.n;

	if (m->n_added) { /* access, name, descriptor, then the count of attributes */
		buf_bytes(out, from, 6);
		buf_u16(out, (unsigned)(m->attrs.n + m->n_added));
		from += 8;
	}
	if (m->lowered.p) {
		buf_bytes(out, from, (size_t)(m->code.p - 4 - from));
		buf_u32(out, (uint32_t)m->lowered.n);
		buf_put(out, m->lowered);
		from = m->code.p + m->code.n;
	}
	buf_bytes(out, from, (size_t)(end - from));
	buf_put(out, m->added);
}

size_t class_method_size(const struct member *m)
{
	return m->bytes.n + m->added.n + (m->lowered.p ? m->lowered.n - m->code.n : 0);
}

int class_write(const struct class *cls, struct buf *out)
{
	const struct pool *p = &cls->pool;
	size_t start = out->n;
	bool changed = p->n != p->read;

	for (uint32_t i = 0; i < cls->n_methods && !changed; i++)
		changed = cls->methods[i].lowered.p || cls->methods[i].n_added;
	if (!changed) {
		buf_put(out, cls->bytes);
		return out->err;
	}
	buf_bytes(out, cls->bytes.p, 8);
	buf_u16(out, p->n);
	buf_put(out, p->bytes);
	for (uint32_t i = p->read; i < p->n; i++)
		if (*p->at[i])
			buf_bytes(out, p->at[i], pool_entry_size(p->at[i]));
	buf_put(out, cls->middle);
	for (uint32_t i = 0; i < cls->n_methods; i++)
		write_member(&cls->methods[i], out);
	buf_put(out, cls->tail);
	if (out->err)
		out->n = start;
	return out->err;
}
