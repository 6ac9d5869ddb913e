/* SPDX-License-Identifier: Apache-2.0 */
/* thread_show.c - a row for each of the busiest threads, deadlocks, and stacks that threads share. */
#include "cli/look/thread_show.h"

#include <limits.h>
#include <stdio.h>

#include "base/plural.h"
#include "cli/client/client.h"
#include "cli/screen/cli.h"
#include "cli/screen/figures.h"
#include "cli/screen/method_name.h"
#include "cli/screen/table.h"
#include "plan/dig/sample_node.h"

enum { NAME_WIDTH = 60, AT_MIN = 24, NAMED = 4 };

static const struct table_column columns[] = {
	{ .head = "cpu" },
	{ .head = "state", .left = true },
	{ .head = "#" },
	{ .head = "thread", .left = true },
};

static double share_of(const struct thread_view *v, uint64_t ns)
{
	return v->wall_ns ? (double)ns / (double)v->wall_ns : 0;
}

static uint64_t since(uint64_t after, uint64_t before)
{
	return after > before ? after - before : 0; /* threads that have ended are missing */
}

/* A name of the program's, cut when it would push everything else aside. */
static void put_name(struct buf *out, struct slice name)
{
	size_t from = out->n;

	client_show_line(out, name);
	if (method_name_width((struct slice){ out->p + from, out->n - from }) <= NAME_WIDTH)
		return;
	out->n = from + NAME_WIDTH - 3;
	while (out->n > from && (out->p[out->n] & 0xc0) == 0x80)
		out->n--;
	buf_text(out, "...");
}

static void put_frame(struct buf *out, struct slice text, struct slice line, unsigned width)
{
	struct method_name name;

	method_name_split(text, &name);
	if (!name.name.n)
		client_show_line(out, text);
	else if (width && width != UINT_MAX)
		method_name_fit(out, &name, false, width);
	else
		method_name_put(out, &name, false);
	if (line.n && !slice_is(line, "0"))
		buf_printf(out, ":%.*s", SLICE_FMT(line));
}

/* The innermost frame that is not the JDK's, or else the innermost. */
static struct slice place_of(const struct thread_seen *t)
{
	struct slice frames = t->row.frames, name, line, first = { NULL, 0 };

	while (thread_frame(&frames, &name, &line)) {
		if (!sample_node_is_jdk(name))
			return name;
		first = first.p ? first : name;
	}
	return first;
}

static void put_thread_name(struct buf *out, uint64_t number, struct slice name)
{
	buf_u8(out, '"');
	put_name(out, name);
	buf_printf(out, "\" (#%llu)", (unsigned long long)number);
}

static void put_wait(struct buf *out, const char *indent, const struct thread_seen *t)
{
	const struct wire_thread *row = &t->row;

	if (!row->lock.n && !(row->flags & THREAD_UNASKED))
		return;
	buf_text(out, indent);
	if (row->flags & THREAD_UNASKED) {
		buf_text(out, "what it waits for was not asked: too many threads wait\n");
		return;
	}
	buf_text(out, "waits for ");
	client_show_line(out, row->lock);
	if (row->holder || row->holder_name.n) {
		buf_text(out, ", held by ");
		put_thread_name(out, row->holder, row->holder_name);
	}
	buf_u8(out, '\n');
}

static void put_stack(struct buf *out, const char *indent, struct slice frames, size_t most)
{
	struct slice name, line;

	for (size_t i = 0; i < most && thread_frame(&frames, &name, &line); i++) {
		buf_text(out, indent);
		put_frame(out, name, line, 0);
		buf_u8(out, '\n');
	}
}

/* ---- all of them ---- */

static void put_share(struct buf *out, const struct thread_view *v, const char *what, uint64_t ns)
{
	char text[FIGURE_MAX];

	buf_printf(out, "%s%s", what, figure_share(text, share_of(v, ns)));
}

static void put_head(const struct thread_view *v, struct buf *out)
{
	const struct wire_vitals *a = &v->set->vitals, *b = &v->before->vitals;
	uint64_t jit = since(a->jit_cpu_ns, b->jit_cpu_ns), gc = since(a->gc_cpu_ns, b->gc_cpu_ns);
	char text[FIGURE_MAX];

	buf_printf(out, "%zu Java thread%s of %d in %s;", v->set->n, plural(v->set->n), (int)v->pid,
		   figure_time(text, (double)v->wall_ns));
	put_share(out, v, " of one processor the process used ", since(a->cpu_ns, b->cpu_ns));
	if (jit || gc) {
		put_share(out, v, ", of that compilers ", jit);
		put_share(out, v, " and garbage collection ", gc);
	}
	if (v->set->deadlocks)
		buf_printf(out, "; %u DEADLOCK%s, see below", v->set->deadlocks,
			   v->set->deadlocks == 1 ? "" : "S");
	buf_text(out, "\n\n");
}

static void add_cells(const struct thread_view *v, struct table *t, const struct thread_seen *s)
{
	char text[FIGURE_MAX];
	struct buf name = { 0 };

	table_cell(t, s->cpu_known ? figure_share(text, share_of(v, s->cpu_ns)) : "?");
	table_cell(t, thread_state_text(s->row.state));
	snprintf(text, sizeof(text), "%llu", (unsigned long long)s->row.number);
	table_cell(t, text);
	put_name(&name, s->row.name);
	buf_u8(&name, 0);
	table_cell(t, name.err ? "" : (const char *)name.p);
	buf_release(&name);
}

static void put_rows(const struct thread_view *v, struct buf *out)
{
	size_t n = v->top && v->top < v->set->n ? v->top : v->set->n;
	struct table t;

	table_init(&t, columns, COUNT(columns));
	for (size_t i = 0; i < n; i++)
		add_cells(v, &t, v->set->v[i]);
	table_layout(&t, v->width, AT_MIN);
	table_head(&t, out);
	buf_text(out, "at\n");
	for (size_t i = 0; i < n; i++) {
		const struct thread_seen *s = v->set->v[i];

		table_row(&t, i, out);
		if (s->row.frames.n)
			put_frame(out, place_of(s), (struct slice){ NULL, 0 }, table_rest(&t));
		else
			buf_text(out, "(in the JVM)");
		buf_u8(out, '\n');
		if (s->row.state == THREAD_BLOCKED || s->row.holder)
			put_wait(out, "        ", s);
	}
	if (n < v->set->n)
		buf_printf(out, "and %zu more, which used less: --top 0 shows all\n",
			   v->set->n - n);
	table_release(&t);
}

/* The threads of a ring, each with what it waits for. */
static void put_deadlocks(const struct thread_view *v, struct buf *out)
{
	for (unsigned d = 1; d <= v->set->deadlocks; d++) {
		const struct thread_seen *t = NULL, *first;

		for (size_t i = 0; !t && i < v->set->n; i++)
			t = v->set->v[i]->deadlock == d ? v->set->v[i] : NULL;
		buf_text(out, "\nDEADLOCK: each of these waits for what the next one holds\n");
		first = t;
		do {
			buf_text(out, "  ");
			put_thread_name(out, t->row.number, t->row.name);
			buf_u8(out, '\n');
			put_wait(out, "    ", t);
			put_stack(out, "      ", t->row.frames, v->frames);
			t = t->holder;
		} while (t != first);
	}
}

static void put_group(const struct thread_view *v, const struct thread_group *g, struct buf *out)
{
	unsigned named = 0;

	buf_printf(out, "\n%u thread%s, %s: ", g->n, plural(g->n),
		   thread_state_text(g->first->row.state));
	for (size_t i = 0; i < v->set->n && named < NAMED; i++) {
		const struct thread_seen *t = v->set->v[i];

		if (t->row.state != g->first->row.state ||
		    !slice_eq(t->row.frames, g->first->row.frames))
			continue;
		buf_text(out, named++ ? ", " : "");
		put_name(out, t->row.name);
	}
	buf_text(out, g->n > named ? " ...\n" : "\n");
	put_stack(out, "    ", g->first->row.frames, v->frames);
}

static void put_groups(const struct thread_view *v, struct buf *out)
{
	size_t n = 0;

	for (size_t i = 0; i < v->set->n_groups; i++) {
		const struct thread_group *g = &v->set->groups[i];

		if (g->n < 2 || !g->first->row.frames.n)
			continue;
		if (!v->stacks || n++ < v->stacks)
			put_group(v, g, out);
	}
	if (v->stacks && n > v->stacks)
		buf_printf(out, "\nand %zu more stack%s that threads share: --stacks 0 shows all\n",
			   n - v->stacks, plural(n - v->stacks));
}

void thread_show(const struct thread_view *v, struct buf *out)
{
	put_head(v, out);
	put_rows(v, out);
	put_groups(v, out);
	put_deadlocks(v, out);
}

void thread_show_one(const struct thread_view *v, const struct thread_seen *t, struct buf *out)
{
	char text[FIGURE_MAX];

	put_thread_name(out, t->row.number, t->row.name);
	buf_printf(out, " %s; %s of one processor in ", thread_state_text(t->row.state),
		   t->cpu_known ? figure_share(text, share_of(v, t->cpu_ns)) : "?");
	buf_printf(out, "%s, ", figure_time(text, (double)v->wall_ns));
	buf_printf(out, "%s since it began; group ",
		   t->cpu_known ? figure_time(text, (double)t->row.cpu_ns) : "?");
	put_name(out, t->row.group);
	buf_printf(out, ", priority %u%s\n", t->row.priority,
		   t->row.flags & THREAD_DAEMON ? ", a daemon" : "");
	put_wait(out, "  ", t);
	put_stack(out, "    ", t->row.frames, SIZE_MAX);
}

/* ---- JSON ---- */

static void json_frames(struct json *j, struct slice frames)
{
	struct slice name, line;

	json_put_open(j, "frames", '[');
	while (thread_frame(&frames, &name, &line)) {
		json_open(j, '{');
		json_put_str(j, "method", name);
		if (line.n) {
			uint64_t n = 0;

			for (size_t i = 0; i < line.n && line.p[i] >= '0' && line.p[i] <= '9'; i++)
				n = n * 10 + (uint64_t)(line.p[i] - '0');
			json_put_u64(j, "line", n);
		}
		json_close(j, '}');
	}
	json_close(j, ']');
}

static void json_thread(struct json *j, const struct thread_seen *t)
{
	json_open(j, '{');
	json_put_u64(j, "number", t->row.number);
	json_put_str(j, "name", t->row.name);
	json_put_str(j, "group", t->row.group);
	json_put_text(j, "state", thread_state_text(t->row.state));
	json_put_bool(j, "daemon", t->row.flags & THREAD_DAEMON);
	json_put_u64(j, "priority", t->row.priority);
	if (t->cpu_known) {
		json_put_u64(j, "cpu_ns", t->cpu_ns);
		json_put_u64(j, "cpu_ns_ever", t->row.cpu_ns);
	}
	if (t->row.lock.n) {
		json_put_str(j, "waits_for", t->row.lock);
	}
	if (t->row.holder)
		json_put_u64(j, "held_by", t->row.holder);
	if (t->deadlock)
		json_put_u64(j, "deadlock", t->deadlock);
	json_put_u64(j, "same_stack", t->group);
	json_frames(j, t->row.frames);
	json_close(j, '}');
}

void thread_json(const struct thread_view *v, struct buf *out)
{
	const struct wire_vitals *a = &v->set->vitals, *b = &v->before->vitals;
	size_t n = v->top && v->top < v->set->n ? v->top : v->set->n;
	struct json j = json_to(out);

	json_open(&j, '{');
	json_put_u64(&j, "pid", (uint64_t)v->pid);
	json_put_u64(&j, "wall_ns", v->wall_ns);
	json_put_u64(&j, "cpu_ns", since(a->cpu_ns, b->cpu_ns));
	json_put_u64(&j, "gc_cpu_ns", since(a->gc_cpu_ns, b->gc_cpu_ns));
	json_put_u64(&j, "jit_cpu_ns", since(a->jit_cpu_ns, b->jit_cpu_ns));
	json_put_u64(&j, "java_threads", v->set->n);
	json_put_u64(&j, "deadlocks", v->set->deadlocks);
	json_put_open(&j, "threads", '[');
	for (size_t i = 0; i < n; i++)
		json_thread(&j, v->set->v[i]);
	json_close(&j, ']');
	json_close(&j, '}');
	buf_u8(out, '\n');
}
