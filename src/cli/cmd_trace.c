/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_trace.c - "sonde trace": whole transactions, drawn as time by depth.
 *
 * The agent keeps the slow, the failed and one in N of the others; they are listed as they come,
 * and at the end the longest is drawn, or all are written as a page.  What was hooked for it leaves
 * the program when this command ends, however it ends. */
#include <fcntl.h>
#include <getopt.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/client.h"
#include "cli/figures.h"
#include "cli/progress.h"
#include "cli/target.h"
#include "cli/visit.h"
#include "cli/term.h"
#include "cli/trace_show.h"

int cmd_trace(int argc, char **argv);

static const char help[] =
	"usage: sonde trace [OPTION]... [TARGET] [ROOT]\n"
	"\n"
	"Lists transactions: when, how long, root, thread, calls, parts in other threads, data.  Kept are\n"
	"those that are slow, those that fail, and one in N of the others.  At the end the longest is drawn:\n"
	"time to the right, calls down, the parts in other threads below.\n"
	"\n"
	"ROOT names the methods that begin a transaction, as in a rule: com.shop.Web::handle.  Without it\n"
	"every hooked method begins one that is called by nothing hooked.  In a transaction are the calls of\n"
	"all methods that are hooked and timed; --hook hooks more, only while the command runs.\n"
	"\n"
	"  -n N             end after N transactions (default 10; 0: no limit)\n"
	"  --for TIME       end after this time\n"
	"  --at-least TIME  slow is what takes at least this long: 10ms, 1.5s (default: the slowest 5 in 100)\n"
	"  --sample N       of the others keep one in N (default 0: none)\n"
	"  --hook RULE      hook these methods, too; can be given several times\n"
	"  --draw NUMBER    draw this one of the list instead of the longest; 0: none\n"
	"  -o FILE.html     write all to a page for the browser; to look at without a network\n"
	"  --yes            also when the methods are very many\n"
	"  --json           one JSON object for each transaction, a line each\n"
	"  --help           this text\n"
	"\n"
	"In the drawing [..] is a call, | and # are calls too short for a column, '.' is time in a queue;\n"
	"'!' stands before calls that were left by exception, '?' before those that are hooked only under\n"
	"a condition.\n"
	"\n"
	"Exit status: 0 transactions were seen, 1 none was, 2 wrong usage, 3 could not.\n"
	"\n"
	"Examples:\n"
	"  sonde trace 4711 com.shop.Web::handle --hook 'com.shop.**::*'\n"
	"  sonde trace -n 0 --for 1m --at-least 200ms -o slow.html shop.jar com.shop.Web::handle\n"
	"  sonde trace --json --sample 100 4711 >transactions.json\n";

enum { PLAIN_WIDTH = 100 };

struct trace {
	bool json, yes;
	uint64_t limit, for_ns, at_least_ns, one_in, draw;
	const char *file;
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
	trace_line(&t->out, &t->set, tx);
	trace_draw(&t->out, &t->set, tx, width ? width : PLAIN_WIDTH);
	return cli_print(&t->out) ? CLI_DONE : CLI_CANNOT;
}

static int write_page(struct trace *t)
{
	size_t at = 0;
	ssize_t n = 1;
	int fd;

	if (!t->file)
		return CLI_DONE;
	trace_page(&t->out, &t->set);
	if (t->out.err)
		return cli_cannot("out of memory");
	fd = open(t->file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	while (fd >= 0 && at < t->out.n && (n = write(fd, t->out.p + at, t->out.n - at)) > 0)
		at += (size_t)n;
	if (fd < 0 || n <= 0 || close(fd) < 0)
		return cli_cannot("%s: %m", t->file);
	buf_clear(&t->out);
	fprintf(stderr, "%s: %zu transactions; open it in a browser\n", t->file,
		trace_set_n(&t->set));
	return CLI_DONE;
}

static int finish(struct trace *t)
{
	const struct wire_trace_counts *c = &t->set.counts;
	char a[32], b[32];
	int status = draw(t);

	if (status == CLI_DONE && t->seen)
		status = write_page(t);
	if (t->seen)
		fprintf(stderr, "%s transaction%s shown", cli_number(a, t->seen),
			t->seen == 1 ? "" : "s");
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
		trace_json(&t->out, &t->set, tx);
	else
		trace_line(&t->out, &t->set, tx);
	return cli_print(&t->out) && fflush(stdout) == 0;
}

static int show_all(struct trace *t)
{
	struct client_flow flow = { t->for_ns, "transactions", &t->seen, take, t };
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

static int run(struct trace *t, const char *target)
{
	int status = target_find(target, &t->target);
	struct visit visit = { 0 };

	if (t->roots.err || t->more.err)
		return cli_cannot("out of memory");
	if (status == CLI_DONE)
		status = visit_begin(&visit, &t->client, &t->target);
	if (status != CLI_DONE)
		return status;
	wire_put_trace(&t->client.out, &(struct wire_trace){ .rules = buf_slice(&t->roots),
							     .limit = t->limit,
							     .at_least_ns = t->at_least_ns,
							     .one_in = (uint32_t)t->one_in,
							     .flags = t->yes ? HOOK_YES : 0,
							     .more = buf_slice(&t->more) });
	status = client_send(&t->client);
	if (status == CLI_DONE)
		status = show_all(t);
	visit_end(&visit, &t->client);
	return status;
}

/* ---- what was asked for ------------------------------------------------------------------- */

/* A rule, with "hook" before it unless it has a word of its own. */
static void put_rule(struct buf *out, const char *text)
{
	if (strncmp(text, "hook ", 5) != 0 && strncmp(text, "capture ", 8) != 0 &&
	    strncmp(text, "skip ", 5) != 0)
		buf_text(out, "hook ");
	buf_text(out, text);
	buf_u8(out, '\n');
}

/* Methods, as in a rule; "com.shop.Web.handle" will do, too. */
static void put_root(struct buf *out, const char *text)
{
	size_t name = strcspn(text, "( "), dot = name;

	while (dot > 0 && text[dot - 1] != '.')
		dot--;
	buf_text(out, strncmp(text, "hook ", 5) == 0 ? "" : "hook ");
	if (strstr(text, "::") || dot < 2 || text[dot - 2] == '.' || text[name] == ' ')
		buf_text(out, text);
	else
		buf_printf(out, "%.*s::%s", (int)dot - 1, text, text + dot);
	buf_u8(out, '\n');
}

static int set_option(struct trace *t, const char *name, int opt)
{
	switch (opt) {
	case 'n':
		if (!cli_parse_number(optarg, 0, INT64_MAX, &t->limit))
			return cli_usage(name, "-n wants a number of transactions, not '%s'",
					 optarg);
		break;
	case 'f':
		if (!figure_parse_time(optarg, &t->for_ns) || !t->for_ns)
			return cli_usage(name, "--for wants a time such as 30s, not '%s'", optarg);
		break;
	case 'a':
		if (!figure_parse_time(optarg, &t->at_least_ns))
			return cli_usage(name, "--at-least wants a time such as 10ms, not '%s'",
					 optarg);
		break;
	case 's':
		if (!cli_parse_number(optarg, 0, UINT32_MAX, &t->one_in))
			return cli_usage(name, "--sample wants a number, not '%s'", optarg);
		break;
	case 'd':
		if (!cli_parse_number(optarg, 0, INT64_MAX, &t->draw))
			return cli_usage(name, "--draw wants a number of the list, not '%s'",
					 optarg);
		break;
	case 'o':
		t->file = optarg;
		break;
	case 'r':
		put_rule(&t->more, optarg);
		break;
	default:
		t->json |= opt == 'j';
		t->yes |= opt == 'y';
	}
	return CLI_DONE;
}

static int parse(struct trace *t, int argc, char **argv)
{
	static const struct option options[] = {
		{ "for", required_argument, NULL, 'f' },
		{ "at-least", required_argument, NULL, 'a' },
		{ "sample", required_argument, NULL, 's' },
		{ "hook", required_argument, NULL, 'r' },
		{ "draw", required_argument, NULL, 'd' },
		{ "json", no_argument, NULL, 'j' },
		{ "yes", no_argument, NULL, 'y' },
		{ "help", no_argument, NULL, 'h' },
		{ 0 },
	};
	int opt, status;

	cli_begin_options();
	while ((opt = getopt_long(argc, argv, "n:o:h", options, NULL)) != -1) {
		if (opt == 'h')
			return fputs(help, stdout), -1;
		if (opt == '?')
			return CLI_USAGE;
		status = set_option(t, argv[0], opt);
		if (status != CLI_DONE)
			return status;
	}
	if (argc - optind > 2)
		return cli_usage(argv[0], "what is '%s'? A rule with blanks is one word in quotes",
				 argv[optind + 2]);
	return CLI_DONE;
}

/* Is it a rule rather than a target?  Targets have no "::", patterns or blanks. */
static bool is_rule(const char *word)
{
	return strstr(word, "::") || strpbrk(word, "* (");
}

int cmd_trace(int argc, char **argv)
{
	struct trace t = { .limit = 10, .draw = UINT64_MAX };
	const char *target = NULL, *root = NULL;
	int status = parse(&t, argc, argv);

	if (status == CLI_DONE) {
		if (argc - optind == 2)
			target = argv[optind], root = argv[optind + 1];
		else if (argc - optind == 1 && is_rule(argv[optind]))
			root = argv[optind];
		else if (argc - optind == 1)
			target = argv[optind];
		if (root)
			put_root(&t.roots, root);
		status = run(&t, target);
	} else if (status < 0) {
		status = CLI_DONE; /* help */
	}
	trace_set_release(&t.set);
	buf_release(&t.roots);
	buf_release(&t.more);
	buf_release(&t.out);
	return status;
}
