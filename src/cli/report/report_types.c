/* SPDX-License-Identifier: Apache-2.0 */
/* report_types.c - sequences of method types as the agent tells them: three methods and the two
 * transitions between them, and how short the time of the middle one can be, by class of
 * lengths. */
#include "cli/report/report_rows.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/whole.h"
#include "cli/screen/cli.h"
#include "cli/screen/figures.h"
#include "cli/screen/table.h"
#include "tree/cost.h"

enum { ROWS = 40 }; /* for people */

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

bool report_sequence(struct slice payload, struct sequence *out)
{
	struct wire_sequence m;

	if (wire_get_sequence(payload, &m) < 0 || m.length >= COST_CLASSES || m.caller >= TYPES ||
	    m.method >= TYPES || m.next >= TYPES || m.begin >= TRANSITIONS || m.end >= TRANSITIONS)
		return false;
	*out = (struct sequence){ .types = { m.caller, m.method, m.next },
				  .transitions = { (enum transition)m.begin,
						   (enum transition)m.end },
				  .settled = m.settled != 0,
				  .length = m.length,
				  .calls = (double)m.calls,
				  .min = (double)m.min_ns,
				  .low = (double)m.low_ns };
	return true;
}

int report_add_sequence(struct report *r, struct slice payload)
{
	struct sequence one;

	if (!report_sequence(payload, &one))
		return 0;
	if (r->n_sequences == r->sequences_room) {
		size_t room = r->sequences_room ? 2 * r->sequences_room : 64;
		void *more = mem_realloc(r->sequences, room * sizeof(*r->sequences));

		if (!more)
			return r->err = E_NO_MEMORY;
		r->sequences = more;
		r->sequences_room = room;
	}
	r->sequences[r->n_sequences++] = one;
	return 0;
}

/* ---- JSON ---- */

static void type_json(struct json *j, const char *key, const char *is_static, unsigned type)
{
	const char *text = report_type_text(type);

	json_key(j, key);
	if (*text)
		json_text(j, text);
	else
		json_null(j);
	json_put_bool(j, is_static, (type & TYPE_STATIC) != 0);
}

static uint64_t from_ns(const struct sequence *s)
{
	static const double borders[COST_CLASSES - 1] = COST_BORDERS;

	return s->length ? (uint64_t)borders[s->length - 1] : 0;
}

static void sequence_json(const struct sequence *s, struct json *j)
{
	static const char *const transitions[TRANSITIONS] = { "enter", "return", "exception" };

	json_open(j, '{');
	type_json(j, "caller", "caller_static", s->types[0]);
	json_put_text(j, "begin", transitions[s->transitions[0]]);
	type_json(j, "method", "method_static", s->types[1]);
	json_put_text(j, "end", transitions[s->transitions[1]]);
	type_json(j, "next", "next_static", s->types[2]);
	json_put_bool(j, "settled", s->settled);
	json_put_u64(j, "from_ns", from_ns(s));
	json_put_u64(j, "calls", whole_of(s->calls));
	json_put_u64(j, "min_ns", whole_of(s->min));
	json_put_u64(j, "low_ns", whole_of(s->low));
	json_close(j, '}');
}

void report_sequences_json(const struct report *r, struct json *j)
{
	json_put_open(j, "sequences", '[');
	for (size_t i = 0; i < r->n_sequences; i++)
		sequence_json(&r->sequences[i], j);
	json_close(j, ']');
}

/* ---- a table ---- */

enum { CALLS, LEAST, LOW, LENGTH, COLUMNS };

static void put_type(struct buf *out, unsigned type)
{
	const char *text = report_type_text(type);

	buf_printf(out, "%s%s", type & TYPE_STATIC ? "static " : "", *text ? text : "not hooked");
}

/* "static C2 > C2 < static C2" */
static void put_sequence(struct buf *out, const struct sequence *s)
{
	static const char *const signs[TRANSITIONS] = { " > ", " < ", " ! " };

	put_type(out, s->types[0]);
	buf_text(out, signs[s->transitions[0]]);
	put_type(out, s->types[1]);
	buf_text(out, signs[s->transitions[1]]);
	put_type(out, s->types[2]);
	buf_text(out, s->settled ? "\n" : ", 1/1\n");
}

static int by_calls(const void *left, const void *right)
{
	const struct sequence *a = left, *b = right;

	return a->calls < b->calls ? 1 : a->calls > b->calls ? -1 : 0;
}

void report_sequences_sort(struct report *r)
{
	if (r->n_sequences)
		qsort(r->sequences, r->n_sequences, sizeof(*r->sequences), by_calls);
}

void report_sequences_put(const struct report *r, struct buf *out)
{
	static const struct table_column columns[COLUMNS] = {
		[CALLS] = { "calls", 0, false, false },
		[LEAST] = { "min", 0, false, false },
		[LOW] = { "p5", 0, false, false },
		[LENGTH] = { "from", 0, false, false },
	};
	size_t n = r->n_sequences < ROWS ? r->n_sequences : ROWS;
	char text[FIGURE_MAX];
	struct table t;

	table_init(&t, columns, COLUMNS);
	for (size_t i = 0; i < n; i++) {
		const struct sequence *s = &r->sequences[i];

		table_cell(&t, figure_count(text, whole_of(s->calls)));
		table_cell(&t, figure_time(text, s->min));
		table_cell(&t, figure_time(text, s->low));
		table_cell(&t, figure_time(text, (double)from_ns(s)));
	}
	table_layout(&t, 0, 0);
	table_head(&t, out);
	buf_text(out, "sequence: > enters, < returns to, ! throws to\n");
	for (size_t i = 0; i < n; i++) {
		table_row(&t, i, out);
		put_sequence(out, &r->sequences[i]);
	}
	if (n < r->n_sequences)
		buf_printf(out, "%zu more; --json has all\n", r->n_sequences - n);
	table_release(&t);
}
