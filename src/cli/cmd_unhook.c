/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_unhook.c - "sonde unhook": takes rules, and so hooks, out of a running program. */
#include <getopt.h>
#include <stddef.h>
#include <stdio.h>

#include "cli/attach/target.h"
#include "cli/client/client.h"
#include "cli/report/hook_rows.h"
#include "cli/report/hook_rules.h"
#include "cli/screen/cli.h"
#include "cli/verbs.h"

static bool is_number(const char *text)
{
	uint64_t n;

	return cli_parse_number(text, 0, UINT32_MAX, &n);
}

/* What the agent is asked to take out, in its words. */
static int read_which(const char *name, const char *text, struct buf *out)
{
	if (is_number(text))
		return cli_usage(name, "which hooks? The rule with this number is '#%s'", text);
	if (text[0] == '#' && !is_number(text + 1))
		return cli_usage(name, "'%s' is not the number of a rule, such as '#3'", text);
	if (text[0] != '#' && strcmp(text, "all") != 0)
		return hook_rules_target(text, out);
	buf_text(out, text);
	return out->err ? cli_cannot("%s", err_text(out->err)) : CLI_DONE;
}

/* For --json: what went, and what the program has now. */
static int print_json(struct client *c)
{
	struct buf out = { 0 };
	struct hook_rows rows;
	struct json j = json_to(&out);
	int status;

	hook_rows_init(&rows, true);
	json_open(&j, '{');
	json_put_u64(&j, "pid", (uint64_t)c->pid);
	json_put_str(&j, "text", buf_slice(&c->done));
	wire_put_ask_status(&c->out, &(struct wire_ask_status){ 0 });
	status = client_ask(c, hook_rows_take, &rows);
	hook_rows_totals_json(&rows, &j);
	json_close(&j, '}');
	buf_u8(&out, '\n');
	if (status == CLI_DONE && !cli_print(&out))
		status = CLI_CANNOT;
	hook_rows_release(&rows);
	buf_release(&out);
	return status;
}

static int run(const char *target, const struct wire_unhook *ask, bool json)
{
	struct client c;
	struct target t;
	int status = client_find(&c, target, &t);

	if (status != CLI_DONE)
		return status;
	c.quiet = json;
	wire_put_unhook(&c.out, ask);
	status = client_ask(&c, NULL, NULL);
	if (status == CLI_DONE && json)
		status = print_json(&c);
	client_close(&c);
	return status;
}

struct command_unhook {
	bool now, json;
};

static const struct verb_option options[] = {
	{ "now", NULL, OPTION_FLAG, offsetof(struct command_unhook, now),
	  .help = "give the classes their original code back before this command ends" },
	{ "json", NULL, OPTION_FLAG, offsetof(struct command_unhook, json),
	  .help = "one JSON object" },
};

const struct verb verb_unhook = {
	.usage = "[--now] [--json] [TARGET] WHICH",
	.about = "Takes hooks out of a running program. WHICH is one of\n"
		 "\n"
		 "  all             every rule\n"
		 "  '#3'            the rule with this number; 'sonde hooks' shows the numbers\n"
		 "  METHODS         the rules that mean just these, written as in the rule; if "
		 "there are none,\n"
		 "                  these methods are left out of the rules that mean them, too\n"
		 "\n"
		 "Hooks are closed at once, and cost next to nothing from then on. The classes "
		 "get their original code back some seconds later, so that a hook that comes "
		 "again finds them; with --now, before this command ends.\n"
		 "\n"
		 "TARGET is a pid, a main class or a jar; not needed when there is only one JVM. "
		 "With --json the answer is one JSON object.",
	.options = options,
	.n = COUNT(options),
	.status = "0 done, 1 there is no such hook, 2 wrong usage, 3 could not.",
	.examples = "sonde unhook 4711 all\n"
		    "sonde unhook '#3'\n"
		    "sonde unhook com.shop.Main 'com.shop.Cart::*'",
	.run = cmd_unhook,
};

int cmd_unhook(int argc, char **argv)
{
	struct wire_unhook ask = { .flags = 0 };
	struct buf which = { 0 };
	struct command_unhook c = { 0 };
	int status;

	status = verb_parse(&verb_unhook, argc, argv, &c);
	if (status != CLI_GO_ON)
		return status;
	ask.flags = c.now ? UNHOOK_NOW : 0;
	if (argc - optind != 1 && argc - optind != 2)
		return cli_usage(argv[0], "which hooks? METHODS, '#N' or all");
	status = read_which(argv[0], argv[argc - 1], &which);
	if (status == CLI_DONE) {
		ask.pattern = buf_slice(&which);
		status = run(argc - optind == 2 ? argv[optind] : NULL, &ask, c.json);
	}
	buf_release(&which);
	return status;
}
