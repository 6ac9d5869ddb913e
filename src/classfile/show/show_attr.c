/* SPDX-License-Identifier: Apache-2.0 */
/* show_attr.c - every standard attribute but Code, one line or a few each.
 *
 * An attribute that does not follow its layout (attr_walk) is shown as malformed; so the functions
 * below need not check what they read. */
#include "classfile/show/show_priv.h"

enum { HEX_A_LINE = 32 };

static void begin(const struct show *s)
{
	show_indent(s);
}

static void end(const struct show *s)
{
	buf_u8(s->out, '\n');
}

static void put_const(const struct show *s, struct reader *r)
{
	uint16_t index = rd_u16(r);

	if (index)
		show_const(s->out, &s->cls->pool, index);
	else
		buf_u8(s->out, '-');
}

static void put_flags(const struct show *s, unsigned access, char where)
{
	if (access) {
		buf_text(s->out, " [");
		show_flags(s->out, access, where);
		buf_u8(s->out, ']');
	}
}

static void put_bytes(const struct show *s, struct slice bytes)
{
	for (size_t i = 0; i < bytes.n; i++) {
		if (i % HEX_A_LINE == 0) {
			if (i)
				end(s);
			begin(s);
		} else if (i % 4 == 0) {
			buf_u8(s->out, ' ');
		}
		buf_printf(s->out, "%02x", bytes.p[i]);
	}
	if (bytes.n)
		end(s);
}

/* "a, b, c" */
static void put_list(const struct show *s, struct reader *r)
{
	unsigned n = rd_u16(r);

	for (unsigned i = 0; i < n && !r->err; i++) {
		if (i)
			buf_text(s->out, ", ");
		put_const(s, r);
	}
}

static void inner_classes(const struct show *s, struct reader *r)
{
	unsigned n = rd_u16(r);

	for (unsigned i = 0; i < n && !r->err; i++) {
		uint16_t inner = rd_u16(r), outer = rd_u16(r), name = rd_u16(r);

		begin(s);
		show_const(s->out, &s->cls->pool, inner);
		if (outer) {
			buf_text(s->out, " in ");
			show_const(s->out, &s->cls->pool, outer);
		}
		if (name) {
			buf_text(s->out, " as ");
			show_name(s->out, pool_utf8(&s->cls->pool, name));
		} else {
			buf_text(s->out, ", anonymous");
		}
		put_flags(s, rd_u16(r), 'I');
		end(s);
	}
}

static void bootstrap_methods(const struct show *s, struct reader *r)
{
	unsigned n = rd_u16(r);

	for (unsigned i = 0; i < n && !r->err; i++) {
		unsigned args;

		begin(s);
		buf_printf(s->out, "%u: ", i);
		put_const(s, r);
		end(s);
		args = rd_u16(r);
		for (unsigned j = 0; j < args && !r->err; j++) {
			begin(s);
			buf_text(s->out, "     ");
			put_const(s, r);
			end(s);
		}
	}
}

static void method_parameters(const struct show *s, struct reader *r)
{
	unsigned n = rd_u8(r);

	for (unsigned i = 0; i < n && !r->err; i++) {
		if (i)
			buf_text(s->out, ", ");
		put_const(s, r);
		put_flags(s, rd_u16(r), 'P');
	}
}

static void annotations(const struct show *s, struct reader *r)
{
	unsigned n = rd_u16(r);

	for (unsigned i = 0; i < n && !r->err; i++) {
		begin(s);
		show_annotation(s, r);
		end(s);
	}
}

static void type_annotations(const struct show *s, struct reader *r)
{
	unsigned n = rd_u16(r);

	for (unsigned i = 0; i < n && !r->err; i++) {
		begin(s);
		show_type_annotation(s, r);
		end(s);
	}
}

static void parameter_annotations(const struct show *s, struct reader *r)
{
	unsigned n = rd_u8(r);

	for (unsigned i = 0; i < n && !r->err; i++) {
		unsigned m = rd_u16(r);

		begin(s);
		buf_printf(s->out, "parameter %u:", i);
		while (m-- && !r->err) {
			buf_u8(s->out, ' ');
			show_annotation(s, r);
		}
		end(s);
	}
}

/* exports and opens: package, flags, modules */
static void module_packages(const struct show *s, struct reader *r, const char *what)
{
	unsigned n = rd_u16(r);

	for (unsigned i = 0; i < n && !r->err; i++) {
		begin(s);
		buf_printf(s->out, "%s ", what);
		put_const(s, r);
		put_flags(s, rd_u16(r), 'E');
		if (rd_left(r) >= 2 && get_u16(r->p)) {
			buf_text(s->out, " to ");
			put_list(s, r);
		} else {
			rd_u16(r);
		}
		end(s);
	}
}

static void module(const struct show *s, struct reader *r)
{
	uint16_t name = rd_u16(r), access = rd_u16(r), version = rd_u16(r);
	unsigned n;

	begin(s);
	show_const(s->out, &s->cls->pool, name);
	if (version) {
		buf_u8(s->out, '@');
		show_name(s->out, pool_utf8(&s->cls->pool, version));
	}
	put_flags(s, access, 'O');
	end(s);
	n = rd_u16(r);
	for (unsigned i = 0; i < n && !r->err; i++) {
		begin(s);
		buf_text(s->out, "requires ");
		put_const(s, r);
		access = rd_u16(r);
		version = rd_u16(r);
		if (version) {
			buf_u8(s->out, '@');
			show_name(s->out, pool_utf8(&s->cls->pool, version));
		}
		put_flags(s, access, 'R');
		end(s);
	}
	module_packages(s, r, "exports");
	module_packages(s, r, "opens");
	n = rd_u16(r);
	for (unsigned i = 0; i < n && !r->err; i++) {
		begin(s);
		buf_text(s->out, "uses ");
		put_const(s, r);
		end(s);
	}
	n = rd_u16(r);
	for (unsigned i = 0; i < n && !r->err; i++) {
		begin(s);
		buf_text(s->out, "provides ");
		put_const(s, r);
		buf_text(s->out, " with ");
		put_list(s, r);
		end(s);
	}
}

static void module_hashes(const struct show *s, struct reader *r)
{
	unsigned n;

	begin(s);
	put_const(s, r);
	end(s);
	n = rd_u16(r);
	for (unsigned i = 0; i < n && !r->err; i++) {
		struct slice hash;

		begin(s);
		put_const(s, r);
		buf_u8(s->out, ' ');
		hash = rd_bytes(r, rd_u16(r));
		for (size_t j = 0; j < hash.n; j++)
			buf_printf(s->out, "%02x", hash.p[j]);
		end(s);
	}
}

static void record(struct show *s, struct reader *r)
{
	unsigned n = rd_u16(r);

	for (unsigned i = 0; i < n && !r->err; i++) {
		uint16_t name = rd_u16(r), desc = rd_u16(r);
		struct attrs attrs;

		begin(s);
		show_type(s->out, pool_utf8(&s->cls->pool, desc));
		buf_u8(s->out, ' ');
		show_name(s->out, pool_utf8(&s->cls->pool, name));
		end(s);
		if (attrs_read(&attrs, &s->cls->pool, r, NULL) < 0)
			return;
		s->depth++;
		show_attrs(s, &attrs);
		s->depth--;
	}
}

static void line_numbers(const struct show *s, struct reader *r)
{
	unsigned n = rd_u16(r);

	for (unsigned i = 0; i < n && !r->err; i++) {
		uint16_t pc = rd_u16(r);

		begin(s);
		show_label(s->out, s->labels, pc);
		buf_printf(s->out, ": line %u", rd_u16(r));
		end(s);
	}
}

static void variables(const struct show *s, struct reader *r, bool types)
{
	const struct pool *p = &s->cls->pool;
	unsigned n = rd_u16(r);

	for (unsigned i = 0; i < n && !r->err; i++) {
		unsigned from = rd_u16(r), length = rd_u16(r), name = rd_u16(r), desc = rd_u16(r);

		begin(s);
		show_label(s->out, s->labels, from);
		buf_text(s->out, " to ");
		show_label(s->out, s->labels, from + length);
		buf_printf(s->out, ": local %u ", rd_u16(r));
		if (types)
			show_type(s->out, pool_utf8(p, desc));
		else
			show_name(s->out, pool_utf8(p, desc));
		buf_u8(s->out, ' ');
		show_name(s->out, pool_utf8(p, name));
		end(s);
	}
}

/* Those that fit behind their name. */
static bool show_short(struct show *s, const struct attr *a, struct reader *r)
{
	switch (a->kind) {
	case ATTR_SYNTHETIC:
	case ATTR_DEPRECATED:
		return true;
	case ATTR_ENCLOSING_METHOD:
		put_const(s, r);
		buf_text(s->out, " method ");
		put_const(s, r);
		return true;
	case ATTR_CONSTANT_VALUE:
	case ATTR_SIGNATURE:
	case ATTR_SOURCE_FILE:
	case ATTR_MODULE_MAIN_CLASS:
	case ATTR_MODULE_TARGET:
	case ATTR_NEST_HOST:
		put_const(s, r);
		return true;
	case ATTR_EXCEPTIONS:
	case ATTR_MODULE_PACKAGES:
	case ATTR_NEST_MEMBERS:
	case ATTR_PERMITTED_SUBCLASSES:
		put_list(s, r);
		return true;
	case ATTR_METHOD_PARAMETERS:
		method_parameters(s, r);
		return true;
	case ATTR_ANNOTATION_DEFAULT:
		show_element(s, r);
		return true;
	case ATTR_MODULE_RESOLUTION:
		buf_printf(s->out, "0x%04x", rd_u16(r));
		return true;
	case ATTR_SOURCE_DEBUG_EXTENSION:
		show_quoted(s->out, a->data);
		return true;
	default:
		return false;
	}
}

static bool show_long(struct show *s, const struct attr *a, struct reader *r)
{
	switch (a->kind) {
	case ATTR_INNER_CLASSES:
		inner_classes(s, r);
		return true;
	case ATTR_BOOTSTRAP_METHODS:
		bootstrap_methods(s, r);
		return true;
	case ATTR_RUNTIME_VISIBLE_ANNOTATIONS:
	case ATTR_RUNTIME_INVISIBLE_ANNOTATIONS:
		annotations(s, r);
		return true;
	case ATTR_RUNTIME_VISIBLE_PARAMETER_ANNOTATIONS:
	case ATTR_RUNTIME_INVISIBLE_PARAMETER_ANNOTATIONS:
		parameter_annotations(s, r);
		return true;
	case ATTR_RUNTIME_VISIBLE_TYPE_ANNOTATIONS:
	case ATTR_RUNTIME_INVISIBLE_TYPE_ANNOTATIONS:
		type_annotations(s, r);
		return true;
	case ATTR_MODULE:
		module(s, r);
		return true;
	case ATTR_MODULE_HASHES:
		module_hashes(s, r);
		return true;
	case ATTR_RECORD:
		record(s, r);
		return true;
	case ATTR_LINE_NUMBER_TABLE:
		line_numbers(s, r);
		return true;
	case ATTR_LOCAL_VARIABLE_TABLE:
	case ATTR_LOCAL_VARIABLE_TYPE_TABLE:
		variables(s, r, a->kind == ATTR_LOCAL_VARIABLE_TABLE);
		return true;
	default:
		return false;
	}
}

void show_attr(struct show *s, const struct attr *a)
{
	struct reader r = rd_init(a->data);
	struct fault f = { 0 };

	begin(s);
	show_name(s->out, pool_utf8(&s->cls->pool, a->name));
	if (attr_walk(a, &s->cls->pool, &(struct attr_visitor){ 0 }, &f) < 0) {
		buf_text(s->out, ": malformed: ");
		show_name(s->out, slice_str(f.text));
		end(s);
		return;
	}
	if (a->kind != ATTR_SYNTHETIC && a->kind != ATTR_DEPRECATED)
		buf_text(s->out, ": ");
	if (show_short(s, a, &r)) {
		end(s);
		return;
	}
	if (a->kind != ATTR_UNKNOWN && attr_table[a->kind].layout[0] != '#')
		s->out->n--; /* the space: lines follow */
	else
		buf_printf(s->out, "%zu bytes", a->data.n);
	end(s);
	s->depth++;
	if (!show_long(s, a, &r) && s->opt->hex)
		put_bytes(s, a->data);
	s->depth--;
}

void show_attrs(struct show *s, const struct attrs *attrs)
{
	struct attr a;

	for (const uint8_t *at = NULL; attrs_next(attrs, &s->cls->pool, &at, &a);)
		if (a.kind != ATTR_CODE)
			show_attr(s, &a);
}
