/* SPDX-License-Identifier: Apache-2.0 */
/* otlp.c - ids are hexadecimal and 64-bit numbers are texts, as the OTLP specification has them for
 * JSON.  Ids are hashes of where and when the transaction was, so that sending it twice makes no
 * second one.
 *
 * A transaction that has captured a value `traceparent` (W3C Trace Context) is part of that trace. */
#include "export/otlp.h"

#include <stdio.h>

enum { KIND_INTERNAL = 1, KIND_SERVER = 2, STATUS_ERROR = 2 };

static uint64_t mix(uint64_t h, uint64_t v)
{
	h = (h ^ v) * 0x9e3779b97f4a7c15u;
	return h ^ h >> 29;
}

static uint64_t hash(uint64_t h, struct slice s)
{
	for (size_t i = 0; i < s.n; i++)
		h = (h ^ s.p[i]) * 0x100000001b3u;
	return mix(h, s.n);
}

/* spans: what ids of spans are made of; parent: of the root, 0: it has none. */
struct otlp_ids {
	uint64_t high, low, spans, parent;
};

/* The value of captured data with that name; .n 0: there is none. */
static struct slice data_of(struct slice rest, const char *name)
{
	while (rest.n) {
		const uint8_t *end = memchr(rest.p, 0, rest.n), *last;
		struct slice key;

		last = end ? memchr(end + 1, 0, rest.n - (size_t)(end + 1 - rest.p)) : NULL;
		if (!last)
			break;
		key = (struct slice){ rest.p, (size_t)(end - rest.p) };
		if (slice_is(key, name))
			return (struct slice){ end + 1, (size_t)(last - end - 1) };
		rest = (struct slice){ last + 1, rest.n - (size_t)(last + 1 - rest.p) };
	}
	return (struct slice){ NULL, 0 };
}

/* n digits, lower case as the standard wants them; false: there are others. */
static bool read_hex(const uint8_t *p, size_t n, uint64_t *out)
{
	*out = 0;
	for (size_t i = 0; i < n; i++) {
		unsigned digit = p[i] >= '0' && p[i] <= '9'   ? p[i] - '0' + 0u
				 : p[i] >= 'a' && p[i] <= 'f' ? p[i] - 'a' + 10u
							      : 16;

		if (digit > 15)
			return false;
		*out = *out << 4 | digit;
	}
	return true;
}

/* "00-TRACE-PARENT-FLAGS"; later versions may have more behind it. */
static bool read_parent(struct slice s, struct otlp_ids *ids)
{
	uint64_t version, high, low, parent, flags;

	if (s.n < 55 || s.p[2] != '-' || s.p[35] != '-' || s.p[52] != '-' ||
	    !read_hex(s.p, 2, &version) || !read_hex(s.p + 3, 16, &high) ||
	    !read_hex(s.p + 19, 16, &low) || !read_hex(s.p + 36, 16, &parent) ||
	    !read_hex(s.p + 53, 2, &flags))
		return false;
	if (version == 255 || (version == 0 && s.n != 55) || (s.n > 55 && s.p[55] != '-') ||
	    !(high | low) || !parent)
		return false;
	ids->high = high;
	ids->low = low;
	ids->parent = parent;
	return true;
}

static struct otlp_ids ids_of(const struct transaction *t)
{
	uint64_t h = hash(0xcbf29ce484222325u, t->instance);
	struct otlp_ids ids;

	h = mix(mix(h, t->when_ns), t->elapsed_ns);
	h = mix(h, t->n_parts ? t->parts[0].tid : 0);
	ids = (struct otlp_ids){ mix(h, 1), mix(h, 2) | 1, mix(h, 2) | 1, 0 };
	read_parent(data_of(t->data, "traceparent"), &ids);
	return ids;
}

static void put_hex(struct json *j, const char *key, uint64_t high, uint64_t low, bool both)
{
	char text[40];

	if (both)
		snprintf(text, sizeof(text), "%016llx%016llx", (unsigned long long)high,
			 (unsigned long long)low);
	else
		snprintf(text, sizeof(text), "%016llx", (unsigned long long)low);
	json_put_text(j, key, text);
}

void otlp_number(struct json *j, const char *key, uint64_t v)
{
	char text[24];

	snprintf(text, sizeof(text), "%llu", (unsigned long long)v);
	json_put_text(j, key, text);
}

void otlp_attribute(struct json *j, struct slice key, struct slice value)
{
	json_open(j, '{');
	json_put_str(j, "key", key);
	json_put_open(j, "value", '{');
	json_put_str(j, "stringValue", value);
	json_close(j, '}');
	json_close(j, '}');
}

static void put_data(struct json *j, struct slice rest)
{
	while (rest.n) {
		const uint8_t *end = memchr(rest.p, 0, rest.n), *last;

		last = end ? memchr(end + 1, 0, rest.n - (size_t)(end + 1 - rest.p)) : NULL;
		if (!last)
			return;
		otlp_attribute(j, (struct slice){ rest.p, (size_t)(end - rest.p) },
			       (struct slice){ end + 1, (size_t)(last - end - 1) });
		rest = (struct slice){ last + 1, rest.n - (size_t)(last + 1 - rest.p) };
	}
}

static uint64_t span_id(struct otlp_ids ids, const struct txn_part *p, size_t call)
{
	return mix(mix(ids.spans, p->part), call + 1) | 1;
}

static const struct txn_part *part_named(const struct transaction *t, uint32_t part)
{
	for (size_t i = 0; i < t->n_parts; i++)
		if (t->parts[i].part == part)
			return &t->parts[i];
	return NULL;
}

/* The calling call; for the first of a part the one that handed it over.  0: none. */
static uint64_t parent_of(const struct transaction *t, struct otlp_ids ids,
			  const struct txn_part *p, const struct txn_call *c)
{
	const struct txn_part *from = p->from == p->part ? NULL : part_named(t, p->from);

	if (c->parent)
		return span_id(ids, p, c->parent - 1);
	if (!from || !from->n)
		return 0;
	return span_id(ids, from, p->call && p->call <= from->n ? p->call - 1 : 0);
}

/* "com.shop.Cart.checkout(Lx;)V" -> "Cart.checkout" */
static struct slice short_name(struct slice method)
{
	const uint8_t *paren = memchr(method.p, '(', method.n);
	size_t end = paren ? (size_t)(paren - method.p) : method.n, begin = end;

	for (int dots = 0; begin > 0; begin--)
		if (method.p[begin - 1] == '.' && ++dots == 2)
			break;
	return (struct slice){ method.p + begin, end - begin };
}

static void put_span(struct json *j, const struct transaction *t, struct otlp_ids ids,
		     const struct txn_part *p, size_t k)
{
	const struct txn_call *c = &p->calls[k];
	uint64_t parent = parent_of(t, ids, p, c);
	bool root = !parent && p == &t->parts[0] && k == 0;

	if (root)
		parent = ids.parent;
	json_open(j, '{');
	put_hex(j, "traceId", ids.high, ids.low, true);
	put_hex(j, "spanId", 0, span_id(ids, p, k), false);
	if (parent)
		put_hex(j, "parentSpanId", 0, parent, false);
	json_put_str(j, "name", short_name(t->names[c->name].method));
	json_put_u64(j, "kind", root ? KIND_SERVER : KIND_INTERNAL);
	otlp_number(j, "startTimeUnixNano", t->when_ns + c->begin_ns);
	otlp_number(j, "endTimeUnixNano", t->when_ns + c->begin_ns + c->elapsed_ns);
	json_put_open(j, "attributes", '[');
	otlp_attribute(j, slice_str("code.function.name"), t->names[c->name].method);
	otlp_attribute(j, slice_str("thread.name"), p->thread);
	if (root)
		put_data(j, t->data);
	json_close(j, ']');
	if (c->flags & TX_CALL_THREW) {
		json_put_open(j, "status", '{');
		json_put_u64(j, "code", STATUS_ERROR);
		json_close(j, '}');
	}
	json_close(j, '}');
}

void otlp_resource(struct json *j, struct slice app, struct slice instance, struct slice host)
{
	json_put_open(j, "resource", '{');
	json_put_open(j, "attributes", '[');
	otlp_attribute(j, slice_str("service.name"), app);
	otlp_attribute(j, slice_str("service.instance.id"), instance);
	otlp_attribute(j, slice_str("host.name"), host);
	json_close(j, ']');
	json_close(j, '}');
}

void otlp_scope(struct json *j, const char *scopes, const char *what)
{
	json_put_open(j, scopes, '[');
	json_open(j, '{');
	json_put_open(j, "scope", '{');
	json_put_text(j, "name", "sonde");
	json_close(j, '}');
	json_put_open(j, what, '[');
}

/* And of the object that its resource is in. */
void otlp_scope_end(struct json *j)
{
	json_close(j, ']');
	json_close(j, '}');
	json_close(j, ']');
	json_close(j, '}');
}

void otlp_spans_begin(struct json *j)
{
	json_open(j, '{');
	json_put_open(j, "resourceSpans", '[');
}

size_t otlp_spans_add(struct json *j, const struct transaction *t, struct slice host)
{
	struct otlp_ids ids = ids_of(t);
	size_t n = 0;

	json_open(j, '{');
	otlp_resource(j, t->app, t->instance, host);
	otlp_scope(j, "scopeSpans", "spans");
	for (size_t i = 0; i < t->n_parts; i++)
		for (size_t k = 0; k < t->parts[i].n; k++, n++)
			put_span(j, t, ids, &t->parts[i], k);
	otlp_scope_end(j);
	return n;
}

void otlp_spans_end(struct json *j)
{
	json_close(j, ']');
	json_close(j, '}');
}

void otlp_put(const struct transaction *t, struct slice host, struct buf *out)
{
	struct json j = json_to(out);

	otlp_spans_begin(&j);
	otlp_spans_add(&j, t, host);
	otlp_spans_end(&j);
}
