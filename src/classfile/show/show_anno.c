/* SPDX-License-Identifier: Apache-2.0 */
/* show_anno.c - annotations (JVMS 4.7.16 to 4.7.22), as they stand in a source file.
 *
 * The attribute has been walked before (attr_walk), so nesting is limited and nothing is missing;
 * should it be all the same, the reader's error ends every loop. */
#include "classfile/show/show_priv.h"

#include "base/utf8.h"

static void show_values(const struct show *s, struct reader *r)
{
	unsigned n = rd_u16(r);

	buf_u8(s->out, '{');
	for (unsigned i = 0; i < n && !r->err; i++) {
		if (i)
			buf_text(s->out, ", ");
		show_element(s, r);
	}
	buf_u8(s->out, '}');
}

/* A constant in the form of its tag, which says more than the constant's kind. */
static void show_simple(const struct show *s, uint8_t tag, uint16_t index)
{
	const struct pool *p = &s->cls->pool;
	uint32_t v = pool_is(p, index, TAGS(CONST_INTEGER)) ? get_u32(p->at[index] + 1) : 0;
	uint8_t utf8[4];

	if (tag == 'Z') {
		buf_text(s->out, v ? "true" : "false");
	} else if (tag == 'C') {
		buf_u8(s->out, '\'');
		show_name(s->out, (struct slice){ utf8, utf8_encode(v & 0xffff, utf8) });
		buf_u8(s->out, '\'');
	} else {
		show_const(s->out, p, index);
	}
}

void show_element(const struct show *s, struct reader *r)
{
	const struct pool *p = &s->cls->pool;
	uint8_t tag = rd_u8(r);

	switch (tag) {
	case 's':
		show_quoted(s->out, pool_utf8(p, rd_u16(r)));
		break;
	case 'e':
		show_type(s->out, pool_utf8(p, rd_u16(r)));
		buf_u8(s->out, '.');
		show_name(s->out, pool_utf8(p, rd_u16(r)));
		break;
	case 'c':
		show_type(s->out, pool_utf8(p, rd_u16(r)));
		buf_text(s->out, ".class");
		break;
	case '@':
		show_annotation(s, r);
		break;
	case '[':
		show_values(s, r);
		break;
	default:
		show_simple(s, tag, rd_u16(r));
	}
}

void show_annotation(const struct show *s, struct reader *r)
{
	const struct pool *p = &s->cls->pool;
	unsigned n;

	buf_u8(s->out, '@');
	show_type(s->out, pool_utf8(p, rd_u16(r)));
	n = rd_u16(r);
	if (!n)
		return;
	buf_u8(s->out, '(');
	for (unsigned i = 0; i < n && !r->err; i++) {
		if (i)
			buf_text(s->out, ", ");
		show_name(s->out, pool_utf8(p, rd_u16(r)));
		buf_text(s->out, " = ");
		show_element(s, r);
	}
	buf_u8(s->out, ')');
}

static void show_place(const struct show *s, uint32_t pc)
{
	show_label(s->out, s->labels, pc);
}

static void show_ranges(const struct show *s, struct reader *r)
{
	unsigned n = rd_u16(r);

	for (unsigned i = 0; i < n && !r->err; i++) {
		unsigned from = rd_u16(r), length = rd_u16(r), slot = rd_u16(r);

		buf_printf(s->out, "%s local %u from ", i ? "," : "", slot);
		show_place(s, from);
		buf_text(s->out, " to ");
		show_place(s, from + length);
	}
}

static void show_supertype(const struct show *s, unsigned index)
{
	if (index == 65535)
		buf_text(s->out, "superclass");
	else
		buf_printf(s->out, "interface %u", index);
}

static void show_bound(const struct show *s, struct reader *r, bool method)
{
	unsigned parameter = rd_u8(r), bound = rd_u8(r);

	buf_printf(s->out, "bound %u of type parameter %u of the %s", bound, parameter,
		   method ? "method" : "class");
}

/* The target_info of JVMS table 4.7.20-A, in words. */
static void show_target(const struct show *s, struct reader *r)
{
	static const char *const casts[] = {
		[0x47 - 0x43] = "cast at ",
		[0x48 - 0x43] = "type argument of the constructor call at ",
		[0x49 - 0x43] = "type argument of the method call at ",
		[0x4a - 0x43] = "type argument of the constructor reference at ",
		[0x4b - 0x43] = "type argument of the method reference at ",
		[0x43 - 0x43] = "instanceof at ",
		[0x44 - 0x43] = "new at ",
		[0x45 - 0x43] = "constructor reference at ",
		[0x46 - 0x43] = "method reference at ",
	};
	uint8_t type = rd_u8(r);

	switch (type) {
	case 0x00:
	case 0x01:
		buf_printf(s->out, "type parameter %u of the %s", rd_u8(r),
			   type ? "method" : "class");
		break;
	case 0x10:
		show_supertype(s, rd_u16(r));
		break;
	case 0x11:
	case 0x12:
		show_bound(s, r, type == 0x12);
		break;
	case 0x13:
		buf_text(s->out, "type");
		break;
	case 0x14:
		buf_text(s->out, "result");
		break;
	case 0x15:
		buf_text(s->out, "receiver");
		break;
	case 0x16:
		buf_printf(s->out, "parameter %u", rd_u8(r));
		break;
	case 0x17:
		buf_printf(s->out, "throws %u", rd_u16(r));
		break;
	case 0x40:
	case 0x41:
		buf_text(s->out, type == 0x40 ? "variable:" : "resource variable:");
		show_ranges(s, r);
		break;
	case 0x42:
		buf_printf(s->out, "catch %u", rd_u16(r));
		break;
	case 0x43 ... 0x4b:
		buf_text(s->out, casts[type - 0x43]);
		show_place(s, rd_u16(r));
		if (type >= 0x47)
			buf_printf(s->out, ", argument %u", rd_u8(r));
		break;
	default:
		buf_printf(s->out, "target 0x%02x", type);
		rd_fail(r, E_TYPE_ANNO);
	}
}

/* type_path (JVMS 4.7.20.2): which part of a type like Map<String, int[]>.Entry. */
static void show_path(const struct show *s, struct reader *r)
{
	static const char *const kinds[] = { "element of the array", "nested type",
					     "bound of the wildcard" };
	unsigned n = rd_u8(r);

	for (unsigned i = 0; i < n && !r->err; i++) {
		uint8_t kind = rd_u8(r), index = rd_u8(r);

		if (kind == 3)
			buf_printf(s->out, ", type argument %u", index);
		else
			buf_printf(s->out, ", %s", kind < COUNT(kinds) ? kinds[kind] : "?");
	}
}

void show_type_annotation(const struct show *s, struct reader *r)
{
	struct buf *out = s->out, where = { 0 };
	struct show there = *s;

	there.out = &where;
	show_target(&there, r);
	show_path(&there, r);
	show_annotation(s, r);
	buf_text(out, " on ");
	buf_put(out, buf_slice(&where));
	if (where.err && !out->err)
		out->err = where.err;
	buf_release(&where);
}
