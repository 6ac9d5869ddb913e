/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_tree.c - "sonde tree": which hooked method calls which, and where the time goes. */
#include <getopt.h>
#include <stddef.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/plural.h"
#include "cli/attach/target.h"
#include "cli/client/beside.h"
#include "cli/client/calibration.h"
#include "cli/client/client.h"
#include "cli/client/live.h"
#include "cli/report/states.h"
#include "cli/report/tree_rows.h"
#include "cli/run/recording.h"
#include "cli/screen/cli.h"
#include "cli/screen/figures.h"
#include "cli/screen/table.h"
#include "cli/screen/term.h"
#include "cli/verbs.h"

enum column {
	SHARE,
	BAR,
	TOTAL,
	SELF,
	CALLS,
	AVG,
	RUN, /* and what else states_cells() writes */
	BLOCKED,
	WAITING,
	DESCHEDULED,
	COLUMNS
};
_Static_assert(COLUMNS - RUN == STATES_CELLS, "a column for each");

static const struct table_column columns[COLUMNS] = {
	[SHARE] = { "share", 0, false, false },
	[BAR] = { "", 4, true, false },
	[TOTAL] = { "total", 0, false, false },
	[SELF] = { "self", 1, false, false },
	[CALLS] = { "calls", 2, false, false },
	[AVG] = { "avg", 3, false, false },
	[RUN] = { "cpu", 1, false, true },
	[BLOCKED] = { "blocked", 1, false, true },
	[WAITING] = { "waiting", 1, false, true },
	[DESCHEDULED] = { "descheduled", 2, false, true },
};

enum { NAME_WIDTH = 32, BAR_WIDTH = 8, INTERVAL_MS = 1000, DEEP = 10000, LEVEL = 3 };

struct view {
	struct call_tree tree;
	double least; /* share; negative: not given */
	uint64_t depth;
	bool json, wide, live, utf8;
	unsigned interval_ms;
	struct target target;
	struct client client;
	bool raw, looked, has_costs, recorded;
	uint64_t process; /* in a recording, 0: the only one */
	struct recording recording;
	struct costs costs;
};

/* ---- the picture ---- */

/* Blocks of eighths, or signs of ASCII. */
static const char *bar(const struct view *v, double share, char text[3 * BAR_WIDTH + 1])
{
	unsigned eighths = (unsigned)(fmin(share, 1) * BAR_WIDTH * 8 + 0.5);
	char *to = text;

	for (; v->utf8 && eighths >= 8 && to < text + 3 * BAR_WIDTH; eighths -= 8)
		to = stpcpy(to, "\342\226\210"); /* U+2588, a full block */
	if (v->utf8 && eighths > 0 && eighths < 8 && to < text + 3 * BAR_WIDTH) {
		char part[] = "\342\226\210";

		part[2] = (char)(part[2] + 8 - (int)eighths); /* U+258F to U+2589 */
		to = stpcpy(to, part);
	}
	for (; !v->utf8 && eighths >= 4 && to < text + BAR_WIDTH;
	     eighths -= eighths < 8 ? eighths : 8)
		*to++ = '#';
	if (to == text)
		*to++ = ' ';
	*to = '\0';
	return text;
}

static bool is_shown(const struct view *v, const struct call_node *n)
{
	return n->level < v->depth &&
	       (call_node_share(&v->tree, n) >= v->least || !v->tree.total_ns);
}

static void time_cell(struct table *t, double ns, bool bounded, bool known)
{
	char text[FIGURE_MAX];

	table_cell(t, !known ? "" : bounded ? figure_bound(text, ns) : figure_time(text, ns));
}

/* Of a call that runs still only that is known which it has called: "> 1.21 s"; of others perhaps no more
 * than a bound: "< 1.21 s". */
static void total_cell(struct table *t, const struct call_node *n)
{
	bool timed = n->m.timed > 0, bounded = call_node_is_bounded(n);
	char text[2 * FIGURE_MAX], time[FIGURE_MAX];

	if (n->least_ns > n->m.total_ns) {
		snprintf(text, sizeof(text), "> %s", figure_time(time, (double)n->least_ns));
		table_cell(t, text);
	} else {
		time_cell(t, bounded ? n->total.high : (double)n->m.total_ns, bounded, timed);
	}
}

static void add_row(const struct view *v, struct table *t, const struct call_node *n)
{
	const struct wire_node *m = &n->m;
	double share = call_node_share(&v->tree, n);
	char text[3 * BAR_WIDTH + FIGURE_MAX];
	bool timed = m->timed > 0, known = timed || n->least_ns;
	bool bounded = call_node_is_bounded(n), self_bounded = call_node_self_is_bounded(n);
	struct states states = call_node_states(n);

	table_cell(t, known ? figure_share(text, share) : "");
	table_cell(t, bar(v, share, text));
	total_cell(t, n);
	time_cell(t, self_bounded ? n->self.high : (double)m->self_ns, self_bounded, timed);
	table_cell(t, v->wide ? cli_number(text, m->calls) : figure_count(text, m->calls));
	time_cell(t, call_node_avg_ns(n), bounded, timed);
	states_cells(t, &states);
}

/* The next that is shown, at n or after it, in pre-order. */
static const struct call_node *shown_from(const struct view *v, const struct call_node *n)
{
	while (n && !is_shown(v, n))
		n = call_node_beside(&v->tree, n);
	return n;
}

static const struct call_node *next_shown(const struct view *v, const struct call_node *n)
{
	return shown_from(v, call_node_after(&v->tree, n));
}

static void add_rows(const struct view *v, struct table *t)
{
	for (const struct call_node *n = shown_from(v, v->tree.root.first); n; n = next_shown(v, n))
		add_row(v, t, n);
}

/* Before the children of one that has siblings behind it. */
static const char *const goes_on[2] = { "|  ", "\342\224\202  " };

struct picture {
	const struct view *v;
	const struct table *t;
	struct buf *out;
	size_t row;
	struct buf lines; /* what stands before a name: the lines of its ancestors */
};

/* The lines before a name.  Where they would take more than half of the room, the leftmost levels
 * are only counted: "+12|  `- ".  Gives the room that is left. */
static size_t put_lines(struct picture *p, size_t room)
{
	size_t width = method_name_width(buf_slice(&p->lines)), most = room / 2 / LEVEL * LEVEL,
	       skip = 0;
	char levels[24];
	int marked = 0;

	if (room != UINT_MAX && width > most && most >= 2 * LEVEL) {
		size_t cut = width - most + LEVEL; /* characters; one level's place is the mark's */

		marked = snprintf(levels, sizeof(levels), "+%-*zu", LEVEL - 1, cut / LEVEL);
		buf_text(p->out, levels);
		for (; cut; cut--) {
			do
				skip++;
			while (skip < p->lines.n && p->lines.p[skip] >> 6 == 2);
		}
		width = most - LEVEL + (size_t)marked;
	}
	if (p->lines.n > skip)
		buf_bytes(p->out, p->lines.p + skip, p->lines.n - skip);
	return room == UINT_MAX ? UINT_MAX : room - (width < room ? width : room);
}

/* Is it the last of its siblings that are shown? */
static bool is_last(const struct view *v, const struct call_node *n)
{
	do
		n = n->next;
	while (n && !is_shown(v, n));
	return !n;
}

/* What a budget has closed, as in `report`; or where 1/N makes something unknowable. */
static const char *mark_of(const struct call_node *n)
{
	if (n->m.flags & NODE_SHUT)
		return " (closed)";
	if (n->m.flags & NODE_FEWER)
		return " (closed for a while)";
	if (n->flags & TREE_RECURSIVE && n->m.timed)
		return " (recursive, 1/N)";
	return n->flags & TREE_OVERLAP && n->m.timed ? " (overlap, 1/N)" : "";
}

static size_t mark_room(const struct call_node *n, size_t room)
{
	size_t mark = strlen(mark_of(n));

	return room > mark + 20 ? mark : 0;
}

static void put_node(struct picture *p, const struct call_node *n, bool last)
{
	static const char *const ends[2][2] = {
		{ "|- ", "`- " }, { "\342\224\234\342\224\200 ", "\342\224\224\342\224\200 " }
	};
	bool is_root = n->level == 0;
	size_t before = p->lines.n, room;

	if (!is_root)
		buf_text(&p->lines, ends[p->v->utf8][last]);
	table_row(p->t, p->row++, p->out);
	room = put_lines(p, table_rest(p->t));
	if (n->m.flags & NODE_PRUNED)
		client_show_line(p->out, n->m.name);
	else if (room == UINT_MAX)
		method_name_put(p->out, &n->name, n->overloaded);
	else
		method_name_fit(p->out, &n->name, n->overloaded, room - mark_room(n, room));
	buf_text(p->out, mark_of(n));
	buf_u8(p->out, '\n');
	p->lines.n = before;
}

/* The lines before a node at this level: as many as it has ancestors that are no roots. */
static void cut_lines(struct picture *p, unsigned level)
{
	size_t at = 0;

	for (unsigned i = 1; i < level && at < p->lines.n; i++)
		at += p->lines.p[at] == ' ' || !p->v->utf8 ? LEVEL : strlen(goes_on[1]);
	p->lines.n = at;
}

static void put_nodes(struct picture *p)
{
	const struct view *v = p->v;

	for (const struct call_node *n = shown_from(v, v->tree.root.first); n;
	     n = next_shown(v, n)) {
		bool last = is_last(v, n);

		cut_lines(p, n->level);
		put_node(p, n, last);
		if (n->level)
			buf_text(&p->lines, last ? "   " : goes_on[v->utf8]);
	}
}

/* What is not there, and how much any one context may lack by that. */
static void put_bound(const struct call_tree *t, struct buf *out)
{
	char n[2 * FIGURE_MAX], calls[2 * FIGURE_MAX], time[FIGURE_MAX];
	double share = t->total_ns ? (double)t->bound_ns / (double)t->total_ns : 0;

	if (!t->pruned)
		return;
	buf_printf(out,
		   "%s that took little %s taken out, to stay within %g MiB: see (pruned).\n"
		   "What is shown of one context may be too little by %s (%.2g %%) and %s at "
		   "most; the agent's option memory=SIZE gives more room.\n",
		   figure_of(n, t->pruned, "context"), t->pruned == 1 ? "was" : "were",
		   (double)t->memory_limit / (1 << 20), figure_time(time, (double)t->bound_ns),
		   100 * share, figure_of(calls, t->bound_calls, "call"));
}

static void explain(struct view *v, struct buf *out)
{
	unsigned seen = 0, marks = 0;

	for (const struct call_node *n = shown_from(v, v->tree.root.first); n;
	     n = next_shown(v, n)) {
		seen |= n->m.timed ? n->flags : 0;
		marks |= n->m.flags;
	}
	if (marks & NODE_FEWER)
		buf_text(
			out,
			"(closed): to keep to the budget; there were more calls than are counted here, and the time of "
			"those is in self of who called them\n");
	if (seen & TREE_RECURSIVE)
		buf_text(
			out,
			"(recursive, 1/N): it calls itself, and only one call in N is timed: which calls are the "
			"outermost is not known; times there are bounds, and calls below may be of inner ones\n");
	if (seen & TREE_OVERLAP)
		buf_text(
			out,
			"(overlap, 1/N): only one call in N is timed: which of the calls below made others of them "
			"is not known; each is within the node, but their sum is not\n");
}

static void show_tree(struct view *v, struct buf *out, unsigned width)
{
	struct picture p = { .v = v, .out = out };
	struct table t;
	char n[32];

	table_init(&t, columns, COLUMNS);
	add_rows(v, &t);
	table_layout(&t, v->wide ? 0 : width, NAME_WIDTH);
	table_head(&t, out);
	buf_text(out, "method\n");
	p.t = &t;
	put_nodes(&p);
	if (p.row < v->tree.n)
		buf_printf(out, "%s more below %g %%%s\n", cli_number(n, v->tree.n - p.row),
			   100 * v->least, v->depth < DEEP ? ", or deeper" : "");
	if (v->tree.too_deep)
		buf_printf(out,
			   "%s more at %d calls in each other or deeper, which no agent tells\n",
			   cli_number(n, v->tree.too_deep), WIRE_DEPTH_MAX);
	explain(v, out);
	put_bound(&v->tree, out);
	table_release(&t);
	buf_release(&p.lines);
}

static void show(void *ctx, struct buf *out, unsigned width, unsigned rows)
{
	struct view *v = ctx;
	struct json j = json_to(out);

	if (v->json) {
		json_open(&j, '{');
		json_put_u64(&j, "pid", (uint64_t)(v->recorded ? v->recording.pid : v->client.pid));
		call_tree_json(&v->tree, &j, v->least, (unsigned)v->depth);
		json_close(&j, '}');
		buf_u8(out, '\n');
		return;
	}
	if (rows)
		buf_printf(out, "%d %s: %zu node%s.  q ends\n\n", (int)v->target.pid,
			   v->target.name, v->tree.n, plural(v->tree.n));
	show_tree(v, out, width);
	if (v->live && !rows)
		buf_u8(out, '\n');
}

/* ---- asking ---- */

static void arrange(struct view *v)
{
	enum calibration_missing missing = v->looked ? CALIBRATION_LEAVE : CALIBRATION_BACKGROUND;

	if (v->recorded && !v->raw && v->tree.n)
		v->has_costs = recording_costs(&v->recording, &v->costs);
	else if (!v->raw && !v->has_costs && v->tree.n)
		v->has_costs = calibration_for(v->client.welcome.jvm, v->client.pid, missing,
					       &v->costs) >= 0;
	v->looked = true;
	call_tree_compensate(&v->tree, v->has_costs ? &v->costs : NULL);
	call_tree_sort(&v->tree);
}

static int ask_again(void *ctx, char why[200])
{
	struct view *v = ctx;
	int status;

	call_tree_clear(&v->tree);
	wire_put_tree(&v->client.out, &(struct wire_tree){ 0 });
	status = live_ask(&v->client, call_tree_take, &v->tree, why);
	arrange(v);
	if (status == CLI_DONE && v->tree.err) {
		snprintf(why, 200, "%s", err_text(v->tree.err));
		status = CLI_CANNOT;
	}
	return status;
}

static int print_once(struct view *v)
{
	struct buf out = { 0 };
	int status = CLI_DONE;

	client_hang_up(&v->client); /* a calibration has a connection of its own */
	arrange(v);
	if (v->tree.n || v->json)
		show(v, &out, term_columns(), 0);
	if (v->tree.err)
		status = cli_cannot("%s", err_text(v->tree.err));
	else if (!cli_print(&out))
		status = CLI_CANNOT;
	buf_release(&out);
	if (status == CLI_DONE && !v->tree.n && v->recorded) {
		fputs("sonde: no hooked method was called when this was recorded\n", stderr);
		status = CLI_NO;
	} else if (status == CLI_DONE && !v->tree.n) {
		fprintf(stderr,
			"sonde: no hooked method of %d was called yet; 'sonde hooks %d' lists what "
			"is hooked\n",
			(int)v->client.pid, (int)v->client.pid);
		status = CLI_NO;
	}
	return status;
}

static int run(struct view *v, const char *text)
{
	const struct live live = { .interval_ms = v->interval_ms, .ask = ask_again, .show = show };
	int status = target_find(text, &v->target);

	if (status == CLI_DONE)
		status = client_open(&v->client, &v->target);
	if (status != CLI_DONE)
		return status;
	v->client.quiet = true;
	if (v->live) {
		status = live_run(&live, v);
	} else {
		wire_put_tree(&v->client.out, &(struct wire_tree){ 0 });
		status = client_ask(&v->client, call_tree_take, &v->tree);
		status = status == CLI_DONE ? print_once(v) : status;
		if (beside_is_there(&v->target))
			fprintf(stderr,
				"sonde: native functions are not in the tree: 'sonde report %d' has them\n",
				(int)v->target.pid);
	}
	client_close(&v->client);
	return status;
}

static int from_recording(struct view *v, const char *path)
{
	int status = recording_read(&v->recording, path, (pid_t)v->process);
	struct slice left = v->recording.frames, payload;
	unsigned type;
	long n;

	v->recorded = true;
	v->live = false;
	while (status == CLI_DONE && left.n && (n = wire_frame(left, &type, &payload)) > 0) {
		call_tree_take(&v->tree, type, payload);
		left = (struct slice){ left.p + n, left.n - (size_t)n };
	}
	if (status == CLI_DONE && left.n)
		status = cli_cannot("%s: damaged", path);
	if (status == CLI_DONE)
		status = print_once(v);
	recording_release(&v->recording);
	return status;
}

/* ---- options ---- */

static bool parse_number(const char *text, double low, double high, double *out)
{
	char *end;
	double v = strtod(text, &end);

	if (end == text || *end || !(v >= low && v <= high))
		return false;
	*out = v;
	return true;
}

static int set_option(void *self, const char *name, int which, const char *value)
{
	struct view *v = self;
	double n;

	if (which == 'm') {
		if (!parse_number(value, 0, 100, &n))
			return cli_usage(name, "--min wants percent, from 0 to 100, not '%s'",
					 value);
		v->least = n / 100;
		return CLI_DONE;
	}
	v->live = true;
	if (value && !parse_number(value, 0.1, 86400, &n))
		return cli_usage(name, "--live wants seconds, from 0.1 to 86400, not '%s'", value);
	v->interval_ms = value ? (unsigned)(n * 1000) : INTERVAL_MS;
	return CLI_DONE;
}

static const struct verb_option options[] = {
	{ "min", "PERCENT", OPTION_OWN, 'm',
	  .help = "leave out what is below this share (default 0.5; with --json 0)" },
	{ "depth", "N", OPTION_NUMBER, offsetof(struct view, depth), .help = "only N levels",
	  .low = 1, .high = DEEP },
	{ "raw", NULL, OPTION_FLAG, offsetof(struct view, raw),
	  .help = "times as measured: with what hooks cost in them" },
	{ "pid", "PID", OPTION_NUMBER, offsetof(struct view, process),
	  .help = "of a recording with several processes, this one", .low = 1, .high = INT32_MAX },
	{ "wide", NULL, OPTION_FLAG, offsetof(struct view, wide),
	  .help = "names and columns in full, however narrow the terminal is" },
	{ "live", "[SECONDS]", OPTION_OWN, 'l',
	  .help = "shown anew every second, until q or Ctrl-C is pressed" },
	{ "json", NULL, OPTION_FLAG, offsetof(struct view, json),
	  .help = "one JSON object, children within their parents; with --live one a line" },
};

const struct verb verb_tree = {
	.usage = "[OPTION]... [TARGET]",
	.about = "Shows which hooked method was called by which, over all threads, the most "
		 "expensive first: the share of all time, total, self (without the hooked calls "
		 "below), calls and the mean of a call. Methods that are not hooked are not "
		 "there: what they take is in self of the one above.",
	.options = options,
	.n = COUNT(options),
	.more = "TARGET is a pid, a main class or a jar, not needed when there is only one JVM; "
		"or a file that 'sonde run --record' wrote.",
	.status = "0 done, 1 no hooked method was called, 2 wrong usage, 3 could not.",
	.examples = "sonde tree 4711\n"
		    "sonde tree --min 5 --live shop.jar",
	.run = cmd_tree,
	.set = set_option,
};

int cmd_tree(int argc, char **argv)
{
	struct view v = { .least = -1, .depth = DEEP, .interval_ms = INTERVAL_MS, .client.fd = -1 };
	const char *target;
	int status;

	status = verb_parse_target(&verb_tree, argc, argv, &v, &target);
	if (status != CLI_GO_ON)
		return status;
	if (v.least < 0)
		v.least = v.json ? 0 : 0.005;
	v.wide |= !term_columns();
	v.utf8 = term_utf8();
	call_tree_init(&v.tree);
	if (target && recording_is(target))
		status = from_recording(&v, target);
	else
		status = run(&v, target);
	call_tree_release(&v.tree);
	return status;
}
