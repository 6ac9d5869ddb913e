/* SPDX-License-Identifier: Apache-2.0 */
/* json.c - the streaming JSON writer. */
#include "base/json.h"

#include <inttypes.h>
#include <math.h>

#include "base/utf8.h"
#include "base/visible.h"

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

/* What no terminal should get is escaped, too: JSON is often just printed. */
static void escape(struct buf *out, uint32_t c)
{
	if (c > 0xffff)
		buf_printf(out, "\\u%04x\\u%04x", 0xd800 + ((c - 0x10000) >> 10),
			   0xdc00 + ((c - 0x10000) & 0x3ff));
	else
		buf_printf(out, "\\u%04x", c);
}

static void quoted(struct buf *out, struct slice s)
{
	buf_u8(out, '"');
	for (size_t i = 0; i < s.n;) {
		uint32_t c = 0;
		size_t n = utf8_decode(s.p + i, s.n - i, &c);

		if (n == 0)
			buf_text(out, "\\ufffd");
		else if (c == '"' || c == '\\')
			buf_printf(out, "\\%c", (int)c);
		else if (c == '\n')
			buf_text(out, "\\n");
		else if (c == '\t')
			buf_text(out, "\\t");
		else if (!visible_is(c))
			escape(out, c);
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

void json_put_str(struct json *j, const char *key, struct slice s)
{
	json_key(j, key);
	json_str(j, s);
}

void json_put_text(struct json *j, const char *key, const char *s)
{
	json_key(j, key);
	json_text(j, s);
}

void json_put_nonempty(struct json *j, const char *key, const char *s)
{
	if (s && s[0])
		json_put_text(j, key, s);
}

void json_put_u64(struct json *j, const char *key, uint64_t v)
{
	json_key(j, key);
	json_u64(j, v);
}

void json_put_i64(struct json *j, const char *key, int64_t v)
{
	json_key(j, key);
	json_i64(j, v);
}

void json_put_double(struct json *j, const char *key, double v)
{
	json_key(j, key);
	json_double(j, v);
}

void json_put_bool(struct json *j, const char *key, bool v)
{
	json_key(j, key);
	json_bool(j, v);
}

void json_put_open(struct json *j, const char *key, char bracket)
{
	json_key(j, key);
	json_open(j, bracket);
}
