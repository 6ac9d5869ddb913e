/* SPDX-License-Identifier: Apache-2.0 */
/* hot_show.c - a row for each function, and below it who called it and whom it called. */
#include "cli/hot/hot_show.h"

#include <limits.h>

#include "base/plural.h"
#include "cli/client/client.h"
#include "cli/screen/cli.h"
#include "cli/screen/figures.h"
#include "cli/screen/method_name.h"
#include "cli/screen/table.h"

enum { NAME_WIDTH = 32, LINES = 3 };

static double share(uint64_t part, uint64_t all)
{
	return all ? (double)part / (double)all : 0;
}

void hot_put_name(struct buf *out, uint32_t kind, struct slice name, unsigned width)
{
	struct method_name m;

	if (!sampled_is_java(kind)) {
		if (width && name.n > width)
			name.n = width;
		client_show_line(out, name);
		return;
	}
	method_name_split(name, &m);
	if (width)
		method_name_fit(out, &m, false, width);
	else
		method_name_put(out, &m, false);
}

const char *hot_main_kind(const struct ranked *f)
{
	uint32_t best = f->kind < RANKING_KINDS ? f->kind : 0; /* the agent may say anything */

	for (uint32_t k = 0; f->self && k < RANKING_KINDS; k++)
		if (f->by_kind[k] > f->by_kind[best])
			best = k;
	return sampled_kind_text(best);
}

static void add_row(const struct hot_view *v, struct table *t, const struct ranked *f)
{
	char text[FIGURE_MAX];

	table_cell(t, figure_share(text, share(f->self, v->r->total)));
	table_cell(t, figure_share(text, share(f->total, v->r->total)));
	table_cell(t, sampled_mode(v->s->mode)->figure(text, f->self));
	table_cell(t, sampled_mode(v->s->mode)->is_event ? figure_count(text, f->count)
							 : hot_main_kind(f));
}

static bool is_shown(const struct hot_view *v, size_t i)
{
	const struct ranked *f = &v->r->v[i];

	return v->above > 0 ? share(f->self, v->r->total) >= v->above : i < v->top;
}

static void put_lines(const struct hot_view *v, struct buf *out, const struct ranked *of,
		      const struct ranked_line *lines, size_t n, const char *how)
{
	char text[FIGURE_MAX];

	for (size_t i = 0; i < n && i < LINES; i++) {
		const struct ranked *f = lines[i].of < v->r->n ? &v->r->v[lines[i].of] : NULL;

		if (!f)
			continue;
		buf_printf(out, "    %s %6s ", how,
			   figure_share(text, share(lines[i].value, of->total)));
		hot_put_name(out, f->kind, f->name, v->width > 24 ? v->width - 18 : v->width);
		buf_u8(out, '\n');
	}
}

static void put_function(const struct hot_view *v, struct table *t, size_t i, struct buf *out)
{
	static const char *const arrows[2][2] = { { "<-", "->" },
						  { "\342\206\220", "\342\206\222" } };
	const struct ranked *f = &v->r->v[i];
	struct ranked_line lines[RANKING_LINES];
	unsigned rest = table_rest(t);
	size_t n;

	table_row(t, i, out);
	hot_put_name(out, f->kind, f->name, rest == UINT_MAX ? 0 : rest);
	buf_u8(out, '\n');
	if (!v->lines)
		return;
	n = ranking_callers(v->r, &v->s->profile, i, lines);
	put_lines(v, out, f, lines, n, arrows[v->utf8][0]);
	n = ranking_callees(v->r, &v->s->profile, i, lines);
	put_lines(v, out, f, lines, n, arrows[v->utf8][1]);
}

size_t hot_show(const struct hot_view *v, struct buf *out)
{
	const struct table_column columns[] = {
		{ "self", 0, false, false },
		{ "total", 1, false, false },
		{ sampled_mode(v->s->mode)->column, 3, false, false },
		{ sampled_mode(v->s->mode)->column_2, 2, !sampled_mode(v->s->mode)->is_event,
		  false },
	};
	struct table t;
	size_t n = 0;

	table_init(&t, columns, COUNT(columns));
	for (; n < v->r->n && v->r->v[n].self && is_shown(v, n); n++)
		add_row(v, &t, &v->r->v[n]);
	table_layout(&t, v->width, NAME_WIDTH);
	table_head(&t, out);
	buf_text(out, "function\n");
	for (size_t i = 0; i < n; i++)
		put_function(v, &t, i, out);
	table_release(&t);
	return n;
}

/* ---- what the samples are ------------------------------------------------------------------ */

static void put_causes(const struct sampled *s, struct buf *out)
{
	char text[FIGURE_MAX];

	for (unsigned i = 0; i < WALK_ENDS; i++)
		if (s->ends[i] && i != WALK_WHOLE)
			buf_printf(out, "  %s of stacks: %s\n",
				   figure_share(text, share(s->ends[i], sampled_count(s))),
				   walk_end_text((enum walk_end)i));
}

static void put_states(const struct sampled *s, struct buf *out)
{
	char text[FIGURE_MAX];

	buf_text(out, "  threads were");
	for (unsigned i = 0, n = 0; i < STACK_STATES; i++)
		if (s->states[i])
			buf_printf(out, "%s %s %s", n++ ? "," : "", sampled_state_text(i),
				   figure_share(text, share(s->states[i], s->profile.total)));
	buf_u8(out, '\n');
	if (s->left_out)
		buf_printf(out, "  not counted: %s of waiting threads without Java code (--all)\n",
			   figure_time(text, (double)s->left_out));
}

static void put_sum(const struct sampled *s, struct buf *out)
{
	const struct sampled_mode *mode = sampled_mode(s->mode);
	char value[FIGURE_MAX], count[FIGURE_MAX];

	buf_printf(out, "  %s %s in %s %s%s\n", mode->figure(value, s->profile.total),
		   s->mode == STACKS_LOCK ? "waited"
		   : s->live		  ? "still there"
					  : "allocated",
		   figure_count(count, s->profile.count), mode->column_2,
		   s->mode == STACKS_LOCK ? " for monitors" : "");
}

bool hot_has_about(const struct sampled *s)
{
	return s->state.wall_ns || s->when[0];
}

/* Whose they are, and of when. */
static void put_when(const struct sampled *s, struct buf *out)
{
	if (!s->when[0])
		return;
	client_show_line(out, slice_str(s->name));
	buf_printf(out, ", %s:\n", s->when);
}

void hot_put_about(const struct sampled *s, struct buf *out)
{
	const struct wire_stacks_state *m = &s->state;
	char n[32], time[FIGURE_MAX], cpu[FIGURE_MAX], broken[FIGURE_MAX], threads[2 * FIGURE_MAX];

	put_when(s, out);
	if (!m->wall_ns) {
		put_causes(s, out);
		return;
	}
	buf_printf(out, "%s %s sample%s of %s in %s", cli_number(n, sampled_count(s)),
		   sampled_mode(s->mode)->what, plural(sampled_count(s)),
		   figure_of(threads, m->threads, "thread"), figure_time(time, (double)m->wall_ns));
	if (sampled_mode(s->mode)->is_event)
		buf_text(out, " (");
	else
		buf_printf(out, ", one in %s (", figure_time(time, (double)m->period_ns));
	client_show_line(out, m->engine);
	buf_printf(out, "); the process used %s of processors; %s of stacks are not whole\n",
		   figure_time(cpu, (double)m->cpu_ns),
		   figure_share(broken, share(sampled_broken(s), sampled_count(s))));
	put_causes(s, out);
	if (s->mode == STACKS_WALL)
		put_states(s, out);
	if (sampled_mode(s->mode)->is_event)
		put_sum(s, out);
	if (m->lost)
		buf_printf(out, "  not counted: %s sample%s: %s\n", cli_number(n, m->lost),
			   plural(m->lost),
			   sampled_mode(s->mode)->is_event
				   ? "too many a second, or waits of virtual threads"
				   : "there was no room, or threads did not answer");
	if (m->note.n) {
		buf_text(out, "  ");
		client_show_line(out, m->note);
		buf_u8(out, '\n');
	}
}

/* ---- JSON ---------------------------------------------------------------------------------- */

static void json_lines(const struct hot_view *v, struct json *j, const char *key,
		       const struct ranked_line *lines, size_t n)
{
	json_put_open(j, key, '[');
	for (size_t i = 0; i < n; i++) {
		if (lines[i].of >= v->r->n)
			continue;
		json_open(j, '{');
		json_put_str(j, "name", v->r->v[lines[i].of].name);
		json_put_u64(j, "value", lines[i].value);
		json_close(j, '}');
	}
	json_close(j, ']');
}

static void json_function(const struct hot_view *v, struct json *j, size_t i)
{
	const struct ranked *f = &v->r->v[i];
	struct ranked_line lines[RANKING_LINES];
	size_t n;

	json_open(j, '{');
	json_put_str(j, "name", f->name);
	json_put_str(j, "file", f->file);
	json_put_u64(j, "self", f->self);
	json_put_u64(j, "count", f->count);
	json_put_u64(j, "total", f->total);
	json_put_double(j, "self_share", share(f->self, v->r->total));
	json_put_double(j, "total_share", share(f->total, v->r->total));
	json_put_open(j, "run_by", '{');
	for (unsigned k = 0; k < RANKING_KINDS; k++)
		if (f->by_kind[k])
			json_put_u64(j, sampled_kind_text(k), f->by_kind[k]);
	json_close(j, '}');
	n = ranking_callers(v->r, &v->s->profile, i, lines);
	json_lines(v, j, "callers", lines, n);
	n = ranking_callees(v->r, &v->s->profile, i, lines);
	json_lines(v, j, "callees", lines, n);
	json_close(j, '}');
}

static void json_states(const struct sampled *s, struct json *j)
{
	json_put_open(j, "states", '{');
	for (unsigned i = 0; i < STACK_STATES; i++)
		if (s->states[i])
			json_put_u64(j, sampled_state_text(i), s->states[i]);
	json_close(j, '}');
	json_put_u64(j, "left_out", s->left_out);
}

static void json_about(const struct sampled *s, struct json *j)
{
	json_put_u64(j, "pid", (uint64_t)s->pid);
	json_put_text(j, "mode", sampled_mode(s->mode)->name);
	json_put_text(j, "unit", s->mode == STACKS_CPU ? "samples" : sampled_mode(s->mode)->unit);
	json_put_str(j, "engine", s->state.engine);
	json_put_u64(j, "samples", sampled_count(s));
	json_put_u64(j, "total", s->profile.total);
	json_put_u64(j, "lost", s->state.lost);
	json_put_u64(j, "broken", sampled_broken(s));
	json_put_str(j, "note", s->state.note);
	json_put_u64(j, "period_ns", s->state.period_ns);
	json_put_u64(j, "wall_ns", s->state.wall_ns);
	json_put_u64(j, "cpu_ns", s->state.cpu_ns);
	json_put_u64(j, "own_ns", s->state.own_ns);
	json_put_u64(j, "threads", s->state.threads);
	if (s->mode == STACKS_WALL)
		json_states(s, j);
	json_put_open(j, "ends", '{');
	for (unsigned i = 0; i < WALK_ENDS; i++)
		if (s->ends[i])
			json_put_u64(j, walk_end_text((enum walk_end)i), s->ends[i]);
	json_close(j, '}');
}

void hot_json(const struct hot_view *v, struct buf *out)
{
	struct json j = json_to(out);

	json_open(&j, '{');
	json_about(v->s, &j);
	json_put_open(&j, "functions", '[');
	for (size_t i = 0; i < v->r->n && is_shown(v, i); i++)
		json_function(v, &j, i);
	json_close(&j, ']');
	json_close(&j, '}');
	buf_u8(out, '\n');
}
