/* SPDX-License-Identifier: Apache-2.0 */
/* trace_draw.c - a transaction in the terminal: time goes to the right, calls go down.
 *
 *	|0 ns                           5.21 ms                        10.4 ms|
 *	main
 *	[handle--------------------------------------------------------------]
 *	 [load-------][?price--------------][save----------------------------]
 *	pool-1-thread-1  queued 1.02 ms, from Shop.load
 *	      ...[fetch-------------]
 *
 * A call that is narrower than a column shares it with others: such a column is '#'.  Each depth is
 * one line; deeper ones than ROWS_MAX are counted. */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/mem.h"
#include "base/plural.h"
#include "base/whole.h"
#include "cli/client/client.h"
#include "cli/report/trace_show.h"
#include "cli/screen/cli.h"
#include "cli/screen/figures.h"
#include "cli/screen/method_name.h"

enum { ROWS_MAX = 40, WIDTH_MIN = 40, WIDTH_MAX = 1000 };

struct canvas {
	struct buf *out;
	const struct trace_set *set;
	const struct trace_tx *tx;
	unsigned width;
	uint64_t end_ns;
	char *row; /* width + 1 */
};

static unsigned column(const struct canvas *c, uint64_t ns)
{
	uint64_t at = c->end_ns ? whole_of((double)ns / (double)c->end_ns * c->width) : 0;

	return at >= c->width ? c->width - 1 : (unsigned)at;
}

/* "checkout" of com.shop.Cart.checkout(...). */
static struct slice short_name(const struct trace_set *s, uint32_t id)
{
	struct method_name name;

	method_name_split(slice_str(trace_set_name(s, id).text), &name);
	return name.name;
}

static void put_name(struct buf *out, const struct trace_set *s, uint32_t id)
{
	struct method_name name;

	method_name_split(slice_str(trace_set_name(s, id).text), &name);
	method_name_put(out, &name, false);
}

/* Only what a terminal takes for one column. */
static char plain(uint8_t c)
{
	return c >= ' ' && c < 0x7f ? (char)c : '?';
}

static void put_label(struct canvas *c, unsigned from, unsigned to, const struct trace_call *call)
{
	struct slice name = short_name(c->set, call->id);
	unsigned at = from;

	if (call->flags & CALL_THREW && at < to)
		c->row[at++] = '!';
	if (trace_set_name(c->set, call->id).flags & NAME_CONDITIONAL && at < to)
		c->row[at++] = '?';
	for (size_t i = 0; i < name.n && at < to; i++)
		c->row[at++] = plain(name.p[i]);
}

static void put_call(struct canvas *c, const struct trace_call *call)
{
	unsigned from = column(c, call->begin_ns);
	unsigned to = column(c, whole_add(call->begin_ns, call->elapsed_ns));

	if (from == to) {
		c->row[from] = c->row[from] == ' ' ? '|' : '#';
		return;
	}
	if (c->row[from] != ' ' && from + 1 < to)
		from++; /* the one before ends here */
	memset(c->row + from, '-', to - from + 1);
	c->row[from] = '[';
	c->row[to] = call->flags & CALL_RUNS ? '>' : ']';
	put_label(c, from + 1, to, call);
}

static void put_row(struct canvas *c)
{
	size_t n = c->width;

	while (n > 0 && c->row[n - 1] == ' ')
		n--;
	buf_bytes(c->out, c->row, n);
	buf_u8(c->out, '\n');
}

static void put_part(struct canvas *c, const struct trace_part *p)
{
	uint32_t deepest = 0;

	for (size_t i = p->first; i < p->first + p->n; i++)
		if (trace_call_at(c->tx, i)->depth > deepest)
			deepest = trace_call_at(c->tx, i)->depth;
	for (uint32_t depth = 0; depth <= deepest && depth < ROWS_MAX; depth++) {
		memset(c->row, ' ', c->width);
		if (depth == 0 && p->begin_ns > p->submitted_ns)
			memset(c->row + column(c, p->submitted_ns), '.',
			       column(c, p->begin_ns) - column(c, p->submitted_ns) + 1);
		if (depth == 0 && !p->n)
			c->row[column(c, p->begin_ns)] = '|';
		if (depth == 0 && p->begin_ns > p->submitted_ns && p->n)
			c->row[column(c, p->begin_ns)] = ' ';
		for (size_t i = p->first; i < p->first + p->n; i++)
			if (trace_call_at(c->tx, i)->depth == depth &&
			    !(trace_call_at(c->tx, i)->flags & CALL_UNMET))
				put_call(c, trace_call_at(c->tx, i));
		put_row(c);
	}
	if (deepest >= ROWS_MAX)
		buf_printf(c->out, "... %u more level%s\n", deepest - ROWS_MAX + 1,
			   plural(deepest - ROWS_MAX + 1));
}

static void put_head(struct canvas *c, const struct trace_part *p)
{
	const struct trace_part *from = trace_set_part_named(c->tx, p->from);
	char queued[FIGURE_MAX], ran[FIGURE_MAX];

	client_show_line(c->out, slice_str(p->thread[0] ? p->thread : "(never begun)"));
	if (p->from == p->part) {
		buf_u8(c->out, '\n');
		return;
	}
	if (p->flags & PART_NEVER_BEGUN)
		buf_text(c->out, "  was not begun yet");
	else
		buf_printf(c->out, "  queued %s, %s %s",
			   figure_time(queued, (double)(p->begin_ns - p->submitted_ns)),
			   p->flags & TX_OPEN ? "still ran after" : "ran",
			   figure_time(ran, (double)(p->end_ns - p->begin_ns)));
	if (from && p->call && p->call <= from->n) {
		buf_text(c->out, ", handed over by ");
		put_name(c->out, c->set, trace_call_at(c->tx, from->first + p->call - 1)->id);
	}
	if (from && from->from != from->part) {
		buf_text(c->out, " in ");
		client_show_line(c->out, slice_str(from->thread));
	}
	buf_u8(c->out, '\n');
}

static void put_scale(struct canvas *c)
{
	char text[FIGURE_MAX];
	size_t n;

	memset(c->row, ' ', c->width);
	for (unsigned i = 0; i <= 4; i++) {
		unsigned at = i == 4 ? c->width - 1 : c->width * i / 4;

		figure_time(text, (double)c->end_ns * i / 4);
		n = strlen(text);
		c->row[at] = '|';
		if (i == 4)
			memcpy(c->row + at - n, text, n);
		else if (at + 1 + n < c->width)
			memcpy(c->row + at + 1, text, n);
	}
	put_row(c);
}

void trace_draw(struct buf *out, const struct trace_set *s, const struct trace_tx *t,
		unsigned width)
{
	struct canvas c = { .out = out, .set = s, .tx = t, .end_ns = trace_set_end_ns(t) };

	c.width = width < WIDTH_MIN ? WIDTH_MIN : width > WIDTH_MAX ? WIDTH_MAX : width;
	c.row = mem_alloc(c.width + 1);
	if (!c.row) {
		out->err = E_NO_MEMORY;
		return;
	}
	put_scale(&c);
	for (size_t i = 0; i < trace_parts(t); i++) {
		put_head(&c, trace_part_at(t, i));
		put_part(&c, trace_part_at(t, i));
	}
	mem_free(c.row);
}

/* ---- a line ------------------------------------------------------------------------------- */

static void put_when(struct buf *out, uint64_t when_ns)
{
	time_t seconds = (time_t)(when_ns / 1000000000);
	struct tm tm = { 0 };

	localtime_r(&seconds, &tm);
	buf_printf(out, "%02d:%02d:%02d.%03u", tm.tm_hour, tm.tm_min, tm.tm_sec,
		   (unsigned)(when_ns / 1000000 % 1000));
}

void trace_draw_line(struct buf *out, const struct trace_set *s, const struct trace_tx *t)
{
	const struct trace_part *first = trace_parts(t) ? trace_part_at(t, 0) : NULL;
	char took[FIGURE_MAX], n[32];
	size_t errors = 0;

	for (size_t i = 0; i < trace_calls(t); i++)
		errors += (trace_call_at(t, i)->flags & CALL_THREW) != 0;
	buf_printf(out, "#%-3llu ", (unsigned long long)t->number);
	put_when(out, t->when_ns);
	buf_printf(out, "  %9s  ", figure_time(took, (double)t->elapsed_ns));
	put_name(out, s, t->root);
	buf_text(out, "  ");
	client_show_line(out, slice_str(first ? first->thread : "?"));
	buf_printf(out, "  %s call%s", cli_number(n, trace_calls(t)), plural(trace_calls(t)));
	if (trace_parts(t) > 1)
		buf_printf(out, " in %zu part%s", trace_parts(t), plural(trace_parts(t)));
	if (errors)
		buf_printf(out, ", %s thrown", cli_number(n, errors));
	if (t->flags & TX_FAILED)
		buf_text(out, ", failed");
	else if (t->flags & TX_SLOW)
		buf_text(out, ", slow");
	if (t->flags & TX_LOST)
		buf_text(out, ", its end was lost");
	if (t->flags & TX_OPEN)
		buf_text(out, ", not all parts had ended");
	if (t->missed)
		buf_printf(out, ", cut: %s call%s missing", cli_number(n, t->missed),
			   t->missed == 1 ? " is" : "s are");
	if (t->data[0]) {
		buf_text(out, "  ");
		client_show_line(out, slice_str(t->data));
	}
	buf_u8(out, '\n');
}
