/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_trace.c - "sonde trace": whole transactions, drawn as time by depth.
 *
 * The agent keeps the slow, the failed and one in N of the others; they are listed as they come,
 * and at the end the longest is drawn, or all are written as a page.  What was hooked for it leaves
 * the program when this command ends, however it ends. */
#include <fcntl.h>
#include <getopt.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/attach/target.h"
#include "cli/client/client.h"
#include "cli/client/method_arg.h"
#include "cli/client/visit.h"
#include "cli/report/trace_show.h"
#include "cli/screen/cli.h"
#include "cli/screen/figures.h"
#include "cli/screen/private.h"
#include "cli/screen/progress.h"
#include "cli/screen/term.h"
#include "cli/verbs.h"

enum { PLAIN_WIDTH = 100 };

struct trace {
	bool json, yes, wait;
	const char *root; /* as it was written, or NULL */
	uint64_t limit, for_ns, at_least_ns, one_in, draw;
	const char *file;
	struct buf wanted;	/* of --hook as they were written, each with a NUL behind it */
	struct buf roots, more; /* rules */
	struct target target;
	struct client client;
	struct trace_set set;
	struct buf out;
	uint64_t seen;
};

/* ---- at the end --------------------------------------------------------------------------- */

static const struct trace_tx *to_draw(const struct trace *t)
{
	if (t->draw == UINT64_MAX)
		return trace_set_longest(&t->set);
	for (size_t i = 0; i < trace_set_n(&t->set); i++)
		if (trace_set_at(&t->set, i)->number == t->draw)
			return trace_set_at(&t->set, i);
	return NULL;
}

static int draw(struct trace *t)
{
	const struct trace_tx *tx = t->json ? NULL : to_draw(t);
	unsigned width = term_columns();

	if (!tx)
		return CLI_DONE;
	buf_u8(&t->out, '\n');
	trace_draw_line(&t->out, &t->set, tx);
	trace_draw(&t->out, &t->set, tx, width ? width : PLAIN_WIDTH);
	return cli_print(&t->out) ? CLI_DONE : CLI_CANNOT;
}

static int write_page(struct trace *t)
{
	char count[2 * FIGURE_MAX];
	size_t at = 0;
	ssize_t n = 1;
	int fd;

	if (!t->file)
		return CLI_DONE;
	trace_page(&t->out, &t->set);
	if (t->out.err)
		return cli_no_memory();
	fd = private_open(t->file);
	while (fd >= 0 && at < t->out.n && (n = write(fd, t->out.p + at, t->out.n - at)) > 0)
		at += (size_t)n;
	if (fd < 0 || n <= 0 || close(fd) < 0)
		return cli_cannot("%s: %m", t->file);
	buf_clear(&t->out);
	fprintf(stderr, "%s: %s; open it in a browser\n", t->file,
		figure_of(count, trace_set_n(&t->set), "transaction"));
	return CLI_DONE;
}

static int finish(struct trace *t)
{
	const struct wire_trace_counts *c = &t->set.counts;
	char a[32], b[32], shown[2 * FIGURE_MAX];
	int status = draw(t);

	if (status == CLI_DONE && t->seen)
		status = write_page(t);
	if (t->seen)
		fprintf(stderr, "%s shown", figure_of(shown, t->seen, "transaction"));
	else
		fputs("no transaction was kept", stderr);
	if (c->begun)
		fprintf(stderr, " of %s that began", cli_number(a, c->begun));
	if (c->failed)
		fprintf(stderr, ", %s failed", cli_number(a, c->failed));
	if (c->passed)
		fprintf(stderr, ", %s were only counted: memory was used up",
			cli_number(b, c->passed));
	if (c->missed)
		fprintf(stderr, ", %s came too fast to be shown", cli_number(b, c->missed));
	fputc('\n', stderr);
	if (!t->seen && c->begun)
		fputs("sonde: --sample 1 shows all, --at-least 0.001ms most of them\n", stderr);
	if (status != CLI_DONE)
		return status;
	return t->seen ? CLI_DONE : CLI_NO;
}

/* ---- the connection ----------------------------------------------------------------------- */

static bool take(void *ctx, unsigned type, struct slice payload)
{
	struct trace *t = ctx;
	const struct trace_tx *tx = trace_set_take(&t->set, type, payload);

	if (!tx)
		return true;
	t->seen++;
	if (t->json)
		trace_page_json(&t->out, &t->set, tx);
	else
		trace_draw_line(&t->out, &t->set, tx);
	return cli_print(&t->out) && fflush(stdout) == 0;
}

static int show_all(struct trace *t)
{
	struct client_flow flow = { .for_ns = t->for_ns,
				    .waiting = "transactions",
				    .seen = &t->seen,
				    .row = take,
				    .ctx = t };
	struct wire_done done;
	char gone[80];

	switch (client_listen(&t->client, &flow, &done)) {
	case CLIENT_GONE:
		if (t->seen)
			finish(t);
		return cli_cannot("%s", client_gone(&t->client, gone));
	case CLIENT_UNREAD:
		return CLI_CANNOT;
	case CLIENT_DONE:
		if (done.status == CLI_DONE)
			break;
		buf_clear(&t->out);
		client_show(&t->out, done.text);
		fprintf(stderr, "sonde: %.*s\n", (int)t->out.n, (const char *)t->out.p);
		return (int)done.status;
	case CLIENT_ENOUGH:
		break;
	}
	return finish(t);
}

/* A rule, with "hook" before it unless it has a word of its own. */
static int add_rule(struct trace *t, const char *text, struct buf *out)
{
	int status;

	if (strncmp(text, "hook ", 5) != 0 && strncmp(text, "capture ", 8) != 0 &&
	    strncmp(text, "skip ", 5) != 0)
		buf_text(out, "hook ");
	status = method_arg_resolve_rule(&t->client, text, t->wait ? METHOD_RULE : METHOD_NOW, out);
	buf_u8(out, '\n');
	return status;
}

static int make_rules(struct trace *t)
{
	int status = CLI_DONE;

	if (t->root) {
		buf_text(&t->roots, strncmp(t->root, "hook ", 5) == 0 ? "" : "hook ");
		status = method_arg_resolve(&t->client, t->root, t->wait ? METHOD_RULE : METHOD_NOW,
					    &t->roots);
		buf_u8(&t->roots, '\n');
	}
	for (size_t at = 0; at < t->wanted.n && status == CLI_DONE;
	     at += strlen((const char *)t->wanted.p + at) + 1)
		status = add_rule(t, (const char *)t->wanted.p + at, &t->more);
	if (status == CLI_DONE && (t->roots.err || t->more.err))
		return cli_no_memory();
	return status;
}

static int run(struct trace *t, const char *target)
{
	int status = target_find(target, &t->target);
	struct visit visit = { 0 };

	if (t->wanted.err)
		return cli_no_memory();
	if (status == CLI_DONE)
		status = visit_begin(&visit, &t->client, &t->target);
	if (status != CLI_DONE)
		return status;
	status = make_rules(t);
	if (status != CLI_DONE)
		goto done;
	visit_will_hook(&visit);
	wire_put_trace(&t->client.out, &(struct wire_trace){ .rules = buf_slice(&t->roots),
							     .limit = t->limit,
							     .at_least_ns = t->at_least_ns,
							     .one_in = (uint32_t)t->one_in,
							     .flags = (t->yes ? HOOK_YES : 0) |
								      (t->wait ? 0 : HOOK_LOADED),
							     .more = buf_slice(&t->more) });
	status = client_send(&t->client);
	if (status == CLI_DONE)
		status = show_all(t);
done:
	visit_end(&visit, &t->client);
	return status;
}

/* ---- what was asked for ------------------------------------------------------------------- */

static int set_option(void *self, const char *name, int which, const char *value)
{
	struct trace *t = self;

	(void)name, (void)which;
	buf_text(&t->wanted, value);
	buf_u8(&t->wanted, 0);
	return CLI_DONE;
}

static const struct verb_option options[] = {
	{ "n", "N", OPTION_NUMBER, offsetof(struct trace, limit),
	  .help = "end after N transactions (default 10; 0: no limit)" },
	{ "for", "TIME", OPTION_TIME, offsetof(struct trace, for_ns), .help = "end after this time",
	  .low = 1 },
	{ "at-least", "TIME", OPTION_TIME, offsetof(struct trace, at_least_ns),
	  .help = "slow is what takes at least this long: 10ms, 1.5s (default: the slowest 5 in "
		  "100)" },
	{ "sample", "N", OPTION_NUMBER, offsetof(struct trace, one_in),
	  .help = "of the others keep one in N (default 0: none)", .high = UINT32_MAX },
	{ "hook", "RULE", OPTION_OWN, 'r',
	  .help = "hook these methods, too; can be given several times" },
	{ "draw", "NUMBER", OPTION_NUMBER, offsetof(struct trace, draw),
	  .help = "draw this one of the list instead of the longest; 0: none" },
	{ "o", "FILE.html", OPTION_TEXT, offsetof(struct trace, file),
	  .help = "write all to a page for the browser; to look at without a network" },
	{ "wait", NULL, OPTION_FLAG, offsetof(struct trace, wait),
	  .help = "ROOT may be of a class that is loaded later" },
	{ "yes", NULL, OPTION_FLAG, offsetof(struct trace, yes),
	  .help = "also when the methods are very many" },
	{ "json", NULL, OPTION_FLAG, offsetof(struct trace, json),
	  .help = "one JSON object for each transaction, a line each" },
};

const struct verb verb_trace = {
	.usage = "[OPTION]... [TARGET] [ROOT]",
	.about = "Lists transactions: when, how long, root, thread, calls, parts in other "
		 "threads, data. Kept are those that are slow, those that fail, and one in N of "
		 "the others. At the end the longest is drawn: time to the right, calls down, the "
		 "parts in other threads below.\n"
		 "\n"
		 "ROOT names the methods that begin a transaction, as in a rule: "
		 "com.shop.Web::handle. Without it, each hooked method that is called by nothing "
		 "hooked begins one. In a transaction are the calls of all methods that are "
		 "hooked and timed; --hook hooks more, only while the command runs.",
	.options = options,
	.n = COUNT(options),
	.more = "In the drawing [..] is a call, | and # are calls too short for a column, '.' is "
		"time in a queue; '!' stands before calls that were left by exception, '?' "
		"before those that are hooked only under a condition.",
	.status = "0 transactions were seen, 1 none was, 2 wrong usage, 3 could not.",
	.examples = "sonde trace 4711 com.shop.Web::handle --hook 'com.shop.**::*'\n"
		    "sonde trace -n 0 --for 1m --at-least 200ms -o slow.html shop.jar "
		    "com.shop.Web::handle\n"
		    "sonde trace --json --sample 100 4711 >transactions.json",
	.run = cmd_trace,
	.set = set_option,
};

static int parse(struct trace *t, int argc, char **argv)
{
	int status = verb_parse(&verb_trace, argc, argv, t);

	if (status == CLI_GO_ON && argc - optind > 2)
		return cli_usage(argv[0], "what is '%s'? A rule with blanks is one word in quotes",
				 argv[optind + 2]);
	return status;
}

/* Is it a rule rather than a target?  Targets have no "::", patterns or blanks. */
static bool is_rule(const char *word)
{
	return strstr(word, "::") || strpbrk(word, "* (");
}

int cmd_trace(int argc, char **argv)
{
	struct trace t = { .limit = 10, .draw = UINT64_MAX };
	const char *target = NULL;
	int status = parse(&t, argc, argv);

	if (status == CLI_GO_ON) {
		if (argc - optind == 2)
			target = argv[optind], t.root = argv[optind + 1];
		else if (argc - optind == 1 && is_rule(argv[optind]))
			t.root = argv[optind];
		else if (argc - optind == 1)
			target = argv[optind];
		status = run(&t, target);
	}
	trace_set_release(&t.set);
	buf_release(&t.roots);
	buf_release(&t.more);
	buf_release(&t.wanted);
	buf_release(&t.out);
	return status;
}
