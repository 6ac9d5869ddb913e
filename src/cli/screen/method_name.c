/* SPDX-License-Identifier: Apache-2.0 */
/* method_name.c - names of methods for people, in as much room as there is. */
#include "cli/screen/method_name.h"

#include "classfile/desc.h"
#include "classfile/show/show.h"

enum package_form { PACKAGE_FULL, PACKAGE_LETTERS, PACKAGE_NONE };

static struct slice before(struct slice s, size_t n)
{
	return (struct slice){ s.p, n };
}

static struct slice behind(struct slice s, size_t n)
{
	return (struct slice){ s.p + n, s.n - n };
}

/* Offset of the last c, or s.n. */
static size_t last_of(struct slice s, char c)
{
	for (size_t i = s.n; i > 0; i--)
		if (s.p[i - 1] == (uint8_t)c)
			return i - 1;
	return s.n;
}

void method_name_split(struct slice text, struct method_name *out)
{
	size_t bracket = 0, dot;

	*out = (struct method_name){ 0 };
	while (bracket < text.n && text.p[bracket] != '(')
		bracket++;
	out->desc = behind(text, bracket);
	text = before(text, bracket);
	dot = last_of(text, '.');
	if (dot == text.n) {
		out->name = text;
		return;
	}
	out->name = behind(text, dot + 1);
	text = before(text, dot);
	dot = last_of(text, '.');
	if (dot == text.n) {
		out->class = text;
		return;
	}
	out->class = behind(text, dot + 1);
	out->package = before(text, dot);
}

bool method_name_overloads(const struct method_name *a, const struct method_name *b)
{
	return slice_eq(a->name, b->name) && slice_eq(a->class, b->class) &&
	       slice_eq(a->package, b->package) && !slice_eq(a->desc, b->desc);
}

bool method_name_is_void(const struct method_name *m)
{
	return m->desc.n >= 2 && m->desc.p[m->desc.n - 1] == 'V' && m->desc.p[m->desc.n - 2] == ')';
}

/* "[Ljava/lang/String;" as "String[]". */
static void put_type(struct buf *out, struct slice type)
{
	unsigned dimensions = 0;
	const char *primitive;

	while (type.n && type.p[0] == '[') {
		type = behind(type, 1);
		dimensions++;
	}
	primitive = type.n ? desc_primitive(type.p[0]) : NULL;
	if (primitive) {
		buf_text(out, primitive);
	} else if (type.n > 2) {
		size_t slash;

		type = (struct slice){ type.p + 1, type.n - 2 };
		slash = last_of(type, '/');
		show_name(out, slash < type.n ? behind(type, slash + 1) : type);
	}
	while (dimensions--)
		buf_text(out, "[]");
}

static void put_parameters(struct buf *out, struct slice desc)
{
	struct desc_iter it = desc_args(desc);
	bool first = true;

	if (!desc.n)
		return;
	buf_u8(out, '(');
	while (desc_next(&it)) {
		if (!first)
			buf_text(out, ", ");
		put_type(out, it.type);
		first = false;
	}
	buf_u8(out, ')');
}

static void put_letters(struct buf *out, struct slice package)
{
	for (size_t i = 0; i < package.n; i++) {
		size_t n = 1;

		if (i && package.p[i - 1] != '.')
			continue;
		while (i + n < package.n && package.p[i + n] >> 6 == 2) /* all of a character */
			n++;
		show_name(out, (struct slice){ package.p + i, n });
		buf_u8(out, '.');
	}
}

static void put(struct buf *out, const struct method_name *m, bool parameters,
		enum package_form form)
{
	if (m->package.n && form == PACKAGE_FULL) {
		show_name(out, m->package);
		buf_u8(out, '.');
	} else if (form == PACKAGE_LETTERS) {
		put_letters(out, m->package);
	}
	if (m->class.n) {
		show_name(out, m->class);
		buf_u8(out, '.');
	}
	show_name(out, m->name);
	if (parameters)
		put_parameters(out, m->desc);
}

void method_name_put(struct buf *out, const struct method_name *m, bool parameters)
{
	put(out, m, parameters, PACKAGE_FULL);
}

size_t method_name_width(struct slice text)
{
	size_t n = 0;

	for (size_t i = 0; i < text.n; i++)
		n += text.p[i] >> 6 != 2;
	return n;
}

/* Bytes of the first n characters. */
static size_t bytes_of(struct slice text, size_t n)
{
	size_t at = 0;

	while (at < text.n && (n > 0 || text.p[at] >> 6 == 2)) {
		n -= text.p[at] >> 6 != 2;
		at++;
	}
	return at;
}

/* The end tells more than the beginning: a third of the room is the beginning's. */
static void put_cut(struct buf *out, struct slice text, size_t width)
{
	size_t all = method_name_width(text), head = width / 3, tail;

	if (width < 3) {
		buf_put(out, before(text, bytes_of(text, width)));
		return;
	}
	tail = width - 2 - head;
	buf_put(out, before(text, bytes_of(text, head)));
	buf_text(out, "..");
	buf_put(out, behind(text, bytes_of(text, all - tail)));
}

void method_name_fit(struct buf *out, const struct method_name *m, bool parameters, size_t width)
{
	struct buf text = { 0 };
	bool fits = false;

	for (int form = PACKAGE_FULL; form <= PACKAGE_NONE && !fits; form++) {
		buf_clear(&text);
		put(&text, m, parameters, (enum package_form)form);
		fits = method_name_width(buf_slice(&text)) <= width;
	}
	if (fits)
		buf_put(out, buf_slice(&text));
	else
		put_cut(out, buf_slice(&text), width);
	if (text.err && !out->err)
		out->err = text.err;
	buf_release(&text);
}
