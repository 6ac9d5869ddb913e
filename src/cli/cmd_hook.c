/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_hook.c - "sonde hook": adds rules to the agent in a running program. */
#include <getopt.h>
#include <stdio.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/client.h"
#include "cli/hook_rows.h"
#include "cli/hook_rules.h"
#include "cli/target.h"

int cmd_hook(int argc, char **argv);

static const char help[] =
	"usage: sonde hook [OPTION]... [TARGET] RULE...\n"
	"       sonde hook [OPTION]... --rules FILE [TARGET] [RULE]...\n"
	"\n"
	"Hooks methods of a running program by rule, as of docs/rules.md; the word `hook` may be left out.\n"
	"The hooks stay until 'sonde unhook' or 'sonde detach', or until a rule says: `for 10m`,\n"
	"`calls 5000`.  TARGET is a pid, a main class or a jar; not needed when there is only one JVM.\n"
	"\n"
	"  --rules FILE  take rules from this file; may be repeated, and comes before the RULEs\n"
	"  --hold        stay, and take the hooks out again when this command ends, however it ends\n"
	"  --dry-run     hook nothing; say how many methods it would be\n"
	"  --yes         also when they are very many\n"
	"  --json        print one JSON object\n"
	"  --help        this text\n"
	"\n"
	"Exit status: 0 done, 1 a rule matched nothing, 2 a rule is wrong, 3 could not.\n"
	"\n"
	"Examples:\n"
	"  sonde hook 4711 'com.shop.**::* light'\n"
	"  sonde hook com.shop.Main 'implements java.lang.Runnable::run timed for 10m'\n"
	"  sonde hook --hold --rules shop.rules\n";

struct hook {
	const char *name;
	bool json;
	uint32_t flags;
	struct hook_rules rules;
	struct hook_rows rows;
	struct client client;
};

/* What the program has in all. */
static int ask_totals(struct hook *h)
{
	wire_put_ask_status(&h->client.out, &(struct wire_ask_status){ 0 });
	return client_ask(&h->client, hook_rows_take, &h->rows);
}

/* Rules are numbered upwards: those of this command have numbers above all that were there. */
static int ask_rules(struct hook *h)
{
	wire_put_hooks(&h->client.out, &(struct wire_hooks){ 0 });
	return client_ask(&h->client, hook_rows_take, &h->rows);
}

static int print_json(struct hook *h, int status)
{
	struct client *c = &h->client;
	struct buf out = { 0 };
	struct json j = json_to(&out);

	json_open(&j, '{');
	cli_json_count(&j, "pid", (uint64_t)c->pid);
	cli_json_count(&j, "status", (uint64_t)status);
	json_key(&j, "text");
	json_str(&j, buf_slice(&c->done));
	if (status <= CLI_NO && ask_rules(h) == CLI_DONE && ask_totals(h) == CLI_DONE) {
		cli_json_count(&j, "classes", h->rows.classes);
		cli_json_count(&j, "methods", h->rows.methods);
		hook_rows_json(&h->rows, &j);
		hook_rows_totals_json(&h->rows, &j);
	}
	json_close(&j, '}');
	buf_u8(&out, '\n');
	if (!cli_print(&out))
		status = CLI_CANNOT;
	buf_release(&out);
	return status;
}

/* The answer to the request that ended with this status. */
static int print(struct hook *h, int status)
{
	struct buf out = { 0 };

	if (h->json)
		return print_json(h, status);
	buf_put(&out, buf_slice(&h->rows.left));
	if (status == CLI_DONE && h->client.done.n) {
		client_show(&out, buf_slice(&h->client.done));
		buf_u8(&out, '\n');
	}
	if (!cli_print(&out))
		status = CLI_CANNOT;
	buf_release(&out);
	return status;
}

/* The agent serves one client after the other: when it answers again, the hooks are out. */
static int tell_out(struct hook *h, const struct target *t)
{
	struct buf out = { 0 };
	int status;

	client_close(&h->client);
	fprintf(stderr, "%ssonde: taking the hooks out\n", isatty(STDERR_FILENO) ? "\n" : "");
	status = client_open(&h->client, t);
	if (status != CLI_DONE)
		return status;
	h->client.quiet = true;
	status = ask_totals(h);
	if (status == CLI_DONE) {
		hook_rows_totals(&h->rows, &out);
		fprintf(stderr, "%.*s", SLICE_FMT(buf_slice(&out)));
	}
	buf_release(&out);
	return status;
}

static int hold(struct hook *h, const struct target *t)
{
	struct client *c = &h->client;
	struct slice payload;
	char gone[80];
	unsigned type;
	int rc;

	fflush(stdout);
	fputs("sonde: Ctrl-C takes the hooks out again\n", stderr);
	while ((rc = client_next(c, -1, &type, &payload)) > 0) {
		if (type == WIRE_warning)
			client_warn(payload);
		if (type == WIRE_done) /* nothing is held any more */
			return CLI_DONE;
	}
	if (rc == 0)
		return tell_out(h, t);
	fprintf(stderr, "sonde: %s, and the hooks are gone\n", client_gone(c, gone));
	return CLI_DONE;
}

/* With --json the rows come from ask_rules, so that they are those of this command alone. */
static bool take(void *ctx, unsigned type, struct slice payload)
{
	struct hook *h = ctx;

	return h->json || hook_rows_take(&h->rows, type, payload);
}

static int ask(struct hook *h)
{
	struct client *c = &h->client;
	struct buf text = { 0 };
	int status = hook_rules_text(&h->rules, &text);

	if (status == CLI_DONE && h->json) {
		h->rows.above = UINT32_MAX;
		status = ask_rules(h);
		h->rows.above = h->rows.highest;
		buf_clear(&h->rows.left);
		h->rows.left_json = json_to(&h->rows.left);
	}
	if (status == CLI_DONE) {
		wire_put_hook(&c->out, &(struct wire_hook){ .rules = buf_slice(&text),
							    .origin = buf_slice(&h->rules.origin),
							    .flags = h->flags });
		status = client_ask(c, take, h);
	}
	buf_release(&text);
	if (!client_interrupted())
		return status;
	fprintf(stderr,
		"sonde: interrupted; the hooks go again, 'sonde hooks %d' shows what is in the program\n",
		(int)c->pid);
	return CLI_CANNOT;
}

static int run(struct hook *h, const char *target)
{
	struct target t;
	int status = target_find(target, &t);

	if (status == CLI_DONE)
		status = client_open(&h->client, &t);
	if (status != CLI_DONE)
		return status;
	h->client.quiet = true; /* print() has it behind the rows */
	status = ask(h);
	if (!client_interrupted()) {
		status = print(h, status);
		/* CLI_NO: the rules wait for classes that are loaded later. */
		if (status <= CLI_NO && (h->flags & (HOOK_HELD | HOOK_DRY)) == HOOK_HELD)
			status = hold(h, &t);
	}
	client_close(&h->client);
	return status;
}

/* CLI_DONE: go on, with the target, or NULL.  -1: help was printed. */
static int parse(struct hook *h, int argc, char **argv, const char **target)
{
	static const struct option options[] = {
		{ "rules", required_argument, NULL, 'r' },
		{ "hold", no_argument, NULL, 'H' },
		{ "dry-run", no_argument, NULL, 'd' },
		{ "yes", no_argument, NULL, 'y' },
		{ "json", no_argument, NULL, 'j' },
		{ "help", no_argument, NULL, 'h' },
		{ 0 },
	};
	int opt, status = CLI_DONE;

	cli_begin_options();
	while (status == CLI_DONE && (opt = getopt_long(argc, argv, "h", options, NULL)) != -1) {
		if (opt == 'h') {
			fputs(help, stdout);
			return -1;
		}
		if (opt == 'r')
			status = hook_rules_add_file(&h->rules, optarg);
		else if (opt == 'j')
			h->json = true;
		else if (opt == '?')
			status = CLI_USAGE;
		else
			h->flags |= opt == 'H' ? HOOK_HELD : opt == 'd' ? HOOK_DRY : HOOK_YES;
	}
	if (status == CLI_DONE && optind < argc && !hook_rules_is_rule(argv[optind]))
		*target = argv[optind++];
	for (; optind < argc && status == CLI_DONE; optind++)
		status = hook_rules_add(&h->rules, argv[optind]);
	if (status == CLI_DONE && !hook_rules_count(&h->rules))
		return cli_usage(h->name, "which methods? RULE or --rules FILE");
	return status;
}

int cmd_hook(int argc, char **argv)
{
	struct hook h = { .name = argv[0] };
	const char *target = NULL;
	int status = hook_rules_init(&h.rules);

	if (status == CLI_DONE)
		status = parse(&h, argc, argv, &target);
	hook_rows_init(&h.rows, h.json);
	if (status == CLI_DONE)
		status = run(&h, target);
	hook_rows_release(&h.rows);
	hook_rules_release(&h.rules);
	return status < 0 ? CLI_DONE : status;
}
