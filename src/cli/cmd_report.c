/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_report.c - "sonde report": what the hooked methods of a running program cost.
 *
 * On a terminal the table is shown anew every second; in a pipe it is printed once. */
#include <getopt.h>
#include <stddef.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/plural.h"
#include "cli/attach/target.h"
#include "cli/client/beside.h"
#include "cli/client/calibration.h"
#include "cli/client/client.h"
#include "cli/client/live.h"
#include "cli/client/memory.h"
#include "cli/report/bare.h"
#include "cli/report/jvm_vitals.h"
#include "cli/report/report_rows.h"
#include "cli/report/report_table.h"
#include "cli/run/recording.h"
#include "cli/screen/cli.h"
#include "cli/screen/figures.h"
#include "cli/screen/progress.h"
#include "cli/screen/term.h"
#include "cli/verbs.h"

enum { INTERVAL_MS = 1000, IN_PLACE_S = 10, BARE_S = 10, TYPES_S = 3, TYPES_PAUSE_MS = 100 };

struct seen { /* of a method, the time before: to tell the rate */
	uint32_t id;
	uint64_t calls;
};

struct view {
	struct report report;
	enum report_order order;
	const char *filter;
	struct report_table table;
	bool json, once, live, reset;
	unsigned interval_ms;
	struct target target;
	struct client client;
	struct beside beside; /* open: of a JVM with hooked native functions */
	struct report native; /* what it tells */
	uint64_t hooked;      /* methods before the filter */
	uint64_t asked;	      /* when, in ns */
	struct seen *seen;
	size_t n_seen;
	struct recording recording;
	bool recorded;
	uint64_t process;     /* in a recording, 0: the only one */
	pid_t pid;	      /* 0: it is a file */
	bool raw;	      /* without compensation */
	uint64_t in_place_ns; /* 0: no */
	uint64_t bare_ns;     /* 0: no */
	bool exact;
	struct bare bare;
	uint64_t types_ns; /* 0: no */
	bool no_memory;
	bool has_costs;
	struct costs costs;
	uint64_t looked; /* for costs, when, in ns */
};

/* ---- the figures ---- */

static void show_table(struct view *v, struct buf *out)
{
	v->table.has_costs = v->has_costs;
	v->table.pid = v->pid;
	v->table.bare = v->bare_ns ? &v->bare : NULL;
	v->table.sequences = v->types_ns != 0;
	v->table.all_by = true;
	report_table_print(&v->table, &v->report, out);
}

static void show_json(struct view *v, struct buf *out)
{
	struct json j = json_to(out);
	struct jvm_vitals vitals;

	json_open(&j, '{');
	if (v->pid || v->recording.pid)
		json_put_u64(&j, "pid", (uint64_t)(v->pid ? v->pid : v->recording.pid));
	if (v->table.top && v->report.n > v->table.top)
		v->report.n = (size_t)v->table.top;
	report_json(&v->report, &j);
	if (v->bare_ns)
		bare_json(&v->bare, &j);
	json_key(&j, "jvm");
	if (v->pid && jvm_vitals_read(v->pid, &vitals) >= 0)
		jvm_vitals_json(&vitals, &j);
	else
		json_null(&j);
	json_close(&j, '}');
	buf_u8(out, '\n');
}

/* ---- asking ---- */

/* The agent tells the rate since the hook came; a view that is shown again and again tells the one
 * since the last time. */
static void tell_rates(struct view *v)
{
	struct report *r = &v->report;
	uint64_t now = clock_steady_ns();
	double seconds = (double)(now - v->asked) / 1e9;
	struct seen *seen = mem_alloc((r->n + 1) * sizeof(*seen));
	size_t k = 0;

	for (size_t i = 0; i < r->n && v->asked; i++) { /* both are in the order of ids */
		struct wire_method *m = &r->all[i]->m;

		while (k < v->n_seen && v->seen[k].id < m->id)
			k++;
		if (k < v->n_seen && v->seen[k].id == m->id && m->calls >= v->seen[k].calls)
			m->rate = (double)(m->calls - v->seen[k].calls) / seconds;
	}
	for (size_t i = 0; i < r->n && seen; i++)
		seen[i] = (struct seen){ r->all[i]->m.id, r->all[i]->m.calls };
	mem_free(v->seen);
	v->seen = seen;
	v->n_seen = seen ? r->n : 0;
	v->asked = now;
}

/* Looks for a calibration, in a live view once a while. */
static void find_costs(struct view *v)
{
	bool first = !v->looked;
	struct slice jvm = v->pid ? v->client.welcome.jvm : v->report.calibration.jvm;

	if (v->raw || v->has_costs || !v->report.n || clock_steady_ns() - v->looked < 2000000000u)
		return;
	v->looked = clock_steady_ns();
	if (v->recorded) {
		v->has_costs = recording_costs(&v->recording, &v->costs);
		return;
	}
	v->has_costs = calibration_for(jvm, v->pid,
				       first ? CALIBRATION_BACKGROUND : CALIBRATION_LEAVE,
				       &v->costs) >= 0;
}

/* Before others are added: costs are those of hooks in Java. */
static void arrange(struct view *v)
{
	find_costs(v);
	report_compensate(&v->report, v->has_costs ? &v->costs : NULL);
	report_compensate(&v->native, NULL);
	report_add_native(&v->report, &v->native);
	if (v->native.err && !v->report.err)
		v->report.err = v->native.err;
	v->hooked = v->report.n;
	if (v->filter)
		report_filter(&v->report, v->filter);
	report_sort(&v->report, v->order);
}

static void put_request(struct client *c)
{
	wire_put_report(&c->out, &(struct wire_report){ REPORT_TREE | REPORT_PARTLY });
}

/* An agent beside that has left meanwhile has no hooks. */
static void ask_native_again(struct view *v)
{
	char why[200];

	report_clear(&v->native);
	if (!v->beside.is_open)
		return;
	put_request(&v->beside.client);
	if (live_ask(&v->beside.client, report_take, &v->native, why) != CLI_DONE)
		report_clear(&v->native);
}

static int ask_again(void *ctx, char why[200])
{
	struct view *v = ctx;
	int status;

	report_clear(&v->report);
	put_request(&v->client);
	status = live_ask(&v->client, report_take, &v->report, why);
	ask_native_again(v);
	if (status == CLI_DONE && v->report.err) {
		snprintf(why, 200, "%s", err_text(v->report.err));
		status = CLI_CANNOT;
	}
	tell_rates(v);
	arrange(v);
	return status;
}

static void show_again(void *ctx, struct buf *out, unsigned width, unsigned rows)
{
	struct view *v = ctx;
	char n[2 * FIGURE_MAX];

	if (v->json) {
		show_json(v, out);
		return;
	}
	if (rows)
		buf_printf(out, "%d %.*s: %s, by %s (q ends, s sorts, r resets)\n\n",
			   (int)v->target.pid, width > 80 ? (int)width - 60 : 20, v->target.name,
			   figure_of(n, v->hooked, "method"), report_order_name(v->order));
	v->table.width = width;
	v->table.rows = rows;
	show_table(v, out);
	if (!rows)
		buf_u8(out, '\n');
}

static int reset(struct view *v)
{
	char why[200] = "";
	int status;

	wire_put_reset(&v->client.out, &(struct wire_reset){ 0 });
	status = live_ask(&v->client, report_take, &v->report, why);
	if (status == CLI_DONE && v->beside.is_open) {
		wire_put_reset(&v->beside.client.out, &(struct wire_reset){ 0 });
		status = live_ask(&v->beside.client, report_take, &v->native, why);
	}
	v->asked = 0;
	return status == CLI_DONE ? status : cli_cannot("%s", why);
}

static bool key(void *ctx, int pressed)
{
	struct view *v = ctx;

	if (pressed == 's') {
		v->order = (enum report_order)((v->order + 1) % REPORT_ORDERS);
		report_sort(&v->report, v->order);
	} else if (pressed == 'r') {
		reset(v);
	}
	return true;
}

static int run_live(struct view *v)
{
	const struct live live = {
		.interval_ms = v->interval_ms, .ask = ask_again, .show = show_again, .key = key
	};
	int status = v->reset ? reset(v) : CLI_DONE;

	return status == CLI_DONE ? live_run(&live, v) : status;
}

static const char *example_of(const struct view *v)
{
	return slice_is(v->client.welcome.jvm, "native") ? "libz.so.1::*" : "com.shop.**::*";
}

/* What to say when there is nothing to show. */
static int nothing(const struct view *v)
{
	if (v->hooked)
		fprintf(stderr, "sonde: none of the %llu hooked method%s matches '%s'\n",
			(unsigned long long)v->hooked, plural(v->hooked), v->filter);
	else if (v->pid)
		fprintf(stderr,
			"sonde: no method of %d is hooked; 'sonde hook %d RULE' hooks some, such as "
			"'%s timed'\n",
			(int)v->pid, (int)v->pid, example_of(v));
	else
		fputs("sonde: no method was hooked when this was recorded\n", stderr);
	if (!v->hooked && v->report.has_status && v->report.status.notes.n) {
		struct buf notes = { 0 };

		client_show(&notes, v->report.status.notes);
		fprintf(stderr, "The agent notes:\n%.*s", SLICE_FMT(buf_slice(&notes)));
		buf_release(&notes);
	}
	return CLI_NO;
}

static int print_once(struct view *v)
{
	struct buf out = { 0 };
	int status = CLI_DONE;

	arrange(v);
	if (v->json)
		show_json(v, &out);
	else if (v->report.n)
		show_table(v, &out);
	if (v->report.err)
		status = cli_cannot("%s", err_text(v->report.err));
	else if (!cli_print(&out))
		status = CLI_CANNOT;
	else if (!v->report.n)
		status = nothing(v);
	buf_release(&out);
	return status;
}

/* What --exact is going to do, before it does it. */
static void announce(const struct view *v)
{
	char least[FIGURE_MAX];

	fprintf(stderr,
		"sonde: measuring exactly, for at least %s: methods one at a time, then with all hooks taken "
		"out and put back, three times.\n"
		"The JVM compiles what was hooked anew each time, and the program is slower meanwhile; calls "
		"made while hooks are closed are not counted.  Ctrl-C ends it and puts everything back.\n",
		figure_time(least, (double)v->in_place_ns + 5 * (double)v->bare_ns));
}

/* Until it is over; when this process dies, the agent puts everything back. */
static int measure_in_place(struct view *v)
{
	wire_put_in_place(&v->client.out, &(struct wire_in_place){ .for_ns = v->in_place_ns });
	v->client.quiet = !isatty(STDERR_FILENO);
	return client_ask(&v->client, report_take, &v->report);
}

/* The figures are those of before. */
static int measure_bare(struct view *v)
{
	const struct bare_ask ask = { .client = &v->client,
				      .target = &v->target,
				      .for_ns = v->bare_ns,
				      .in_place_ns = v->in_place_ns,
				      .report = &v->report };
	int status = bare_measure(&ask, &v->bare);

	if (status == CLI_NO)
		fputs("sonde: no hooked method is called between 200 and 100,000 times a second, by "
		      "which the program's speed could be seen\n",
		      stderr);
	return status == CLI_NO ? CLI_DONE : status;
}

/* Each time that it is asked the agent watches for a moment, in which all calls are timed; in
 * between the program runs as before. */
static int look_at_types(struct view *v)
{
	uint64_t begin = clock_steady_ns(), spent = 0;
	struct progress progress;
	int status;

	v->report.with_sequences = true;
	v->client.quiet = true;
	progress_start(&progress, "types");
	for (;;) {
		v->report.n_sequences = 0;
		wire_put_types(&v->client.out, &(struct wire_types){ 0 });
		status = client_ask(&v->client, report_take, &v->report);
		spent = clock_steady_ns() - begin;
		if (status != CLI_DONE || spent >= v->types_ns)
			break;
		progress_step(&progress, (double)spent / (double)v->types_ns, 0);
		usleep(TYPES_PAUSE_MS * 1000);
	}
	progress_clear(&progress);
	return status;
}

/* How long methods take becomes part of their past, which dig compares with.  One look in ten
 * minutes counts: the figures of a later one have most of the same calls. */
static void remember(const struct view *v)
{
	struct memory m;

	memory_open(&m, v->client.welcome.app, v->client.pid);
	for (size_t i = 0; m.usable && i < v->report.n; i++) {
		const struct report_method *r = v->report.all[i];
		struct known_run run = { .when = m.when,
					 .calls = (double)r->m.timed,
					 .mean = report_avg_ns(r),
					 .p50 = (double)r->m.p50_ns,
					 .p99 = (double)r->m.p99_ns };

		if (!r->native && !(r->m.flags & (METHOD_PARTLY | METHOD_ANCHOR | METHOD_GONE)) &&
		    !known_is_broken(known_past_of(&m.known, r->m.name), &run))
			known_set_run(&m.known, r->m.name, &run, 600);
	}
	m.quiet = true;
	if (m.known.past && m.known.past->runs[m.known.past->n - 1].when == m.when)
		(void)memory_keep(&m, NULL);
	memory_release(&m);
}

static int ask_native(struct view *v)
{
	int status = beside_find(&v->beside, &v->target);

	if (status != CLI_DONE || !v->beside.is_open)
		return status;
	v->beside.client.quiet = true;
	put_request(&v->beside.client);
	return client_ask(&v->beside.client, report_take, &v->native);
}

static int from_program(struct view *v, const char *text)
{
	int status = target_find(text, &v->target);

	if (status == CLI_DONE)
		status = client_open(&v->client, &v->target);
	if (status != CLI_DONE)
		return status;
	v->table.exact = v->in_place_ns != 0;
	if (v->exact)
		announce(v);
	if (v->in_place_ns)
		status = measure_in_place(v);
	if (status == CLI_DONE && v->types_ns)
		status = look_at_types(v);
	if (status != CLI_DONE) {
		client_close(&v->client);
		return status;
	}
	v->client.quiet = true;
	v->report.n_sequences = 0; /* told again */
	put_request(&v->client);
	status = client_ask(&v->client, report_take, &v->report);
	v->pid = v->client.pid;
	if (status == CLI_DONE && v->bare_ns && v->report.n)
		status = measure_bare(v);
	if (status == CLI_DONE)
		status = ask_native(v);
	if (status == CLI_DONE && v->live && v->report.n + v->native.n) {
		status = run_live(v);
	} else if (status == CLI_DONE) {
		if (v->reset)
			status = reset(v);
		client_hang_up(&v->client); /* a calibration has a connection of its own */
		status = status == CLI_DONE ? print_once(v) : status;
		if (status == CLI_DONE && !v->no_memory)
			remember(v);
	}
	beside_end(&v->beside, true);
	client_close(&v->client);
	return status;
}

static int from_recording(struct view *v, const char *path)
{
	int status = recording_read(&v->recording, path, (pid_t)v->process);

	v->recorded = true;
	if (status == CLI_DONE)
		status = report_take_frames(&v->report, v->recording.frames, path);
	if (status == CLI_DONE)
		status = print_once(v);
	recording_release(&v->recording);
	return status;
}

static bool is_file(const char *text)
{
	struct stat st;

	return text && stat(text, &st) == 0 && S_ISREG(st.st_mode) && !strstr(text, ".jar");
}

/* ---- options ---- */

static bool parse_order(const char *text, enum report_order *order)
{
	for (int i = 0; i < REPORT_ORDERS; i++)
		if (strcmp(text, report_order_name((enum report_order)i)) == 0)
			return *order = (enum report_order)i, true;
	return false;
}

static bool parse_seconds(const char *text, uint64_t *ns)
{
	char *end;
	double seconds = strtod(text, &end);

	if (end == text || *end || !(seconds >= 1 && seconds <= 3600))
		return false;
	*ns = (uint64_t)(seconds * 1e9);
	return true;
}

static bool parse_interval(const char *text, unsigned *interval_ms)
{
	char *end;
	double seconds = strtod(text, &end);

	if (end == text || *end || !(seconds >= 0.1 && seconds <= 86400))
		return false;
	*interval_ms = (unsigned)(seconds * 1000);
	return true;
}

static int set_option(void *self, const char *name, int which, const char *value)
{
	struct view *v = self;

	switch (which) {
	case 's':
		if (!parse_order(value, &v->order))
			return cli_usage(name,
					 "--sort wants total, self, calls, avg, max or errors, "
					 "not '%s'",
					 value);
		break;
	case 'l':
		v->live = true;
		if (value && !parse_interval(value, &v->interval_ms))
			return cli_usage(name, "--live wants seconds, from 0.1 to 86400, not '%s'",
					 value);
		break;
	case 'i':
		v->in_place_ns = IN_PLACE_S * 1000000000ull;
		if (value && !parse_seconds(value, &v->in_place_ns))
			return cli_usage(name, "--in-place wants seconds, from 1 to 3600, not '%s'",
					 value);
		break;
	case 'e':
		v->exact = true;
		v->in_place_ns = v->bare_ns = IN_PLACE_S * 1000000000ull;
		if (value && !parse_seconds(value, &v->in_place_ns))
			return cli_usage(name, "--exact wants seconds, from 1 to 3600, not '%s'",
					 value);
		break;
	case 'b':
		v->bare_ns = BARE_S * 1000000000ull;
		if (value && !parse_seconds(value, &v->bare_ns))
			return cli_usage(name, "--bare wants seconds, from 1 to 3600, not '%s'",
					 value);
		break;
	default:
		v->types_ns = TYPES_S * 1000000000ull;
		v->once = true;
		if (value && !parse_seconds(value, &v->types_ns))
			return cli_usage(name, "--types wants seconds, from 1 to 3600, not '%s'",
					 value);
	}
	return CLI_DONE;
}

static const struct verb_option options[] = {
	{ "top", "N", OPTION_NUMBER, offsetof(struct view, table.top),
	  .help = "only the first N methods", .low = 1, .high = INT32_MAX },
	{ "sort", "COLUMN", OPTION_OWN, 's',
	  .help = "total (default), self, calls, avg, max or errors" },
	{ "filter", "PATTERN", OPTION_TEXT, offsetof(struct view, filter),
	  .help = "only methods with this in their name, or, with * or ?, of this name: Cart, "
		  "'com.shop.*', 'com.shop.Cart::add*'" },
	{ "all", NULL, OPTION_FLAG, offsetof(struct view, table.all),
	  .help = "also methods that were not called" },
	{ "wide", NULL, OPTION_FLAG, offsetof(struct view, table.wide),
	  .help = "names and columns in full, however narrow the terminal is" },
	{ "once", NULL, OPTION_FLAG, offsetof(struct view, once),
	  .help = "print it once, on a terminal, too" },
	{ "live", "[SECONDS]", OPTION_OWN, 'l',
	  .help = "again and again, in a pipe, too; every second if not said otherwise" },
	{ "raw", NULL, OPTION_FLAG, offsetof(struct view, raw),
	  .help = "figures as measured: with what hooks cost in them" },
	{ "exact", "[SECONDS]", OPTION_OWN, 'e',
	  .help = "measure what hooks hide, with both of the next two: the total of each method is then that "
		  "of calls during which no other hook was open; takes some two minutes, longer with more "
		  "SECONDS (10), and the program is slower while the JVM compiles it anew" },
	{ "in-place", "[SECONDS]", OPTION_OWN, 'i',
	  .help = "first measure methods while all other hooks are closed, in windows that take "
		  "turns, for 10 seconds if not said otherwise" },
	{ "bare", "[SECONDS]", OPTION_OWN, 'b',
	  .help = "also take out all hooks but a few that count, for so long (10), to see how fast the "
		  "program is without; takes longer, since the JVM compiles it anew, twice, and where "
		  "the seconds differ it counts up to four times as long" },
	{ "types", "[SECONDS]", OPTION_OWN, 'T',
	  .help = "also what methods are run by (interpreter, C1, C2), and how short times between "
		  "hooked events are by such types; looks for 3 seconds if not said otherwise" },
	{ "no-memory", NULL, OPTION_FLAG, offsetof(struct view, no_memory),
	  .help = "do not keep how long methods take, for 'sonde dig' to compare with" },
	{ "reset", NULL, OPTION_FLAG, offsetof(struct view, reset),
	  .help = "let all figures count from now: after printing, or before a live view" },
	{ "pid", "PID", OPTION_NUMBER, offsetof(struct view, process),
	  .help = "of a recording with several processes, this one", .low = 1, .high = INT32_MAX },
	{ "json", NULL, OPTION_FLAG, offsetof(struct view, json),
	  .help = "one JSON object; with --live one a line" },
};

const struct verb verb_report = {
	.usage = "[OPTION]... [TARGET]",
	.about = "Shows what the hooked methods of a running program cost: calls, errors, times, "
		 "how many calls run now. On a terminal the table is shown anew every second, "
		 "until q or Ctrl-C is pressed (s: sort by the next column, r: count from now); "
		 "in a pipe it is printed once.",
	.options = options,
	.n = COUNT(options),
	.more = "TARGET is a pid, a main class or a jar, not needed when there is only one JVM; "
		"or a file that was recorded. Times are those without the hooks: what hooks cost "
		"is subtracted, by a calibration (see 'sonde calibrate') that is made in the "
		"background when it is missing. The total lies within its margin; '<' means that "
		"only an upper bound is known. The column raw is as measured.",
	.status = "0 done, 1 no method is hooked (or none matches), 2 wrong usage, 3 could not.",
	.examples = "sonde report 4711\n"
		    "sonde report --sort self --top 20 shop.jar | less\n"
		    "sonde report --json 4711 | jq '.methods[] | select(.errors > 0)'",
	.run = cmd_report,
	.set = set_option,
};

int cmd_report(int argc, char **argv)
{
	struct view v = { .interval_ms = INTERVAL_MS, .client.fd = -1 };
	const char *text;
	int status;

	status = verb_parse_target(&verb_report, argc, argv, &v, &text);
	if (status != CLI_GO_ON)
		return status;
	if (v.once && v.live)
		return cli_usage(argv[0], "--once and --live exclude each other");
	v.live |= term_is() && !v.json && !v.once;
	v.table.width = term_columns();
	v.table.wide |= !v.table.width;
	v.table.utf8 = term_utf8();
	report_init(&v.report);
	report_init(&v.native);
	if (is_file(text) && recording_is(text)) {
		v.live = false;
		status = from_recording(&v, text);
	} else if (is_file(text)) {
		v.live = false;
		status = report_read_file(&v.report, text);
		status = status == CLI_DONE ? print_once(&v) : status;
	} else {
		status = from_program(&v, text);
	}
	report_release(&v.report);
	report_release(&v.native);
	mem_free(v.seen);
	return status;
}
