/* SPDX-License-Identifier: Apache-2.0 */
/* report_table.c - a line for each method, the columns by how much room there is. */
#include "cli/report/report_table.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli/report/bare.h"
#include "cli/report/jvm_vitals.h"
#include "cli/report/report_rows.h"
#include "cli/report/states.h"
#include "cli/screen/cli.h"
#include "cli/screen/figures.h"
#include "cli/screen/table.h"

enum { NAME_WIDTH = 34 };

enum column {
	CALLS,
	RATE,
	ERRORS,
	AVG,
	MIN,
	P50,
	P90,
	P99,
	MAX,
	TOTAL,
	SELF,
	RAW,
	ACTIVE,
	STALLS,
	BYTES,
	CPU,
	BLOCKED,
	WAITING,
	DESCHEDULED,
	ALLOCATED,
	INSTRUCTIONS,
	CACHE_MISSES,
	BRANCHES,
	BRANCH_MISSES,
	TYPE,
	COLUMNS
};

_Static_assert((int)COLUMNS <= (int)TABLE_COLUMNS_MAX, "a table has no more");

static const struct table_column columns[COLUMNS] = {
	[CALLS] = { "calls", 0, false, false },
	[RATE] = { "calls/s", 4, false, false },
	[ERRORS] = { "errors", 3, false, false },
	[AVG] = { "avg", 0, false, false },
	[MIN] = { "min", 10, false, false },
	[P50] = { "p50", 7, false, false },
	[P90] = { "p90", 9, false, false },
	[P99] = { "p99", 6, false, false },
	[MAX] = { "max", 5, false, false },
	[TOTAL] = { "total", 0, false, false },
	[SELF] = { "self", 1, false, false },
	[RAW] = { "raw", 2, false, true },
	[ACTIVE] = { "active", 8, false, false },
	[STALLS] = { "stalls", 11, false, false },
	[BYTES] = { "bytes", 12, false, true },
	[CPU] = { "cpu", 1, false, true },
	[BLOCKED] = { "blocked", 2, false, true },
	[WAITING] = { "waiting", 2, false, true },
	[DESCHEDULED] = { "descheduled", 3, false, true },
	[ALLOCATED] = { "allocated", 2, false, true },
	[INSTRUCTIONS] = { "instructions", 4, false, true },
	[CACHE_MISSES] = { "cache misses", 4, false, true },
	[BRANCHES] = { "branches", 12, false, true },
	[BRANCH_MISSES] = { "branch misses", 5, false, true },
	[TYPE] = { "type", 8, false, true },
};

static void time_cell(struct table *t, double ns, bool known)
{
	char text[FIGURE_MAX];

	table_cell(t, known ? figure_time(text, ns) : "");
}

static void count_cell(const struct report_table *how, struct table *t, uint64_t n)
{
	char text[FIGURE_MAX];

	table_cell(t, how->wide ? cli_number(text, n) : figure_count(text, n));
}

/* "1.21 s", or when no more than a bound is known "< 1.21 s". */
static void bound_cell(struct table *t, double ns, bool bounded, bool known)
{
	char text[FIGURE_MAX];

	if (!known || (bounded && !(ns > 0)))
		text[0] = '\0';
	else if (bounded)
		figure_bound(text, ns);
	else
		figure_time(text, ns);
	table_cell(t, text);
}

/* "1.21 s", of an estimate "1.21 s +-3 %", of calls of which some still run "> 1.21 s". */
static void total_cell(const struct report_table *how, struct table *t,
		       const struct report_method *r)
{
	double total = r->total.mid, off = fmax(total - r->total.low, r->total.high - total);
	char text[2 * FIGURE_MAX], time[FIGURE_MAX], margin[FIGURE_MAX];

	if (r->bounded) {
		bound_cell(t, r->total.high, true, true);
		return;
	}
	if (r->unknown && !(r->least > total))
		text[0] = '\0';
	else if (r->unknown || (r->m.active && r->least > total))
		snprintf(text, sizeof(text), "> %s", figure_time(time, r->least));
	else if (total > 0 && off >= 0.0005 * total)
		snprintf(text, sizeof(text), "%s %s", figure_time(time, total),
			 figure_margin(margin, off / total, how->utf8));
	else
		snprintf(text, sizeof(text), "%s", figure_time(time, total));
	table_cell(t, text);
}

/* Of a single call: a bound where the hook was all that was measured. */
static void one_cell(struct table *t, const struct report_method *r, double ns, uint64_t measured,
		     bool known)
{
	bool bounded = r->bounded || (r->compensated && ns < 0.5);

	bound_cell(t, bounded ? (double)measured : ns, bounded, known);
}

static void calls_cells(struct table *t, const struct report_method *r)
{
	const struct wire_method *m = &r->m;
	bool timed = m->timed > 0, quantiles = timed && !(m->flags & METHOD_NO_QUANTILES);
	struct report_calls one = report_calls(r);

	bound_cell(t, r->bounded ? report_avg_high_ns(r) : report_avg_ns(r), r->bounded, timed);
	one_cell(t, r, one.min, m->min_ns, timed);
	one_cell(t, r, one.p50, m->p50_ns, quantiles);
	one_cell(t, r, one.p90, m->p90_ns, quantiles);
	one_cell(t, r, one.p99, m->p99_ns, quantiles);
	one_cell(t, r, one.max, m->max_ns, timed);
}

static void add_row(const struct report_table *how, struct table *t, const struct report_method *r)
{
	const struct wire_method *m = &r->m;
	struct states states = report_states(r);
	char text[2 * FIGURE_MAX];

	count_cell(how, t, m->calls);
	table_cell(t, figure_rate(text, m->rate));
	count_cell(how, t, m->errors);
	calls_cells(t, r);
	total_cell(how, t, r);
	bound_cell(t, r->self_bounded ? r->self.high : r->self.mid, r->self_bounded, !r->unknown);
	time_cell(t, r->raw_ns, !r->unknown && r->compensated);
	snprintf(text, sizeof(text), "%llu/%llu", (unsigned long long)m->active,
		 (unsigned long long)m->active_peak);
	table_cell(t, text);
	count_cell(how, t, m->stalls);
	table_cell(t, m->bytes ? figure_bytes(text, m->bytes) : "0");
	states_cells(t, &states);
	table_cell(t, states.known && !(states.unknown & METER_NO_BYTES)
			      ? figure_bytes(text, states.allocated)
			      : "");
	states_count_cells(t, &states, how->wide);
	table_cell(t, report_type_text(m->type));
}

/* What stands behind a name. */
static const char *mark_of(const struct report_method *m)
{
	if (m->m.flags & METHOD_CLOSED)
		return " (closed)";
	if (m->m.flags & METHOD_FEWER)
		return " (closed for a while)";
	if (m->native)
		return m->m.flags & METHOD_GONE ? " (native, gone)" : " (native)";
	if (m->m.flags & METHOD_GONE)
		return " (gone)";
	if (m->m.flags & METHOD_ANCHOR)
		return " (anchor)";
	return report_is_recursive(m) ? " (recursive)" : "";
}

static void put_name(struct buf *out, const struct report_method *m, unsigned room)
{
	const char *mark = mark_of(m);
	unsigned n = (unsigned)strlen(mark);

	if (room == UINT_MAX)
		method_name_put(out, &m->name, m->overloaded);
	else
		method_name_fit(out, &m->name, m->overloaded, room > 20 ? room - n : room);
	buf_text(out, mark);
}

static void note(struct buf *out, uint64_t n, const char *one, const char *many)
{
	char number[32];

	if (n)
		buf_printf(out, "%s %s\n", cli_number(number, n), n == 1 ? one : many);
}

/* "Measured in place: 5.00 s, of which 1.00 s with hooks; without any it would have been 4.31 s +-1
 * %." */
static void show_program(const struct report *r, bool utf8, struct buf *out)
{
	const struct span *s = &r->program_total;
	char all[FIGURE_MAX], open[FIGURE_MAX], total[FIGURE_MAX], margin[FIGURE_MAX] = "";
	double off = fmax(s->mid - s->low, s->high - s->mid);

	if (s->mid > 0)
		figure_margin(margin, off / s->mid, utf8);
	buf_printf(out,
		   "measured in place: %s, hooks open for %s of it; without hooks it would have "
		   "taken %s %s\n",
		   figure_time(all, (double)r->program.elapsed_ns),
		   figure_time(open, (double)r->program.open_ns), figure_time(total, s->mid),
		   margin);
}

/* Methods that are not in the table. */
struct missing {
	uint64_t not_shown, not_called;
};

static bool has_row(const struct report_table *how, const struct report *r,
		    bool is(const struct report_method *m))
{
	for (size_t i = 0; i < r->n; i++)
		if ((how->all || r->all[i]->m.calls) && is(r->all[i]))
			return true;
	return false;
}

static bool is_drawn_recursion(const struct report_method *m)
{
	return m->flags & TREE_RECURSIVE && m->m.timed;
}

static bool is_only_bounded(const struct report_method *m)
{
	return m->bounded && m->m.timed;
}

static bool is_fewer(const struct report_method *m)
{
	return m->m.flags & METHOD_FEWER;
}

/* A word for each kind of row that needs one. */
static void explain_kinds(const struct report_table *how, const struct report *r, struct buf *out)
{
	if (has_row(how, r, report_is_recursive))
		buf_text(
			out,
			"(recursive): total and self have the time of the outermost calls, once; avg is of all calls\n");
	if (has_row(how, r, is_drawn_recursion))
		buf_text(
			out,
			"of a recursive method that is too hot to time every call it is not known which calls "
			"are the outermost: its total is a bound\n");
	if (has_row(how, r, is_fewer))
		buf_text(
			out,
			"(closed): to keep to the budget; there were more calls than are counted here, and the time of "
			"those is in self of who called them\n");
	if (how->pid && !how->exact && has_row(how, r, is_only_bounded))
		buf_printf(
			out,
			"< is a bound, since hooks take longer than what they measure there; to measure it "
			"without them: sonde report --exact %d\n",
			(int)how->pid);
}

static void footer(const struct report_table *how, const struct report *r,
		   const struct missing *missing, struct buf *out)
{
	const struct wire_status *s = &r->status;
	struct jvm_vitals vitals;

	if (how->pid && jvm_vitals_read(how->pid, &vitals) >= 0)
		jvm_vitals_text(&vitals, out);
	note(out, missing->not_shown, "method more", "methods more");
	if (r->has_program && how->has_costs)
		show_program(r, how->utf8, out);
	if (how->sequences && r->n_sequences) {
		buf_text(
			out,
			"\nTimes between two hooked events, spent in the middle one of three methods:\n");
		report_sequences_put(r, out);
	}
	explain_kinds(how, r, out);
	if (how->bare)
		bare_text(how->bare, how->utf8, out);
	if (r->n && missing->not_called == r->n)
		buf_text(out, how->pid ? "No call was seen yet: " : "No call was seen: ");
	note(out, missing->not_called,
	     how->all_by ? "hooked method was not called; --all shows it"
			 : "hooked method was not called",
	     how->all_by ? "hooked methods were not called; --all shows them"
			 : "hooked methods were not called");
	buf_put(out, buf_slice(&r->left));
	if (!r->has_status)
		return;
	note(out, s->contexts_lost > s->contexts_deep ? s->contexts_lost - s->contexts_deep : 0,
	     "call has no context in the call tree, since its memory was used up (memory= when the agent "
	     "is put in gives more); its count and time are in the figures here",
	     "calls have no context in the call tree, since its memory was used up (memory= when the agent "
	     "is put in gives more); their counts and times are in the figures here");
	note(out, s->contexts_deep,
	     "call has no context in the call tree, since 512 hooked calls were above it; its count "
	     "and time are in the figures here",
	     "calls have no context in the call tree, since 512 hooked calls were above them; their "
	     "counts and times are in the figures here");
	note(out, s->exits_lost,
	     "call began and was never seen to end (stack overflow); it is counted, not timed",
	     "calls began and were never seen to end (stack overflow); they are counted, not timed");
}

void report_table_print(const struct report_table *how, const struct report *r, struct buf *out)
{
	uint64_t called = 0, shown = 0, limit = how->top ? how->top : UINT64_MAX;
	unsigned rows = how->rows;
	struct table t;

	table_init(&t, columns, COLUMNS);
	for (size_t i = 0; i < r->n; i++)
		called += how->all || r->all[i]->m.calls > 0;
	if (rows && called > (rows > 7 ? rows - 7 : 1) && limit > rows - 7)
		limit = rows > 7 ? rows - 7 : 1;
	for (size_t i = 0; i < r->n && shown < limit; i++)
		if (how->all || r->all[i]->m.calls) {
			add_row(how, &t, r->all[i]);
			shown++;
		}
	table_layout(&t, how->wide ? 0 : how->width, NAME_WIDTH);
	if (shown) {
		table_head(&t, out);
		buf_text(out, "method\n");
	}
	shown = 0;
	for (size_t i = 0; i < r->n && shown < limit; i++) {
		if (!how->all && !r->all[i]->m.calls)
			continue;
		table_row(&t, shown++, out);
		put_name(out, r->all[i], table_rest(&t));
		buf_u8(out, '\n');
	}
	footer(how, r, &(struct missing){ called - shown, r->n - called }, out);
	table_release(&t);
}
