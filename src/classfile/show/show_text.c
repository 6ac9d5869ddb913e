/* SPDX-License-Identifier: Apache-2.0 */
/* show_text.c - names, types and flags as people write them. */
#include "classfile/show/show_priv.h"

#include "base/utf8.h"
#include "base/visible.h"
#include "classfile/desc.h"

/* One character of modified UTF-8 (JVMS 4.4.7): no zero byte, and characters beyond 16 bits as two
 * surrogates of three bytes each.  Returns the bytes it took; 0: malformed. */
static size_t decode(struct slice s, uint32_t *out)
{
	uint8_t a = s.p[0];

	if (a < 0x80) {
		*out = a;
		return 1;
	}
	if (a >> 5 == 6 && s.n >= 2 && s.p[1] >> 6 == 2) {
		*out = (a & 0x1fu) << 6 | (s.p[1] & 0x3f);
		return 2;
	}
	if (a >> 4 == 14 && s.n >= 3 && s.p[1] >> 6 == 2 && s.p[2] >> 6 == 2) {
		*out = (a & 0xfu) << 12 | (s.p[1] & 0x3fu) << 6 | (s.p[2] & 0x3f);
		return 3;
	}
	return 0;
}

static size_t decode_pair(struct slice s, uint32_t *out)
{
	uint32_t high, low;
	size_t n = decode(s, &high), m;

	*out = high;
	if (n != 3 || high < 0xd800 || high > 0xdbff || s.n < 6)
		return n;
	m = decode((struct slice){ s.p + 3, s.n - 3 }, &low);
	if (m != 3 || low < 0xdc00 || low > 0xdfff)
		return n;
	*out = 0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00);
	return 6;
}

static void encode(struct buf *out, uint32_t c)
{
	uint8_t bytes[4];
	size_t n = utf8_encode(c, bytes);

	buf_put(out, (struct slice){ bytes, n });
}

static void escaped(struct buf *out, struct slice s, bool quoted)
{
	for (size_t i = 0; i < s.n;) {
		uint32_t c;
		size_t n = decode_pair((struct slice){ s.p + i, s.n - i }, &c);

		if (n == 0)
			buf_printf(out, "\\x%02x", s.p[i]);
		else if (c == '\\' || (quoted && c == '"'))
			buf_printf(out, "\\%c", (int)c);
		else if (visible_is(c))
			encode(out, c);
		else
			visible_escape(out, c);
		i += n ? n : 1;
	}
}

void show_name(struct buf *out, struct slice text)
{
	escaped(out, text, false);
}

void show_quoted(struct buf *out, struct slice text)
{
	buf_u8(out, '"');
	escaped(out, text, true);
	buf_u8(out, '"');
}

void show_plain(struct buf *out, struct slice s)
{
	for (size_t i = 0; i < s.n;) {
		uint32_t c;
		size_t n = decode_pair((struct slice){ s.p + i, s.n - i }, &c);

		encode(out, n && !(c >= 0xd800 && c < 0xe000) ? c : 0xfffd);
		i += n ? n : 1;
	}
}

void show_json_name(struct json *j, struct slice text)
{
	struct buf plain = { 0 };
	bool ascii = true;

	for (size_t i = 0; i < text.n && ascii; i++)
		ascii = text.p[i] < 0x80;
	if (!ascii) {
		show_plain(&plain, text);
		text = buf_slice(&plain);
	}
	json_str(j, text);
	if (plain.err && !j->out->err)
		j->out->err = plain.err;
	buf_release(&plain);
}

void show_type(struct buf *out, struct slice desc)
{
	size_t dims = 0;
	size_t start = out->n;

	while (dims < desc.n && desc.p[dims] == '[')
		dims++;
	if (dims < desc.n && desc.p[dims] == 'L' && desc.p[desc.n - 1] == ';') {
		show_name(out, (struct slice){ desc.p + dims + 1, desc.n - dims - 2 });
		bytes_replace(out->p + start, out->n - start, '/', '.');
	} else if (dims + 1 == desc.n && desc_primitive(desc.p[dims])) {
		buf_text(out, desc_primitive(desc.p[dims]));
	} else {
		show_name(out, desc); /* malformed */
		return;
	}
	while (dims--)
		buf_text(out, "[]");
}

void show_types(struct buf *out, struct slice name, struct slice desc)
{
	struct desc_iter it = desc_args(desc);
	struct slice result = desc_return(desc);
	const char *comma = "";

	if (!result.n) {
		show_name(out, name);
		return;
	}
	show_type(out, result);
	buf_u8(out, ' ');
	show_name(out, name);
	buf_u8(out, '(');
	while (desc_next(&it)) {
		buf_text(out, comma);
		show_type(out, it.type);
		comma = ", ";
	}
	buf_u8(out, ')');
}

static const struct {
	uint16_t bit;
	const char *where, *word;
} flags[] = {
	{ 0x0001, "CFMI", "public" },	     { 0x0002, "FMI", "private" },
	{ 0x0004, "FMI", "protected" },	     { 0x0008, "FMI", "static" },
	{ 0x0010, "CFMIP", "final" },	     { 0x0020, "C", "super" },
	{ 0x0020, "M", "synchronized" },     { 0x0020, "O", "open" },
	{ 0x0020, "R", "transitive" },	     { 0x0040, "M", "bridge" },
	{ 0x0040, "F", "volatile" },	     { 0x0040, "R", "static" },
	{ 0x0080, "M", "varargs" },	     { 0x0080, "F", "transient" },
	{ 0x0100, "M", "native" },	     { 0x0200, "CI", "interface" },
	{ 0x0400, "CMI", "abstract" },	     { 0x0800, "M", "strict" },
	{ 0x1000, "CFMIPORE", "synthetic" }, { 0x2000, "CI", "annotation" },
	{ 0x4000, "CFI", "enum" },	     { 0x8000, "C", "module" },
	{ 0x8000, "PORE", "mandated" },
};

void show_flags(struct buf *out, unsigned access, char where)
{
	const char *space = "";

	for (size_t i = 0; i < COUNT(flags); i++) {
		if (!(access & flags[i].bit) || !strchr(flags[i].where, where))
			continue;
		buf_printf(out, "%s%s", space, flags[i].word);
		access &= ~(unsigned)flags[i].bit;
		space = " ";
	}
	if (access)
		buf_printf(out, "%s0x%04x", space, access);
}

void show_version(struct buf *out, const struct class *cls)
{
	buf_printf(out, "%u.%u", cls->major, cls->minor);
	if (cls->major < 46)
		buf_text(out, " (Java 1.1)");
	else if (cls->major < 49)
		buf_printf(out, " (Java 1.%u)", cls->major - 44u);
	else
		buf_printf(out, " (Java %u%s)", cls->major - 44u,
			   cls->minor == 65535 ? ", preview features" : "");
}

void show_indent(const struct show *s)
{
	for (unsigned i = 0; i < s->depth; i++)
		buf_text(s->out, "  ");
}
