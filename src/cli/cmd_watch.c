/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_watch.c - "sonde watch": single calls of a method, with arguments, result and time.
 *
 * The hook is held: it leaves the program when this command ends, however it ends.  What is
 * shown of objects is written by the program's own threads (java/probe/java/util/SondeText.java);
 * here it is only laid out. */
#include <ctype.h>
#include <getopt.h>
#include <stddef.h>
#include <poll.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "cli/attach/target.h"
#include "cli/client/client.h"
#include "cli/client/method_arg.h"
#include "cli/client/visit.h"
#include "cli/screen/cli.h"
#include "cli/screen/figures.h"
#include "cli/screen/layout.h"
#include "cli/screen/method_name.h"
#include "cli/screen/secrets.h"
#include "cli/screen/term.h"
#include "cli/verbs.h"

enum { LAST_MS = 500, PLAIN_WIDTH = 100, LABEL = 10 };

enum part { THIS = 1, ARGS = 2, RESULT = 4, THROWN = 8 };

struct watching {
	bool json, open_secrets, yes, wait;
	char **words; /* METHODS and clauses */
	int n_words;
	unsigned parts; /* that are wanted */
	uint64_t limit, depth, at_least_ns, for_ns;
	struct buf rule, redact;
	struct target target;
	struct client client;
	uint64_t seen, dropped_before, dropped;
	struct buf out, text;
};

/* ---- a call ---- */

/* The thread's name in Java; the one that the kernel has is cut, and "java" for main. */
static struct slice thread_of(const struct wire_call *m)
{
	struct slice facts = m->facts, key, value;

	while (wire_fact(&facts, &key, &value))
		if (slice_is(key, "thread"))
			return value;
	return m->thread;
}

static enum part part_of(struct slice key)
{
	return slice_is(key, "this")				     ? THIS
	       : slice_is(key, "args")				     ? ARGS
	       : slice_is(key, "result")			     ? RESULT
	       : slice_is(key, "thrown") || slice_is(key, "message") ? THROWN
								     : 0;
}

static bool is_wanted(const struct watching *w, struct slice key, const struct method_name *name)
{
	enum part part = part_of(key);

	if ((part == RESULT && method_name_is_void(name)) || slice_is(key, "thread"))
		return false;
	return part == 0 ? w->parts == (THIS | ARGS | RESULT | THROWN) : (w->parts & part) != 0;
}

/* "14:03:12.123" */
static void put_time(struct buf *out, uint64_t when_ns)
{
	time_t seconds = (time_t)(when_ns / 1000000000);
	struct tm tm = { 0 };

	localtime_r(&seconds, &tm);
	buf_printf(out, "%02d:%02d:%02d.%03u", tm.tm_hour, tm.tm_min, tm.tm_sec,
		   (unsigned)(when_ns / 1000000 % 1000));
}

/* Only what does no harm to a terminal, as UTF-8. */
static struct slice harmless(struct watching *w, struct slice text)
{
	buf_clear(&w->text);
	client_show(&w->text, text);
	return buf_slice(&w->text);
}

/* ... on one line. */
static struct slice harmless_line(struct watching *w, struct slice text)
{
	buf_clear(&w->text);
	client_show_line(&w->text, text);
	return buf_slice(&w->text);
}

static void put_labelled(struct watching *w, const char *label, struct slice value)
{
	unsigned width = term_columns();

	buf_printf(&w->out, "  %-*s", LABEL - 2, label);
	layout_put(&w->out, value, LABEL, width ? width : PLAIN_WIDTH);
}

static void put_fact(struct watching *w, struct slice key, struct slice value)
{
	char label[24];
	struct slice rest, one;
	unsigned n = 1;

	if (!slice_is(key, "args")) {
		struct slice shown = harmless_line(w, key);

		snprintf(label, sizeof(label), "%.*s", shown.n < 20 ? (int)shown.n : 20,
			 (const char *)shown.p);
		put_labelled(w, label, harmless_line(w, value));
		return;
	}
	rest = layout_inside(harmless_line(w, value));
	while (layout_next(&rest, &one)) {
		snprintf(label, sizeof(label), "$%u", n++);
		put_labelled(w, label, one);
	}
}

static void show_text(struct watching *w, const struct wire_call *m)
{
	struct method_name name;
	struct slice facts = m->facts, key, value;
	char took[FIGURE_MAX];

	method_name_split(m->name, &name);
	put_time(&w->out, m->when_ns);
	buf_printf(&w->out, "  %.*s  %s%s  ", SLICE_FMT(harmless_line(w, thread_of(m))),
		   figure_time(took, (double)m->elapsed_ns), m->thrown ? "  thrown" : "");
	method_name_put(&w->out, &name, true);
	buf_u8(&w->out, '\n');
	while (wire_fact(&facts, &key, &value))
		if (is_wanted(w, key, &name))
			put_fact(w, key, value);
	buf_u8(&w->out, '\n');
}

static void json_args(struct watching *w, struct json *j, struct slice value)
{
	struct slice rest = layout_inside(harmless(w, value)), one;

	json_put_open(j, "args", '[');
	while (layout_next(&rest, &one))
		json_str(j, one);
	json_close(j, ']');
}

static void json_key_of(struct json *j, struct slice key)
{
	char name[64];

	snprintf(name, sizeof(name), "%.*s", key.n < 60 ? (int)key.n : 60, (const char *)key.p);
	json_key(j, name);
}

static void show_json(struct watching *w, const struct wire_call *m)
{
	struct json j = json_to(&w->out);
	struct slice facts = m->facts, key, value;
	struct method_name name;

	method_name_split(m->name, &name);
	json_open(&j, '{');
	json_put_u64(&j, "when_ns", m->when_ns);
	json_put_str(&j, "thread", harmless(w, thread_of(m)));
	json_put_u64(&j, "tid", m->tid);
	json_put_u64(&j, "elapsed_ns", m->elapsed_ns);
	json_put_str(&j, "method", m->name);
	json_put_bool(&j, "error", m->thrown != 0);
	while (wire_fact(&facts, &key, &value)) {
		if (!is_wanted(w, key, &name))
			continue;
		if (part_of(key) == ARGS) {
			json_args(w, &j, value);
			continue;
		}
		json_key_of(&j, key);
		json_str(&j, harmless(w, value));
	}
	json_close(&j, '}');
	buf_u8(&w->out, '\n');
}

static void tell_left(struct watching *w, const struct wire_left *m)
{
	char n[32];

	fprintf(stderr, "sonde: left alone: %s, ", cli_number(n, m->count));
	fprintf(stderr, "%.*s\n", SLICE_FMT(harmless_line(w, m->reason)));
}

static bool take_row(void *ctx, unsigned type, struct slice payload)
{
	struct watching *w = ctx;
	struct wire_status status;
	struct wire_left left;
	struct wire_call call;

	if (type == WIRE_status && wire_get_status(payload, &status) == 0)
		w->dropped = status.calls_dropped - w->dropped_before;
	if (type == WIRE_left && wire_get_left(payload, &left) == 0)
		tell_left(w, &left);
	if (type != WIRE_call || wire_get_call(payload, &call) < 0)
		return true;
	w->seen++;
	if (w->json)
		show_json(w, &call);
	else
		show_text(w, &call);
	return cli_print(&w->out) && fflush(stdout) == 0;
}

/* ---- the connection ---- */

static bool take_first_status(void *ctx, unsigned type, struct slice payload)
{
	struct watching *w = ctx;
	struct wire_status status;

	if (type == WIRE_status && wire_get_status(payload, &status) == 0)
		w->dropped_before = status.calls_dropped;
	return true;
}

/* One more question on the same connection, also after Ctrl-C: how many were dropped? */
static void ask_dropped(struct watching *w)
{
	uint64_t end = clock_steady_ns() + LAST_MS * 1000000ull;
	struct slice payload;
	unsigned type = 0;
	int rc = 0;

	wire_put_ask_status(&w->client.out, &(struct wire_ask_status){ 0 });
	if (client_send(&w->client) != CLI_DONE)
		return;
	while (rc >= 0 && type != WIRE_status && clock_steady_ns() < end) {
		rc = client_next(&w->client, 0, &type, &payload);
		if (rc == 0)
			poll(NULL, 0, 10);
		else if (rc > 0 && type == WIRE_status)
			take_row(w, type, payload);
	}
}

static int summary(const struct watching *w)
{
	char seen[32], dropped[32];

	if (w->seen)
		fprintf(stderr, "%s call%s shown", cli_number(seen, w->seen),
			w->seen == 1 ? "" : "s");
	else
		fputs("no such call was seen", stderr);
	if (w->dropped)
		fprintf(stderr, ", %s more came too fast to be shown",
			cli_number(dropped, w->dropped));
	fputc('\n', stderr);
	return w->seen ? CLI_DONE : CLI_NO;
}

static int show_calls(struct watching *w)
{
	struct client_flow flow = { .for_ns = w->for_ns,
				    .waiting = "a call",
				    .seen = &w->seen,
				    .row = take_row,
				    .ctx = w };
	struct wire_done done;
	struct slice text;
	char gone[80];

	switch (client_listen(&w->client, &flow, &done)) {
	case CLIENT_GONE:
		if (w->seen)
			summary(w);
		return cli_cannot("%s", client_gone(&w->client, gone));
	case CLIENT_UNREAD:
		return CLI_CANNOT;
	case CLIENT_DONE:
		if (done.status == CLI_DONE)
			break;
		text = harmless(w, done.text);
		fprintf(stderr, "sonde: %.*s\n", SLICE_FMT(text));
		return (int)done.status;
	case CLIENT_ENOUGH:
		break;
	}
	ask_dropped(w);
	return summary(w);
}

/* METHODS, and the clauses behind them, as a rule. */
static int make_rule(struct watching *w)
{
	struct buf words = { 0 };
	int status;

	for (int i = 0; i < w->n_words; i++)
		buf_printf(&words, "%s%s", i ? " " : "", w->words[i]);
	buf_u8(&words, 0);
	if (words.err)
		return cli_no_memory();
	buf_text(&w->rule, "hook ");
	status = method_arg_resolve_rule(&w->client, (const char *)words.p,
					 w->wait ? METHOD_RULE : METHOD_NOW, &w->rule);
	buf_text(&w->rule, " template catch-all full\n");
	buf_release(&words);
	return status == CLI_DONE && w->rule.err ? cli_no_memory() : status;
}

static int run(struct watching *w, const char *target)
{
	int status = target_find(target, &w->target);
	struct visit visit = { 0 };

	if (w->redact.err)
		return cli_no_memory();
	if (status == CLI_DONE)
		status = visit_begin(&visit, &w->client, &w->target);
	if (status != CLI_DONE)
		return status;
	w->client.quiet = true;
	status = make_rule(w);
	if (status != CLI_DONE)
		goto done;
	visit_will_hook(&visit);
	wire_put_ask_status(&w->client.out, &(struct wire_ask_status){ 0 });
	status = client_ask(&w->client, take_first_status, w);
	if (status == CLI_DONE) {
		wire_put_watch(&w->client.out,
			       &(struct wire_watch){ .rules = buf_slice(&w->rule),
						     .limit = w->limit,
						     .at_least_ns = w->at_least_ns,
						     .depth = (uint32_t)w->depth,
						     .redact = buf_slice(&w->redact),
						     .flags = (w->yes ? HOOK_YES : 0) |
							      (w->wait ? 0 : HOOK_LOADED) });
		status = client_send(&w->client);
	}
	if (status == CLI_DONE)
		status = show_calls(w);
done:
	visit_end(&visit, &w->client);
	return status;
}

/* ---- what was asked for ---- */

static bool is_clause(const char *word)
{
	return strncmp(word, "if ", 3) == 0 || strcmp(word, "if") == 0 ||
	       strncmp(word, "inside ", 7) == 0 || strcmp(word, "inside") == 0 ||
	       strcmp(word, "directly") == 0;
}

static void add_redact(struct watching *w, const char *names)
{
	if (w->redact.n)
		buf_u8(&w->redact, ',');
	for (; *names; names++)
		if (*names != ' ')
			buf_u8(&w->redact, (unsigned)tolower((unsigned char)*names));
}

static bool parse_parts(const char *text, unsigned *parts)
{
	struct slice list = slice_str(text), one;

	*parts = 0;
	while (layout_next(&list, &one)) {
		enum part part = slice_is(one, "message") ? 0 : part_of(one);

		if (!part)
			return false;
		*parts |= part;
	}
	return *parts != 0;
}

static int set_option(void *self, const char *name, int which, const char *value)
{
	struct watching *w = self;

	if (which == 'r')
		add_redact(w, value);
	else if (!parse_parts(value, &w->parts))
		return cli_usage(name, "--only wants some of this, args, result, thrown; not '%s'",
				 value);
	return CLI_DONE;
}

static const struct verb_option options[] = {
	{ "n", "N", OPTION_NUMBER, offsetof(struct watching, limit),
	  .help = "end after N calls (default 10; 0: no limit)" },
	{ "x", "DEPTH", OPTION_NUMBER, offsetof(struct watching, depth),
	  .help = "levels of objects in objects to show, 1 to 5 (default 2)", .low = 1, .high = 5 },
	{ "slower", "TIME", OPTION_TIME, offsetof(struct watching, at_least_ns),
	  .help = "only calls that took at least this long: 10ms, 1.5s" },
	{ "for", "TIME", OPTION_TIME, offsetof(struct watching, for_ns),
	  .help = "end after this time", .low = 1 },
	{ "only", "PARTS", OPTION_OWN, 'o',
	  .help = "only these of this, args, result, thrown (commas between them)" },
	{ "redact", "NAME,...", OPTION_OWN, 'r',
	  .help = "do not show what has NAME in its name, beside the usual secrets" },
	{ "no-redact", NULL, OPTION_FLAG, offsetof(struct watching, open_secrets),
	  .help = "show secrets, too: passwords, tokens, keys, cookies ..." },
	{ "wait", NULL, OPTION_FLAG, offsetof(struct watching, wait),
	  .help = "METHODS may be of classes that are loaded later" },
	{ "yes", NULL, OPTION_FLAG, offsetof(struct watching, yes),
	  .help = "also when METHODS are very many" },
	{ "json", NULL, OPTION_FLAG, offsetof(struct watching, json),
	  .help = "one JSON object for each call, a line each" },
};

const struct verb verb_watch = {
	.usage = "[OPTION]... [TARGET] METHODS",
	.about = "Prints calls of the methods as they end: when, in which thread, how long, this, "
		 "arguments ($1, $2 ...), result or exception. The hook is there only while the "
		 "command runs.",
	.options = options,
	.n = COUNT(options),
	.more = "TARGET is a pid, a main class or a jar; not needed when there is only one JVM. "
		"METHODS are those of a rule: com.shop.Cart::checkout (or "
		"com.shop.Cart.checkout), 'com.shop.**::save*', 'implements "
		"java.sql.Driver::connect'; of one that is loaded the packages can be left out: "
		"Cart::checkout. Behind them the clauses of a rule say which calls: inside, if "
		"(docs/rules.md).",
	.status = "0 calls were seen, 1 none was, 2 wrong usage, 3 could not.",
	.examples =
		"sonde watch 4711 com.shop.Cart::checkout\n"
		"sonde watch -n 3 -x 3 --slower 200ms shop.jar 'com.shop.**::*'\n"
		"sonde watch 4711 Inventory::adjust 'if $2 == \"GIFT\" inside **.Cart::checkout'\n"
		"sonde watch --json -n 0 --for 1m 4711 com.shop.Inventory::adjust >calls.json",
	.run = cmd_watch,
	.set = set_option,
};

static int parse(struct watching *w, int argc, char **argv)
{
	int status = verb_parse(&verb_watch, argc, argv, w);

	if (status == CLI_GO_ON && optind == argc)
		return cli_usage(argv[0], "which methods?");
	return status;
}

int cmd_watch(int argc, char **argv)
{
	struct watching w = { .limit = 10, .depth = 2, .parts = THIS | ARGS | RESULT | THROWN };
	bool has_target;
	int status = parse(&w, argc, argv);

	if (status == CLI_GO_ON) {
		has_target = argc - optind > 1 && !is_clause(argv[optind + 1]);
		if (!w.open_secrets)
			add_redact(&w, SECRETS_USUAL);
		w.words = argv + optind + has_target;
		w.n_words = argc - optind - has_target;
		status = run(&w, has_target ? argv[optind] : NULL);
	}
	buf_release(&w.rule);
	buf_release(&w.redact);
	buf_release(&w.out);
	buf_release(&w.text);
	return status;
}
