/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_watch.c - "sonde watch": single calls of a method, with arguments, result and time.
 *
 * The hook is held: it leaves the program when this command ends, however it ends.  What is
 * shown of objects is written by the program's own threads (java/probe/java/util/SondeText.java);
 * here it is only laid out. */
#include <ctype.h>
#include <getopt.h>
#include <poll.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/client.h"
#include "cli/figures.h"
#include "cli/layout.h"
#include "cli/method_name.h"
#include "cli/progress.h"
#include "cli/target.h"
#include "cli/visit.h"
#include "cli/term.h"

int cmd_watch(int argc, char **argv);

static const char help[] =
	"usage: sonde watch [OPTION]... [TARGET] METHODS\n"
	"\n"
	"Prints calls of the methods as they end: when, in which thread, how long, this, arguments ($1,\n"
	"$2 ...), result or exception.  The hook is there only while the command runs.\n"
	"\n"
	"  -n N               end after N calls (default 10; 0: no limit)\n"
	"  -x DEPTH           levels of objects in objects to show, 1 to 5 (default 2)\n"
	"  --slower TIME      only calls that took at least this long: 10ms, 1.5s\n"
	"  --for TIME         end after this time\n"
	"  --only PARTS       of this, args, result, thrown only these (commas between them)\n"
	"  --redact NAME,...  do not show what has NAME in its name, beside the usual secrets\n"
	"  --no-redact        show secrets, too: passwords, tokens, keys, cookies ...\n"
	"  --yes              also when METHODS are very many\n"
	"  --json             one JSON object for each call, a line each\n"
	"  --help             this text\n"
	"\n"
	"TARGET is a pid, a main class or a jar; not needed when there is only one JVM.  METHODS are those\n"
	"of a rule: com.shop.Cart::checkout (or com.shop.Cart.checkout), 'com.shop.**::save*',\n"
	"'implements java.sql.Driver::connect'.  'if' and 'inside' of a rule are not decided by the agent\n"
	"yet, and refused here.\n"
	"\n"
	"Exit status: 0 calls were seen, 1 none was, 2 wrong usage, 3 could not.\n"
	"\n"
	"Examples:\n"
	"  sonde watch 4711 com.shop.Cart::checkout\n"
	"  sonde watch -n 3 -x 3 --slower 200ms shop.jar 'com.shop.**::*'\n"
	"  sonde watch --json -n 0 --for 1m 4711 com.shop.Inventory::adjust >calls.json\n";

/* As SondeText has them; sent, since another version of it may be in the program. */
static const char secrets[] =
	"password,passwd,passphrase,pwd,secret,token,authorization,credential,apikey,api_key,api-key,"
	"accesskey,access_key,privatekey,private_key,cookie,sessionid,session_id,pin,ssn,creditcard,"
	"credit_card,cardnumber,card_number,cvv,cvc,iban";

enum { LAST_MS = 500, PLAIN_WIDTH = 100, LABEL = 10 };

enum part { THIS = 1, ARGS = 2, RESULT = 4, THROWN = 8 };

struct watch {
	bool json, open_secrets, yes;
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

static bool is_wanted(const struct watch *w, struct slice key, const struct method_name *name)
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
static struct slice harmless(struct watch *w, struct slice text)
{
	buf_clear(&w->text);
	client_show(&w->text, text);
	return buf_slice(&w->text);
}

static void put_labelled(struct watch *w, const char *label, struct slice value)
{
	unsigned width = term_columns();

	buf_printf(&w->out, "  %-*s", LABEL - 2, label);
	layout_put(&w->out, value, LABEL, width ? width : PLAIN_WIDTH);
}

static void put_fact(struct watch *w, struct slice key, struct slice value)
{
	char label[24];
	struct slice rest, one;
	unsigned n = 1;

	value = harmless(w, value);
	if (!slice_is(key, "args")) {
		snprintf(label, sizeof(label), "%.*s", key.n < 20 ? (int)key.n : 20,
			 (const char *)key.p);
		put_labelled(w, label, value);
		return;
	}
	rest = layout_inside(value);
	while (layout_next(&rest, &one)) {
		snprintf(label, sizeof(label), "$%u", n++);
		put_labelled(w, label, one);
	}
}

static void show_text(struct watch *w, const struct wire_call *m)
{
	struct method_name name;
	struct slice facts = m->facts, key, value;
	char took[FIGURE_MAX];

	method_name_split(m->name, &name);
	put_time(&w->out, m->when_ns);
	buf_printf(&w->out, "  %.*s  %s%s  ", SLICE_FMT(harmless(w, thread_of(m))),
		   figure_time(took, (double)m->elapsed_ns), m->thrown ? "  thrown" : "");
	method_name_put(&w->out, &name, true);
	buf_u8(&w->out, '\n');
	while (wire_fact(&facts, &key, &value))
		if (is_wanted(w, key, &name))
			put_fact(w, key, value);
	buf_u8(&w->out, '\n');
}

static void json_args(struct watch *w, struct json *j, struct slice value)
{
	struct slice rest = layout_inside(harmless(w, value)), one;

	json_key(j, "args");
	json_open(j, '[');
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

static void show_json(struct watch *w, const struct wire_call *m)
{
	struct json j = json_to(&w->out);
	struct slice facts = m->facts, key, value;
	struct method_name name;

	method_name_split(m->name, &name);
	json_open(&j, '{');
	cli_json_count(&j, "when_ns", m->when_ns);
	json_key(&j, "thread");
	json_str(&j, harmless(w, thread_of(m)));
	cli_json_count(&j, "tid", m->tid);
	cli_json_count(&j, "elapsed_ns", m->elapsed_ns);
	json_key(&j, "method");
	json_str(&j, m->name);
	json_key(&j, "error");
	json_bool(&j, m->thrown != 0);
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

static void tell_left(struct watch *w, const struct wire_left *m)
{
	char n[32];

	fprintf(stderr, "sonde: left alone: %s, ", cli_number(n, m->count));
	fprintf(stderr, "%.*s\n", SLICE_FMT(harmless(w, m->reason)));
}

static bool take_row(void *ctx, unsigned type, struct slice payload)
{
	struct watch *w = ctx;
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
	struct watch *w = ctx;
	struct wire_status status;

	if (type == WIRE_status && wire_get_status(payload, &status) == 0)
		w->dropped_before = status.calls_dropped;
	return true;
}

/* One more question on the same connection, also after Ctrl-C: how many were dropped? */
static void ask_dropped(struct watch *w)
{
	uint64_t end = clock_ns() + LAST_MS * 1000000ull;
	struct slice payload;
	unsigned type = 0;
	int rc = 0;

	wire_put_ask_status(&w->client.out, &(struct wire_ask_status){ 0 });
	if (client_send(&w->client) != CLI_DONE)
		return;
	while (rc >= 0 && type != WIRE_status && clock_ns() < end) {
		rc = client_next(&w->client, 0, &type, &payload);
		if (rc == 0)
			poll(NULL, 0, 10);
		else if (rc > 0 && type == WIRE_status)
			take_row(w, type, payload);
	}
}

static int summary(const struct watch *w)
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

static int show_calls(struct watch *w)
{
	struct client_flow flow = { w->for_ns, "a call", &w->seen, take_row, w };
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

static int run(struct watch *w, const char *target)
{
	int status = target_find(target, &w->target);
	struct visit visit = { 0 };

	if (w->rule.err || w->redact.err)
		return cli_cannot("out of memory");
	if (status == CLI_DONE)
		status = visit_begin(&visit, &w->client, &w->target);
	if (status != CLI_DONE)
		return status;
	w->client.quiet = true;
	wire_put_ask_status(&w->client.out, &(struct wire_ask_status){ 0 });
	status = client_ask(&w->client, take_first_status, w);
	if (status == CLI_DONE) {
		wire_put_watch(&w->client.out,
			       &(struct wire_watch){ .rules = buf_slice(&w->rule),
						     .limit = w->limit,
						     .at_least_ns = w->at_least_ns,
						     .depth = (uint32_t)w->depth,
						     .redact = buf_slice(&w->redact),
						     .flags = w->yes ? HOOK_YES : 0 });
		status = client_send(&w->client);
	}
	if (status == CLI_DONE)
		status = show_calls(w);
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

/* The agent leaves methods alone whose rule has a condition, until it can decide it. */
static int refuse_clauses(char **words, int n)
{
	for (int i = 1; i < n; i++)
		if (is_clause(words[i]))
			return cli_cannot("'if' and 'inside' are not decided by this agent yet; "
					  "watch without them, with --slower if that helps");
	return CLI_DONE;
}

/* com.shop.Cart.checkout as com.shop.Cart::checkout; patterns and parameters stay. */
static void put_methods(struct buf *out, const char *text)
{
	size_t name = strcspn(text, "( "), dot = name;

	while (dot > 0 && text[dot - 1] != '.')
		dot--;
	if (strstr(text, "::") || dot < 2 || text[dot - 2] == '.' || text[name] == ' ')
		buf_text(out, text);
	else
		buf_printf(out, "%.*s::%s", (int)dot - 1, text, text + dot);
}

/* words: METHODS, and the clauses behind them. */
static void make_rule(struct watch *w, char **words, int n)
{
	buf_text(&w->rule, "hook ");
	put_methods(&w->rule, words[0]);
	for (int i = 1; i < n; i++) {
		buf_u8(&w->rule, ' ');
		buf_text(&w->rule, words[i]);
	}
	buf_text(&w->rule, " template catch-all full\n");
}

static void add_redact(struct watch *w, const char *names)
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

static int set_option(struct watch *w, const char *name, int opt)
{
	switch (opt) {
	case 'n':
		if (!cli_parse_number(optarg, 0, INT64_MAX, &w->limit))
			return cli_usage(name, "-n wants a number of calls, not '%s'", optarg);
		break;
	case 'x':
		if (!cli_parse_number(optarg, 1, 5, &w->depth))
			return cli_usage(name, "-x wants a depth from 1 to 5, not '%s'", optarg);
		break;
	case 's':
		if (!figure_parse_time(optarg, &w->at_least_ns))
			return cli_usage(name, "--slower wants a time such as 10ms, not '%s'",
					 optarg);
		break;
	case 'f':
		if (!figure_parse_time(optarg, &w->for_ns) || !w->for_ns)
			return cli_usage(name, "--for wants a time such as 30s, not '%s'", optarg);
		break;
	case 'o':
		if (!parse_parts(optarg, &w->parts))
			return cli_usage(
				name, "--only wants some of this, args, result, thrown; not '%s'",
				optarg);
		break;
	case 'r':
		add_redact(w, optarg);
		break;
	default:
		w->json |= opt == 'j';
		w->open_secrets |= opt == 'R';
		w->yes |= opt == 'y';
	}
	return CLI_DONE;
}

static int parse(struct watch *w, int argc, char **argv)
{
	static const struct option options[] = {
		{ "slower", required_argument, NULL, 's' },
		{ "for", required_argument, NULL, 'f' },
		{ "only", required_argument, NULL, 'o' },
		{ "redact", required_argument, NULL, 'r' },
		{ "no-redact", no_argument, NULL, 'R' },
		{ "json", no_argument, NULL, 'j' },
		{ "yes", no_argument, NULL, 'y' },
		{ "help", no_argument, NULL, 'h' },
		{ 0 },
	};
	int opt, status;

	cli_begin_options();
	while ((opt = getopt_long(argc, argv, "n:x:h", options, NULL)) != -1) {
		if (opt == 'h')
			return fputs(help, stdout), -1;
		if (opt == '?')
			return CLI_USAGE;
		status = set_option(w, argv[0], opt);
		if (status != CLI_DONE)
			return status;
	}
	if (optind == argc)
		return cli_usage(argv[0], "which methods?");
	return CLI_DONE;
}

int cmd_watch(int argc, char **argv)
{
	struct watch w = { .limit = 10, .depth = 2, .parts = THIS | ARGS | RESULT | THROWN };
	char **words;
	bool has_target;
	int status = parse(&w, argc, argv);

	if (status == CLI_DONE) {
		has_target = argc - optind > 1 && !is_clause(argv[optind + 1]);
		if (!w.open_secrets)
			add_redact(&w, secrets);
		words = argv + optind + has_target;
		make_rule(&w, words, argc - optind - has_target);
		status = refuse_clauses(words, argc - optind - has_target);
		if (status == CLI_DONE)
			status = run(&w, has_target ? argv[optind] : NULL);
	} else if (status < 0) {
		status = CLI_DONE; /* help */
	}
	buf_release(&w.rule);
	buf_release(&w.redact);
	buf_release(&w.out);
	buf_release(&w.text);
	return status;
}
