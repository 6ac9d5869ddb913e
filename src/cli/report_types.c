/* SPDX-License-Identifier: Apache-2.0 */
/* report_types.c - sequences of method types as the agent tells them: the caller enters a method, and that
 * returns, or throws, to the caller; how short such calls can be, by class of lengths. */
#include "cli/report_types.h"

#include "base/mem.h"
#include "cli/cli.h"
#include "cli/figures.h"
#include "cli/table.h"
#include "probe/types.h"
#include "tree/cost.h"

const char *report_type_text(unsigned type)
{
	static const char *const texts[] = { [TYPE_UNKNOWN] = "",
					     [TYPE_INTERPRETED] = "interpreted",
					     [TYPE_C1] = "C1",
					     [TYPE_C2] = "C2",
					     [TYPE_NATIVE] = "native" };
	unsigned kind = type & ~(unsigned)TYPE_STATIC;

	return kind < sizeof(texts) / sizeof(texts[0]) ? texts[kind] : "";
}

int report_add_sequence(struct report *r, struct slice payload)
{
	struct wire_sequence m;

	if (wire_get_sequence(payload, &m) < 0 || m.length >= TYPE_LENGTHS)
		return 0;
	if (r->n_sequences == r->sequences_room) {
		size_t room = r->sequences_room ? 2 * r->sequences_room : 64;
		void *more = mem_realloc(r->sequences, room * sizeof(*r->sequences));

		if (!more)
			return r->err = E_NO_MEMORY;
		r->sequences = more;
		r->sequences_room = room;
	}
	r->sequences[r->n_sequences++] = m;
	return 0;
}

static void type_json(struct json *j, const char *key, const char *is_static, unsigned type)
{
	const char *text = report_type_text(type);

	json_key(j, key);
	if (*text)
		json_text(j, text);
	else
		json_null(j);
	json_key(j, is_static);
	json_bool(j, (type & TYPE_STATIC) != 0);
}

void report_sequences_json(const struct report *r, struct json *j)
{
	static const double borders[TYPE_LENGTHS - 1] = COST_BORDERS;

	json_key(j, "sequences");
	json_open(j, '[');
	for (size_t i = 0; i < r->n_sequences; i++) {
		const struct wire_sequence *s = &r->sequences[i];

		json_open(j, '{');
		type_json(j, "caller", "caller_static", s->caller);
		type_json(j, "method", "method_static", s->method);
		json_key(j, "exit");
		json_text(j, s->thrown ? "exception" : "return");
		cli_json_count(j, "from_ns", s->length ? (uint64_t)borders[s->length - 1] : 0);
		cli_json_count(j, "calls", s->calls);
		cli_json_count(j, "min_ns", s->min_ns);
		cli_json_count(j, "low_ns", s->low_ns);
		json_close(j, '}');
	}
	json_close(j, ']');
}

enum { CALLS, LEAST, LOW, LENGTH, COLUMNS };

static void put_type(struct buf *out, unsigned type)
{
	const char *text = report_type_text(type);

	buf_printf(out, "%s%s", type & TYPE_STATIC ? "static " : "", *text ? text : "not hooked");
}

void report_sequences_put(const struct report *r, struct buf *out)
{
	static const double borders[TYPE_LENGTHS - 1] = COST_BORDERS;
	static const struct table_column columns[COLUMNS] = {
		[CALLS] = { "calls", 0, false, false },
		[LEAST] = { "min", 0, false, false },
		[LOW] = { "p5", 0, false, false },
		[LENGTH] = { "from", 0, false, false },
	};
	char text[FIGURE_MAX];
	struct table t;

	table_init(&t, columns, COLUMNS);
	for (size_t i = 0; i < r->n_sequences; i++) {
		const struct wire_sequence *s = &r->sequences[i];

		table_cell(&t, figure_count(text, s->calls));
		table_cell(&t, figure_time(text, (double)s->min_ns));
		table_cell(&t, figure_time(text, (double)s->low_ns));
		table_cell(&t, figure_time(text, s->length ? borders[s->length - 1] : 0));
	}
	table_layout(&t, 0, 0);
	table_head(&t, out);
	buf_text(out, "caller > method\n");
	for (size_t i = 0; i < r->n_sequences; i++) {
		table_row(&t, i, out);
		put_type(out, r->sequences[i].caller);
		buf_text(out, " > ");
		put_type(out, r->sequences[i].method);
		buf_text(out, r->sequences[i].thrown ? ", by exception\n" : "\n");
	}
	table_release(&t);
}
