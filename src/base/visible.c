/* SPDX-License-Identifier: Apache-2.0 */
/* visible.c - text of others, made harmless to show. */
#include "base/visible.h"

#include "base/utf8.h"

/* What is not shown, or changes how the text around it is shown, besides control characters. */
static const struct {
	uint32_t from, to;
} hidden[] = {
	{ 0xad, 0xad },	      /* soft hyphen */
	{ 0x34f, 0x34f },     /* combining grapheme joiner */
	{ 0x61c, 0x61c },     /* Arabic letter mark */
	{ 0x115f, 0x1160 },   /* Hangul fillers */
	{ 0x17b4, 0x17b5 },   /* Khmer vowels without a shape */
	{ 0x180b, 0x180f },   /* Mongolian selectors and separator */
	{ 0x200b, 0x200f },   /* zero-width, and marks of direction */
	{ 0x2028, 0x202e },   /* line and paragraph breaks, embeddings and overrides */
	{ 0x2060, 0x206f },   /* word joiner, invisible operators, isolates */
	{ 0x3164, 0x3164 },   /* Hangul filler */
	{ 0xd800, 0xdfff },   /* surrogates without a partner */
	{ 0xfe00, 0xfe0f },   /* variation selectors */
	{ 0xfeff, 0xfeff },   /* byte order mark */
	{ 0xffa0, 0xffa0 },   /* Hangul filler */
	{ 0xfff0, 0xfffb },   /* not assigned, interlinear annotation */
	{ 0xfffe, 0xffff },   /* no characters */
	{ 0x13430, 0x1345f }, /* joiners of hieroglyphs */
	{ 0x1bca0, 0x1bca3 }, /* ... of shorthand */
	{ 0x1d173, 0x1d17a }, /* ... of music */
	{ 0xe0000, 0xe0fff }, /* tags, more variation selectors */
};

bool visible_is(uint32_t c)
{
	if (c < 0xa0)
		return c >= 0x20 && c < 0x7f;
	for (size_t i = 0; i < COUNT(hidden) && hidden[i].from <= c; i++)
		if (c <= hidden[i].to)
			return false;
	return c <= 0x10ffff;
}

size_t visible_unfinished(struct slice text)
{
	for (size_t n = 1; n <= 3 && n <= text.n; n++) {
		uint8_t byte = text.p[text.n - n];

		if (!utf8_is_inner(byte))
			return utf8_length(byte) > n ? n : 0;
	}
	return 0;
}

void visible_escape(struct buf *out, uint32_t c)
{
	if (c == '\n' || c == '\t' || c == '\r')
		buf_text(out, c == '\n' ? "\\n" : c == '\t' ? "\\t" : "\\r");
	else
		buf_printf(out, c > 0xffff ? "\\U%08x" : "\\u%04x", c);
}

/* Bytes at the start that are plain ASCII: nearly all of what is ever shown. */
static size_t plain_length(struct slice text, bool lines)
{
	size_t n = 0;

	while (n < text.n && ((text.p[n] >= 0x20 && text.p[n] < 0x7f) ||
			      (lines && (text.p[n] == '\n' || text.p[n] == '\t'))))
		n++;
	return n;
}

void visible_put(struct buf *out, struct slice text, unsigned how)
{
	size_t most = how & VISIBLE_ASCII ? 1 : 4;

	while (text.n) {
		size_t n = plain_length(text, how & VISIBLE_LINES);
		uint32_t c;

		if (n == 0) {
			n = utf8_decode(text.p, text.n, &c);
			if (n == 0)
				buf_printf(out, "\\x%02x", text.p[0]);
			else if (n <= most && visible_is(c))
				buf_bytes(out, text.p, n);
			else
				visible_escape(out, c);
			n += n == 0;
		} else {
			buf_bytes(out, text.p, n);
		}
		text = (struct slice){ text.p + n, text.n - n };
	}
}
