/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_rows.c - any frames as the answers to trace, hooks and watch: drawn, as lines, as JSON and as
 * a page.  What comes out must be harmless: JSON and pictures have no control character. */
#include <stdlib.h>

#include "base/visible.h"
#include "base/utf8.h"
#include "cli/report/hook_rows.h"
#include "cli/report/trace_set.h"
#include "cli/report/trace_show.h"
#include "cli/screen/layout.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void need_harmless(const struct buf *out)
{
	for (size_t i = 0; i < out->n;) {
		uint32_t c;
		size_t n = utf8_decode(out->p + i, out->n - i, &c);

		if (!n || !(visible_is(c) || c == '\n'))
			abort();
		i += n;
	}
}

static void show(const struct trace_set *set, const struct trace_tx *tx, unsigned width)
{
	struct buf out = { 0 };

	trace_draw_line(&out, set, tx);
	trace_draw(&out, set, tx, width);
	trace_page_json(&out, set, tx);
	need_harmless(&out);
	buf_release(&out);
}

static void values(struct slice payload)
{
	struct slice facts, key, value, one;
	struct buf out = { 0 };
	struct wire_call m;

	if (wire_get_call(payload, &m) < 0)
		return;
	facts = m.facts;
	while (wire_fact(&facts, &key, &value)) {
		struct slice rest = layout_inside(value);

		layout_put(&out, value, 10, 80);
		while (layout_next(&rest, &one))
			layout_put(&out, one, 10, 60);
	}
	buf_release(&out);
}

static void finish(struct trace_set *set, struct hook_rows *hooks)
{
	struct buf out = { 0 };
	struct json j = json_to(&out);

	trace_page(&out, set);
	buf_clear(&out);
	if (hooks->json) {
		hook_rows_json(hooks, &j);
		hook_rows_totals_json(hooks, &j);
	} else {
		hook_rows_table(hooks, &out);
		hook_rows_notes(hooks, &out);
		hook_rows_totals(hooks, &out);
	}
	need_harmless(&out);
	buf_release(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct slice in = { data + 1, size - 1 }, payload;
	struct trace_set set = { 0 };
	struct hook_rows hooks;
	unsigned type;
	long n;

	if (!size)
		return 0;
	hook_rows_init(&hooks, data[0] & 1);
	while ((n = in.n ? wire_frame(in, &type, &payload) : 0) > 0) {
		const struct trace_tx *tx = trace_set_take(&set, type, payload);

		if (tx)
			show(&set, tx, data[0]);
		hook_rows_take(&hooks, type, payload);
		if (type == WIRE_call)
			values(payload);
		in = (struct slice){ in.p + n, in.n - (size_t)n };
	}
	finish(&set, &hooks);
	hook_rows_release(&hooks);
	trace_set_release(&set);
	return 0;
}
