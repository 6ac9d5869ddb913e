/* SPDX-License-Identifier: Apache-2.0 */
/* json.c - the streaming JSON writer. */
#include "base/json.h"

#include <inttypes.h>
#include <math.h>

static void value(struct json *j)
{
	if (j->more)
		buf_u8(j->out, ',');
	j->more = true;
}

void json_open(struct json *j, char bracket)
{
	value(j);
	buf_u8(j->out, (uint8_t)bracket);
	j->more = false;
}

void json_close(struct json *j, char bracket)
{
	buf_u8(j->out, (uint8_t)bracket);
	j->more = true;
}

/* Length of the UTF-8 sequence at p, or 0 when it is malformed (overlong and surrogates too). */
static size_t utf8_len(const uint8_t *p, size_t left)
{
	static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	size_t n = p[0] < 0x80	     ? 1
		   : p[0] >> 5 == 6  ? 2
		   : p[0] >> 4 == 14 ? 3
		   : p[0] >> 3 == 30 ? 4
				     : 0;
	uint32_t c;

	if (n < 2 || n > left)
		return n > left ? 0 : n;
	c = p[0] & (0x7fu >> n);
	for (size_t i = 1; i < n; i++) {
		if (p[i] >> 6 != 2)
			return 0;
		c = c << 6 | (p[i] & 0x3f);
	}
	return c < least[n] || c > 0x10ffff || (c >= 0xd800 && c < 0xe000) ? 0 : n;
}

static void quoted(struct buf *out, struct slice s)
{
	buf_u8(out, '"');
	for (size_t i = 0; i < s.n;) {
		uint8_t c = s.p[i];
		size_t n = utf8_len(s.p + i, s.n - i);

		if (n == 0)
			buf_text(out, "\\ufffd");
		else if (c == '"' || c == '\\')
			buf_printf(out, "\\%c", c);
		else if (c == '\n')
			buf_text(out, "\\n");
		else if (c == '\t')
			buf_text(out, "\\t");
		else if (c < 0x20 || c == 0x7f)
			buf_printf(out, "\\u%04x", c);
		else
			buf_bytes(out, s.p + i, n);
		i += n ? n : 1;
	}
	buf_u8(out, '"');
}

void json_key(struct json *j, const char *key)
{
	json_text(j, key);
	buf_u8(j->out, ':');
	j->more = false;
}

void json_str(struct json *j, struct slice s)
{
	value(j);
	quoted(j->out, s);
}

void json_text(struct json *j, const char *s)
{
	json_str(j, slice_str(s));
}

void json_u64(struct json *j, uint64_t v)
{
	value(j);
	buf_printf(j->out, "%" PRIu64, v);
}

void json_i64(struct json *j, int64_t v)
{
	value(j);
	buf_printf(j->out, "%" PRId64, v);
}

void json_double(struct json *j, double v)
{
	value(j);
	if (isfinite(v))
		buf_printf(j->out, "%.9g", v);
	else
		buf_text(j->out, "null");
}

void json_bool(struct json *j, bool v)
{
	value(j);
	buf_text(j->out, v ? "true" : "false");
}

void json_null(struct json *j)
{
	value(j);
	buf_text(j->out, "null");
}
