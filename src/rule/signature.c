/* SPDX-License-Identifier: Apache-2.0 */
/* signature.c - walks method descriptors (JVMS 4.3.3) beside the types of a rule. */
#include "rule/signature.h"

static const struct {
	const char *name;
	char base;
} primitives[] = {
	{ "boolean", 'Z' }, { "byte", 'B' },  { "char", 'C' },	 { "short", 'S' }, { "int", 'I' },
	{ "long", 'J' },    { "float", 'F' }, { "double", 'D' }, { "void", 'V' },
};

bool signature_is_primitive(struct slice name)
{
	for (size_t i = 0; i < COUNT(primitives); i++)
		if (slice_is(name, primitives[i].name))
			return true;
	return false;
}

static bool cut_tail(struct slice *s, const char *tail)
{
	size_t n = strlen(tail);

	if (s->n < n || memcmp(s->p + s->n - n, tail, n) != 0)
		return false;
	s->n -= n;
	return true;
}

int signature_compile_type(struct arena *mem, struct slice text, struct type_pattern *out,
			   struct pattern_trouble *trouble)
{
	struct type_pattern t = { .base = 'L' };
	struct slice rest = text;

	if (cut_tail(&rest, "..."))
		t.dims++;
	while (cut_tail(&rest, "[]")) {
		if (t.dims == 255) {
			*trouble = (struct pattern_trouble){ "more than 255 dimensions", NULL, 0 };
			return E_SYNTAX;
		}
		t.dims++;
	}
	if (slice_is(rest, "*") && !t.dims)
		t.base = '*';
	for (size_t i = 0; i < COUNT(primitives); i++)
		if (slice_is(rest, primitives[i].name))
			t.base = primitives[i].base;
	if (t.base == 'V' && t.dims) {
		*trouble = (struct pattern_trouble){ "there are no arrays of void", NULL, 0 };
		return E_SYNTAX;
	}
	if (t.base == 'L') {
		int rc = pattern_compile(mem, rest, PATTERN_CLASS, &t.name, trouble);

		if (rc < 0)
			return rc;
		t.simple = !memchr(t.name.text.p, '.', t.name.text.n) &&
			   !(t.name.open && t.name.deep);
	}
	*out = t;
	return 0;
}

struct slice signature_first(struct slice d)
{
	size_t i = 0;

	while (i < d.n && d.p[i] == '[')
		i++;
	if (i == d.n)
		return (struct slice){ d.p, 0 };
	if (d.p[i] == 'L') {
		const uint8_t *end = memchr(d.p + i, ';', d.n - i);

		return (struct slice){ d.p, end ? (size_t)(end - d.p) + 1 : 0 };
	}
	return (struct slice){ d.p, memchr("BCDFIJSZV", d.p[i], 9) ? i + 1 : 0 };
}

static struct slice skip(struct slice s, size_t n)
{
	return (struct slice){ s.p + n, s.n - n };
}

static struct slice last_segment(struct slice name)
{
	for (size_t i = name.n; i > 0; i--)
		if (name.p[i - 1] == '/')
			return skip(name, i);
	return name;
}

bool signature_match_type(const struct type_pattern *t, struct slice desc)
{
	size_t dims = 0;
	struct slice name;

	if (t->base == '*')
		return desc.n > 0;
	while (dims < desc.n && desc.p[dims] == '[')
		dims++;
	if (dims != t->dims || dims == desc.n || (char)desc.p[dims] != t->base)
		return false;
	if (t->base != 'L')
		return true;
	if (desc.n < dims + 2)
		return false;
	name = (struct slice){ desc.p + dims + 1, desc.n - dims - 2 };
	return pattern_match(&t->name, t->simple ? last_segment(name) : name);
}

/* Behind the '('; empty when there is none. */
static struct slice inside(struct slice desc)
{
	return desc.n && desc.p[0] == '(' ? skip(desc, 1) : (struct slice){ desc.p, 0 };
}

bool signature_match(const struct params *p, struct slice desc)
{
	struct slice d = inside(desc);
	size_t i = 0;

	if (!p->given)
		return true;
	for (; d.n && d.p[0] != ')'; i++) {
		struct slice type = signature_first(d);

		if (!type.n)
			return false;
		if (i < p->n ? !signature_match_type(&p->types[i], type) : !p->open)
			return false;
		d = skip(d, type.n);
	}
	return d.n && i >= p->n;
}

struct slice signature_returns(struct slice desc)
{
	struct slice d = inside(desc), type;

	while (d.n && d.p[0] != ')') {
		type = signature_first(d);
		if (!type.n)
			return type;
		d = skip(d, type.n);
	}
	return d.n ? signature_first(skip(d, 1)) : d;
}

static void print_primitive(char base, struct buf *out)
{
	for (size_t i = 0; i < COUNT(primitives); i++)
		if (primitives[i].base == base)
			buf_text(out, primitives[i].name);
}

static void print_dims(size_t dims, struct buf *out)
{
	for (size_t i = 0; i < dims; i++)
		buf_text(out, "[]");
}

void signature_print_type(const struct type_pattern *t, struct buf *out)
{
	if (t->base == '*')
		buf_u8(out, '*');
	else if (t->base == 'L')
		buf_put(out, t->name.text);
	else
		print_primitive(t->base, out);
	print_dims(t->dims, out);
}

void signature_print_first(struct slice type, struct buf *out)
{
	size_t dims = 0;

	while (type.p[dims] == '[')
		dims++;
	if (type.p[dims] == 'L')
		buf_dotted(out, (struct slice){ type.p + dims + 1, type.n - dims - 2 });
	else
		print_primitive((char)type.p[dims], out);
	print_dims(dims, out);
}

void signature_print(struct slice desc, struct buf *out)
{
	struct slice d = inside(desc);

	if (!signature_returns(desc).n) {
		buf_put(out, desc);
		return;
	}
	buf_u8(out, '(');
	for (size_t i = 0; d.p[0] != ')'; i++) {
		struct slice type = signature_first(d);

		buf_text(out, i ? ", " : "");
		signature_print_first(type, out);
		d = skip(d, type.n);
	}
	buf_u8(out, ')');
}
