/* SPDX-License-Identifier: Apache-2.0 */
/* top_view.c - three lines of what it is, the list, and the keys. */
#include "cli/top/top_view.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "cli/client/client.h"
#include "cli/hot/hot_show.h"
#include "cli/screen/cli.h"
#include "cli/screen/figures.h"
#include "cli/screen/table.h"
#include "jvm/proc.h"

enum { NAME_WIDTH = 24, ABOVE = 4, BELOW = 1, MARK = 2, THREAD_WIDTH = 18 };

static const struct table_column function_columns[] = {
	{ "self", 0, false, false },
	{ "total", 1, false, false },
	{ "samples", 3, false, false },
	{ "run by", 2, true, false },
};

static const struct table_column thread_columns[] = {
	{ "cpu", 0, false, false },  { "share", 2, false, false },  { "samples", 4, false, false },
	{ "state", 3, true, false }, { "thread", 1, false, false },
};

static const struct table_column line_columns[] = {
	{ "share", 0, false, false },
	{ "samples", 2, false, false },
	{ "run by", 1, true, false },
};

static const char help[] =
	"Samples are taken by the clock of threads that run; nothing is hooked.\n"
	"\n"
	"  Up Down j k   move (PgUp PgDn Home End)\n"
	"  Enter Right   callers and callees of a function; functions of a thread\n"
	"  Esc Left      back\n"
	"  s             sort by the function alone (self), or with all that it calls (total)\n"
	"  t             threads, or functions\n"
	"  f             functions of all threads\n"
	"  /             show only names with this text in them; Enter ends it, Esc drops it\n"
	"  p or Space    stop the picture; samples go on\n"
	"  r             forget what was seen\n"
	"  h or ?        this page\n"
	"  q or Ctrl-C   end\n"
	"\n"
	"run by: what ran the function most often: interpreter, C1, C2, inlined into another method, native.\n";

static double share(uint64_t part, uint64_t all)
{
	return all ? (double)part / (double)all : 0;
}

size_t top_view_rows(unsigned rows)
{
	return rows > ABOVE + BELOW + 1 ? rows - ABOVE - BELOW : 1;
}

/* ---- the head ------------------------------------------------------------------------------ */

static void put_process(const struct top_view *v, struct buf *out)
{
	const struct wire_stacks_state *m = &v->s->state;
	char n[2 * FIGURE_MAX], time[FIGURE_MAX], broken[FIGURE_MAX], threads[2 * FIGURE_MAX];

	client_show_line(out, slice_str(v->s->name));
	buf_printf(out, " (%d)", (int)v->s->pid);
	if (!m->wall_ns) {
		buf_text(out, ": waiting for samples\n\n");
		return;
	}
	buf_printf(out, ": %.2f processors, %s; %s in %s\n",
		   share(v->lately->time.cpu_ns, v->lately->time.wall_ns),
		   figure_of(threads, m->threads, "thread"),
		   figure_of(n, v->s->profile.total, "sample"),
		   figure_time(time, (double)v->lately->time.seen_ns));
	client_show_line(out, m->engine);
	buf_printf(out, "; %s of stacks are not whole",
		   figure_share(broken, share(sampled_broken(v->s), m->samples)));
	if (m->lost)
		buf_printf(out, "; %s %s lost", figure_of(n, m->lost, "sample"),
			   m->lost == 1 ? "was" : "were");
	buf_u8(out, '\n');
}

static void put_thread_name(const struct top_view *v, struct buf *out, uint32_t number)
{
	struct slice name = sampled_thread_name(v->s, number);

	client_show_line(out, name.n ? name : slice_str("?"));
}

static void put_what(const struct top_view *v, struct buf *out)
{
	const struct top_look *look = v->look;

	buf_text(out, look->paused ? "[stopped] " : "");
	if (look->page == TOP_THREADS) {
		buf_text(out, "threads that ran");
	} else if (look->page == TOP_FUNCTION) {
		buf_text(out, "callers and callees of one function");
	} else {
		buf_printf(out, "functions by %s", look->by_total ? "total" : "self");
	}
	if (look->thread && look->page != TOP_THREADS) {
		buf_printf(out, " of thread %u, ", look->thread);
		put_thread_name(v, out, look->thread);
	}
	if (look->typing || look->filter[0])
		buf_printf(out, "; with '%s%s'", look->filter, look->typing ? "_" : "");
	buf_u8(out, '\n');
}

/* ---- rows ---------------------------------------------------------------------------------- */

static const struct {
	char letter;
	const char *word;
} states[] = { { 'R', "runs" },	   { 'S', "waits" },   { 'D', "disk" },
	       { 'T', "stopped" }, { 't', "stopped" }, { 'I', "idle" } };

/* What the kernel says of a thread now, by its place in states; COUNT(states) when it says nothing, or
 * the thread has another number where it lives. */
static size_t state_now(const struct top_view *v, const char *tid)
{
	char text[PROC_THREAD_LINE];
	const char *end = strrchr(proc_thread_line(v->s->pid, tid, "stat", text), ')');
	size_t i = 0;

	while (i < COUNT(states) && !(end && end[1] && end[2] == states[i].letter))
		i++;
	return i;
}

static const char *state_of(const struct top_view *v, uint32_t number)
{
	char tid[16];
	size_t at;

	snprintf(tid, sizeof(tid), "%u", number);
	at = state_now(v, tid);
	return at < COUNT(states) ? states[at].word : "";
}

static void add_thread(const struct top_view *v, struct table *t, const struct top_row *row)
{
	char text[FIGURE_MAX], number[16];
	double time = (double)row->value * (double)v->s->state.period_ns;
	double seen = (double)v->lately->time.seen_ns;

	table_cell(t, figure_share(text, seen > 0 ? time / seen : 0));
	table_cell(t, figure_share(text, share(row->value, v->r->total)));
	table_cell(t, figure_count(text, row->value));
	table_cell(t, state_of(v, row->id));
	snprintf(number, sizeof(number), "%u", row->id);
	table_cell(t, number);
}

static void add_row(const struct top_view *v, struct table *t, const struct top_row *row)
{
	const struct ranked *f = &v->r->v[row->id];
	char text[FIGURE_MAX];

	if (v->look->page == TOP_THREADS) {
		add_thread(v, t, row);
		return;
	}
	if (v->look->page == TOP_FUNCTION) {
		table_cell(t, figure_share(text, share(row->value, v->r->v[v->l->function].total)));
		table_cell(t, figure_count(text, row->value));
	} else {
		table_cell(t, figure_share(text, share(f->self, v->r->total)));
		table_cell(t, figure_share(text, share(f->total, v->r->total)));
		table_cell(t, figure_count(text, f->self));
	}
	table_cell(t, hot_main_kind(f));
}

static unsigned less(unsigned width, unsigned by)
{
	return !width || width > by ? width - (width ? by : 0) : 1;
}

static void put_row(const struct top_view *v, struct buf *out, const struct top_row *row,
		    unsigned width)
{
	uint32_t id = v->look->page == TOP_THREADS ? row->leaf : row->id;
	const struct ranked *f = &v->r->v[id];
	struct buf name = { 0 };

	if (v->look->page == TOP_THREADS) {
		put_thread_name(v, &name, row->id);
		buf_printf(out, "%-*.*s ", THREAD_WIDTH, SLICE_FMT(buf_slice(&name)));
		width = less(width, THREAD_WIDTH + 1);
	} else if (v->look->page == TOP_FUNCTION) {
		buf_text(out, row->is_callee ? "calls     " : "called by ");
		width = less(width, 10);
	}
	buf_release(&name);
	hot_put_name(out, f->kind, f->name, width);
	buf_u8(out, '\n');
}

static void head_of(const struct top_view *v, struct table *t, const char **rest)
{
	if (v->look->page == TOP_THREADS) {
		table_init(t, thread_columns, COUNT(thread_columns));
		*rest = "name               most of it in";
	} else if (v->look->page == TOP_FUNCTION) {
		table_init(t, line_columns, COUNT(line_columns));
		*rest = "";
	} else {
		table_init(t, function_columns, COUNT(function_columns));
		*rest = "function";
	}
}

/* ---- the list ------------------------------------------------------------------------------ */

/* The function whose callers and callees are shown. */
static void put_function(const struct top_view *v, struct buf *out, unsigned columns)
{
	char self[FIGURE_MAX], total[FIGURE_MAX];
	const struct ranked *f = &v->r->v[v->l->function];

	if (v->l->function >= v->r->n) {
		client_show_line(out, v->look->trail[v->look->depth - 1]);
		buf_text(out, ": no samples now\n");
		return;
	}
	buf_printf(out, "self %s, total %s: ", figure_share(self, share(f->self, v->r->total)),
		   figure_share(total, share(f->total, v->r->total)));
	hot_put_name(out, f->kind, f->name, columns > 40 ? columns - 32 : columns);
	buf_u8(out, '\n');
}

static void follow_cursor(struct top_look *look, size_t n, size_t room)
{
	if (look->cursor < look->first)
		look->first = look->cursor;
	if (look->cursor >= look->first + room)
		look->first = look->cursor - room + 1;
	if (look->first + room > n)
		look->first = n > room ? n - room : 0;
}

static void put_list(const struct top_view *v, struct buf *out, unsigned columns, size_t room,
		     bool marked)
{
	size_t first = v->look->first, n = v->l->n - first < room ? v->l->n - first : room;
	unsigned rest;
	const char *head;
	struct table t;

	head_of(v, &t, &head);
	for (size_t i = 0; i < n; i++)
		add_row(v, &t, &v->l->v[first + i]);
	table_layout(&t, columns > MARK ? columns - MARK : columns, NAME_WIDTH);
	rest = table_rest(&t);
	buf_printf(out, "%*s", MARK, "");
	table_head(&t, out);
	buf_printf(out, "%s\n", head);
	for (size_t i = 0; i < n; i++) {
		buf_text(out, marked && first + i == v->look->cursor ? "> " : "  ");
		table_row(&t, i, out);
		put_row(v, out, &v->l->v[first + i], rest == UINT_MAX ? 0 : rest);
	}
	table_release(&t);
}

/* What the threads do when none of them ran. */
static void put_idle(const struct top_view *v, struct buf *out)
{
	static const char *const does[COUNT(states)] = {
		"could run", "wait", "wait for a disk", "are stopped", "are stopped by a debugger",
		"are idle"
	};
	unsigned n[COUNT(states) + 1] = { 0 };
	DIR *dir = proc_threads(v->s->pid);
	const char *tid, *between = "";

	while ((tid = proc_next_thread(dir)))
		n[state_now(v, tid)]++;
	if (dir)
		closedir(dir);
	buf_text(out, "  no thread has run long enough to be seen: of its threads ");
	for (size_t i = 0; i < COUNT(states); i++)
		if (n[i]) {
			buf_printf(out, "%s%u %s", between, n[i], does[i]);
			between = ", ";
		}
	buf_text(out, *between ? " just now\n" : "nothing is known\n");
	if (v->is_jvm)
		buf_printf(out, "  what for: sonde threads %d\n", (int)v->s->pid);
}

static void put_help(struct buf *out, unsigned rows)
{
	buf_text(out, help);
	buf_text(out, rows ? "\nany key: back\n" : "");
}

/* The keys stand in the last line, whatever the list takes. */
static void put_keys(struct buf *out, size_t empty)
{
	while (empty--)
		buf_u8(out, '\n');
	buf_text(
		out,
		"Enter: into  Esc: back  s: sort  t: threads  /: filter  p: stop  h: help  q: end");
}

void top_view_put(const struct top_view *v, struct buf *out, unsigned columns, unsigned rows)
{
	size_t room = rows ? top_view_rows(rows) : v->most;
	bool one = v->look->page == TOP_FUNCTION;
	bool idle = !one && !v->r->total && v->s->state.wall_ns;
	size_t used = idle ? v->is_jvm : v->l->n;

	if (v->look->page == TOP_HELP) {
		put_help(out, rows);
		return;
	}
	put_process(v, out);
	put_what(v, out);
	if (one) {
		put_function(v, out, columns);
		room -= room > 1;
	}
	follow_cursor(v->look, v->l->n, room);
	if (idle)
		put_idle(v, out);
	else
		put_list(v, out, columns, room, rows > 0);
	if (rows)
		put_keys(out, room > used ? room - used : 0);
}
