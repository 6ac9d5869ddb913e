/* SPDX-License-Identifier: Apache-2.0 */
/* show.c - the listing of a class as text.  The parts are in show_*.c. */
#include "classfile/show/show_priv.h"

/* "public final class a/B", as it would stand in a source file. */
static void show_head(const struct show *s)
{
	const struct class *cls = s->cls;
	unsigned access = cls->access;
	struct attr attr;
	const char *kind = access & ACC_MODULE					     ? "module"
			   : access & ACC_ANNOTATION				     ? "@interface"
			   : access & ACC_INTERFACE				     ? "interface"
			   : access & ACC_ENUM					     ? "enum"
			   : attrs_find(&cls->attrs, &cls->pool, ATTR_RECORD, &attr) ? "record"
										     : "class";

	access &= ACC_PUBLIC | ACC_FINAL | (access & ACC_INTERFACE ? 0 : ACC_ABSTRACT);
	show_flags(s->out, access, 'C');
	buf_printf(s->out, "%s%s ", access ? " " : "", kind);
	show_name(s->out, class_name(cls));
	buf_u8(s->out, '\n');
}

static void show_parents(const struct show *s)
{
	const struct class *cls = s->cls;

	if (cls->super_class) {
		buf_text(s->out, "  extends ");
		show_name(s->out, class_super(cls));
		buf_u8(s->out, '\n');
	}
	for (unsigned i = 0; i < class_n_interfaces(cls); i++) {
		buf_text(s->out, i ? ", " : "  implements ");
		show_name(s->out, class_interface(cls, i));
	}
	if (class_n_interfaces(cls))
		buf_u8(s->out, '\n');
}

static void show_facts(const struct show *s)
{
	const struct class *cls = s->cls;

	buf_text(s->out, "  version ");
	show_version(s->out, cls);
	buf_printf(s->out, "\n  flags 0x%04x: ", cls->access);
	show_flags(s->out, cls->access, 'C');
	buf_u8(s->out, '\n');
}

static void show_sizes(const struct show *s)
{
	const struct class *cls = s->cls;

	buf_printf(s->out, "  %zu bytes, %u constants, %u fields, %u methods\n", cls->bytes.n,
		   cls->pool.n - 1, cls->n_fields, cls->n_methods);
}

void show_class_head(struct buf *out, struct class *cls)
{
	struct show s = { .cls = cls, .out = out };

	show_head(&s);
	show_parents(&s);
	show_facts(&s);
}

void show_member_head(struct buf *out, struct class *cls, const struct member *m, bool method)
{
	struct slice name = member_name(cls, m), desc = member_desc(cls, m);

	buf_text(out, method ? "method " : "field ");
	show_flags(out, m->access, method ? 'M' : 'F');
	if (m->access)
		buf_u8(out, ' ');
	if (method) {
		show_types(out, name, desc);
	} else {
		show_type(out, desc);
		buf_u8(out, ' ');
		show_name(out, name);
	}
	buf_u8(out, '\n');
}

static void show_member(struct show *s, struct member *m, bool method)
{
	buf_u8(s->out, '\n');
	show_member_head(s->out, s->cls, m, method);
	buf_text(s->out, "  ");
	show_name(s->out, member_name(s->cls, m));
	if (!method)
		buf_u8(s->out, ' ');
	show_name(s->out, member_desc(s->cls, m));
	buf_printf(s->out, "  flags 0x%04x\n", m->access);
	s->depth = 1;
	show_attrs(s, &m->attrs);
	if (m->code.p)
		show_code(s, m);
}

void show_attribute(struct buf *out, struct class *cls, const struct attr *a,
		    const struct show_labels *labels)
{
	static const struct show_options opt = { .hex = true };
	struct show s = { .cls = cls, .opt = &opt, .out = out, .labels = labels };

	show_attr(&s, a);
}

int show_class(struct class *cls, const struct show_options *opt, struct buf *out)
{
	struct show s = { .cls = cls, .opt = opt, .out = out };

	show_class_head(out, cls);
	show_sizes(&s);
	if (!opt->method) {
		s.depth = 1;
		show_attrs(&s, &cls->attrs);
	}
	if (opt->pool)
		show_pool(&s);
	for (uint32_t i = 0; i < cls->n_fields && !opt->method; i++)
		show_member(&s, &cls->fields[i], false);
	for (uint32_t i = 0; i < cls->n_methods; i++)
		if (show_wants(&s, &cls->methods[i]))
			show_member(&s, &cls->methods[i], true);
	return out->err;
}
