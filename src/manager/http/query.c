/* SPDX-License-Identifier: Apache-2.0 */
/* query.c - percent-encoding, parameters, path patterns. */
#include "manager/http/query.h"

#include <ctype.h>
#include <stdlib.h>

static int digit(uint8_t c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 32;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

struct slice query_decode(struct arena *mem, struct slice raw, bool plus)
{
	struct slice none = { NULL, 0 };
	uint8_t *to = arena_alloc(mem, raw.n + 1);
	size_t n = 0;

	for (size_t i = 0; to && i < raw.n; i++) {
		uint8_t c = raw.p[i];

		if (c == '%') {
			int high = i + 2 < raw.n ? digit(raw.p[i + 1]) : -1;
			int low = high >= 0 ? digit(raw.p[i + 2]) : -1;

			if (low < 0)
				return none;
			c = (uint8_t)(high << 4 | low);
			i += 2;
		} else if (c == '+' && plus) {
			c = ' ';
		}
		if (!c)
			return none;
		to[n++] = c;
	}
	if (!to)
		return none;
	to[n] = 0;
	return (struct slice){ to, n };
}

bool query_add(struct query *q, struct arena *mem, struct slice name, struct slice value)
{
	struct query_param p = { query_decode(mem, name, true), query_decode(mem, value, true) };

	if (q->n == QUERY_PARAMS || !p.name.p || !p.value.p)
		return false;
	q->v[q->n++] = p;
	return true;
}

struct slice query_get(const struct query *q, const char *name)
{
	for (size_t i = 0; i < q->n; i++)
		if (slice_is(q->v[i].name, name))
			return q->v[i].value;
	return (struct slice){ NULL, 0 };
}

static bool whole(struct slice s, uint64_t *out)
{
	uint64_t v = 0;

	if (!s.n || s.n > 18)
		return false;
	for (size_t i = 0; i < s.n; i++) {
		if (!isdigit(s.p[i]))
			return false;
		v = v * 10 + (uint64_t)(s.p[i] - '0');
	}
	*out = v;
	return true;
}

bool query_time(const struct query *q, const char *name, uint64_t now, uint64_t *out)
{
	struct slice s = query_get(q, name);
	bool back = s.n && s.p[0] == '-';
	uint64_t v;

	if (!s.n)
		return true;
	if (!whole((struct slice){ s.p + back, s.n - back }, &v))
		return false;
	*out = back ? (now > v ? now - v : 0) : v;
	return true;
}

bool query_number(const struct query *q, const char *name, uint64_t least, uint64_t most,
		  uint64_t *out)
{
	struct slice s = query_get(q, name);
	uint64_t v;

	if (!s.n)
		return true;
	if (!whole(s, &v) || v < least || v > most)
		return false;
	*out = v;
	return true;
}

static struct slice part_of(const char *path)
{
	return (struct slice){ (const uint8_t *)path, strcspn(path, "/") };
}

bool query_match(struct arena *mem, const char *pattern, const char *path,
		 struct slice args[QUERY_ARGS])
{
	unsigned n = 0;

	for (;;) {
		struct slice want = part_of(pattern), is = part_of(path);

		if (slice_is(want, "*") && is.n && n < QUERY_ARGS) {
			args[n] = query_decode(mem, is, false);
			if (!args[n++].n)
				return false;
		} else if (!slice_eq(want, is)) {
			return false;
		}
		pattern += want.n;
		path += is.n;
		if (!*pattern || !*path)
			return *pattern == *path;
		pattern++, path++;
	}
}

bool query_host(struct slice host, char name[256])
{
	const uint8_t *end = host.n && host.p[0] == '[' ? memchr(host.p, ']', host.n)
							: memchr(host.p, ':', host.n);
	size_t n = end ? (size_t)(end - host.p) : host.n, from = host.n && host.p[0] == '[';

	if (!host.n || (from && !end) || n <= from || n - from >= 256)
		return false;
	for (size_t i = from; i < n; i++)
		name[i - from] = (char)tolower(host.p[i]);
	name[n - from] = '\0';
	return true;
}
