/* SPDX-License-Identifier: Apache-2.0 */
/* trace_page.c - transactions as JSON, and as one page that needs nothing else.
 *
 * The page is trace_page.html with the data in the place of @DATA@.  '<' is written as an escape in
 * there, so that no name can end the script that it stands in. */
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "cli/report/trace_show.h"
#include "cli/screen/cli.h"

extern const uint8_t trace_page_html[], trace_page_html_end[];

static void json_name(struct json *j, const char *key, const struct trace_set *s, uint32_t id)
{
	json_put_text(j, key, trace_set_name(s, id).text);
}

static void put_call(struct json *j, const struct trace_set *s, const struct trace_call *c)
{
	json_open(j, '{');
	json_name(j, "method", s, c->id);
	json_put_i64(j, "parent", (int64_t)c->parent - 1);
	json_put_u64(j, "begin_ns", c->begin_ns);
	json_put_u64(j, "elapsed_ns", c->elapsed_ns);
	json_put_u64(j, "depth", c->depth);
	json_put_bool(j, "error", (c->flags & CALL_THREW) != 0);
	json_put_bool(j, "conditional", (trace_set_name(s, c->id).flags & NAME_CONDITIONAL) != 0);
	json_put_bool(j, "open", (c->flags & CALL_RUNS) != 0);
	json_put_bool(j, "unmet", (c->flags & CALL_UNMET) != 0);
	json_close(j, '}');
}

static void put_part_head(struct json *j, const struct trace_part *p)
{
	json_put_u64(j, "part", p->part);
	json_put_u64(j, "from", p->from);
	json_put_u64(j, "tid", p->tid);
	json_put_text(j, "thread", p->thread);
	json_put_u64(j, "submitted_ns", p->submitted_ns);
	json_put_u64(j, "begin_ns", p->begin_ns);
	json_put_u64(j, "end_ns", p->end_ns);
}

void trace_page_json(struct buf *out, const struct trace_set *s, const struct trace_tx *t)
{
	struct json j = json_to(out);

	json_open(&j, '{');
	json_put_u64(&j, "number", t->number);
	json_put_u64(&j, "when_ns", t->when_ns);
	json_name(&j, "root", s, t->root);
	json_put_u64(&j, "elapsed_ns", t->elapsed_ns);
	json_put_u64(&j, "end_ns", trace_set_end_ns(t));
	json_put_bool(&j, "failed", (t->flags & TX_FAILED) != 0);
	json_put_bool(&j, "slow", (t->flags & TX_SLOW) != 0);
	json_put_bool(&j, "sampled", (t->flags & TX_SAMPLED) != 0);
	json_put_bool(&j, "lost", (t->flags & TX_LOST) != 0);
	json_put_bool(&j, "open", (t->flags & TX_OPEN) != 0);
	json_put_u64(&j, "missing", t->missed);
	json_put_text(&j, "data", t->data);
	json_put_open(&j, "parts", '[');
	for (size_t i = 0; i < trace_parts(t); i++) {
		const struct trace_part *p = trace_part_at(t, i);

		json_open(&j, '{');
		put_part_head(&j, p);
		json_key(&j, "call"); /* of `from`, in which it was handed over */
		json_i64(&j, (int64_t)p->call - 1);
		json_put_bool(&j, "open", (p->flags & (TX_OPEN | PART_NEVER_BEGUN)) != 0);
		json_put_open(&j, "calls", '[');
		for (size_t k = p->first; k < p->first + p->n; k++)
			put_call(&j, s, trace_call_at(t, k));
		json_close(&j, ']');
		json_close(&j, '}');
	}
	json_close(&j, ']');
	json_close(&j, '}');
	buf_u8(out, '\n');
}

/* ---- the page ----------------------------------------------------------------------------- */

static void put_title(struct json *j, const struct trace_set *s, const struct trace_tx *t)
{
	struct buf line = { 0 };
	size_t n;

	trace_draw_line(&line, s, t);
	n = line.n ? line.n - 1 : 0;
	json_put_str(j, "title", (struct slice){ line.p, n });
	json_put_str(j, "about", (struct slice){ line.p, n });
	buf_release(&line);
}

static void put_compact(struct json *j, const struct trace_set *s, const struct trace_tx *t)
{
	json_open(j, '{');
	put_title(j, s, t);
	json_put_u64(j, "number", t->number);
	json_put_u64(j, "when_ns", t->when_ns);
	json_put_u64(j, "root", t->root);
	json_put_u64(j, "elapsed_ns", t->elapsed_ns);
	json_put_bool(j, "failed", (t->flags & TX_FAILED) != 0);
	json_put_text(j, "data", t->data);
	json_put_u64(j, "end_ns", trace_set_end_ns(t));
	json_put_open(j, "parts", '[');
	for (size_t i = 0; i < trace_parts(t); i++) {
		const struct trace_part *p = trace_part_at(t, i);

		json_open(j, '{');
		put_part_head(j, p);
		json_put_u64(j, "flags", p->flags);
		json_put_open(j, "calls", '[');
		for (size_t k = p->first; k < p->first + p->n; k++) {
			const struct trace_call *c = trace_call_at(t, k);

			json_open(j, '[');
			json_u64(j, c->id);
			json_u64(j, c->parent);
			json_u64(j, c->begin_ns);
			json_u64(j, c->elapsed_ns);
			json_u64(j, c->flags);
			json_close(j, ']');
		}
		json_close(j, ']');
		json_close(j, '}');
	}
	json_close(j, ']');
	json_close(j, '}');
}

static void put_names(struct json *j, const struct trace_set *s)
{
	size_t n = s->names.n / sizeof(struct trace_name);

	json_put_open(j, "names", '[');
	for (size_t i = 0; i < n; i++) {
		struct trace_name name = trace_set_name(s, (uint32_t)i);

		json_open(j, '[');
		json_text(j, name.text);
		json_u64(j, name.flags);
		json_close(j, ']');
	}
	json_close(j, ']');
}

static void put_data(struct buf *out, const struct trace_set *s)
{
	const struct trace_tx *longest = trace_set_longest(s);
	struct json j = json_to(out);
	uint64_t at = 0;

	json_open(&j, '{');
	put_names(&j, s);
	json_put_open(&j, "transactions", '[');
	for (size_t i = 0; i < trace_set_n(s); i++) {
		if (trace_set_at(s, i) == longest)
			at = i;
		put_compact(&j, s, trace_set_at(s, i));
	}
	json_close(&j, ']');
	json_put_u64(&j, "longest", at);
	json_close(&j, '}');
}

static const uint8_t *place_in(struct slice page, const char *place)
{
	size_t n = strlen(place);

	for (; page.n >= n; page.p++, page.n--)
		if (memcmp(page.p, place, n) == 0)
			return page.p;
	return NULL;
}

void trace_page(struct buf *out, const struct trace_set *s)
{
	static const char place[] = "@DATA@";
	size_t n = (size_t)(trace_page_html_end - trace_page_html);
	const uint8_t *at = place_in((struct slice){ trace_page_html, n }, place);
	struct buf data = { 0 };

	put_data(&data, s);
	if (!at || data.err) {
		out->err = data.err ? data.err : E_NO_MEMORY;
		buf_release(&data);
		return;
	}
	buf_bytes(out, trace_page_html, (size_t)(at - trace_page_html));
	for (size_t i = 0; i < data.n; i++) {
		if (data.p[i] == '<')
			buf_text(out, "\\u003c");
		else
			buf_u8(out, data.p[i]);
	}
	at += strlen(place);
	buf_bytes(out, at, (size_t)(trace_page_html_end - at));
	buf_release(&data);
}
