/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_unhook.c - "sonde unhook": takes rules, and so hooks, out of a running program. */
#include <getopt.h>
#include <stddef.h>
#include <stdio.h>

#include "cli/attach/target.h"
#include "cli/client/beside.h"
#include "cli/report/hook_rows.h"
#include "cli/report/hook_rules.h"
#include "cli/screen/cli.h"
#include "cli/verbs.h"

/* What is asked to be taken out, in the words of the agent of Java methods and of that of native functions. */
struct which {
	struct buf java, native; /* .n 0: that agent is not asked */
	unsigned flags;
	bool json;
};

static bool is_number(const char *text)
{
	uint64_t n;

	return cli_parse_number(text, 0, UINT32_MAX, &n);
}

static int read_target(const char *text, struct which *out)
{
	int status = hook_rules_target(text, &out->java);

	if (status == CLI_DONE)
		status = hook_rules_native_target(text, &out->native);
	return status;
}

static int read_which(const char *name, const char *text, struct which *out)
{
	int status = CLI_DONE;

	if (is_number(text))
		return cli_usage(name, "which hooks? The rule with this number is '#%s'", text);
	if (text[0] == '#' && !is_number(text + 1))
		return cli_usage(name, "'%s' is not the number of a rule, such as '#3'", text);
	if (text[0] == 'n' && is_number(text + 1))
		buf_printf(&out->native, "#%s", text + 1);
	else if (text[0] != '#' && strcmp(text, "all") != 0)
		status = read_target(text, out);
	else
		buf_text(&out->java, text);
	if (strcmp(text, "all") == 0)
		buf_text(&out->native, text);
	if (status == CLI_DONE && (out->java.err || out->native.err))
		status = cli_no_memory();
	return status;
}

/* For --json: what went, and what the program has now. */
static int print_json(struct client *c, const struct beside *b)
{
	struct buf out = { 0 };
	struct hook_rows rows;
	struct json j = json_to(&out);
	int status;

	hook_rows_init(&rows, true);
	json_open(&j, '{');
	json_put_u64(&j, "pid", (uint64_t)c->pid);
	json_put_str(&j, "text", buf_slice(&c->done));
	if (b->is_open) {
		json_put_open(&j, "native", '{');
		json_put_str(&j, "text", buf_slice(&b->client.done));
		json_close(&j, '}');
	}
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

static int ask(struct client *c, const struct which *w, const struct buf *pattern)
{
	c->quiet = w->json;
	wire_put_unhook(&c->out,
			&(struct wire_unhook){ .flags = w->flags, .pattern = buf_slice(pattern) });
	return client_ask(c, NULL, NULL);
}

/* The agent of native functions alone, or with `all` both. */
static int ask_both(struct client *c, struct beside *b, const struct target *t,
		    const struct which *w)
{
	bool only_native = w->native.n && !slice_is(buf_slice(&w->native), "all");
	int status = w->native.n ? beside_find(b, t) : CLI_DONE;

	if (status == CLI_DONE && only_native && !b->is_open)
		return cli_cannot("no native function of %d is hooked", (int)t->pid), CLI_NO;
	if (status == CLI_DONE && !only_native)
		status = ask(c, w, &w->java);
	if (status <= CLI_NO && b->is_open) {
		int native = ask(&b->client, w, &w->native);

		/* of `all` it is enough that one of them had a rule */
		if (only_native || status == CLI_NO || native > CLI_NO)
			status = native;
	}
	return status;
}

static int run(const char *target, const struct which *w)
{
	struct beside beside = { .is_open = false };
	struct client c;
	struct target t;
	int status = client_find(&c, target, &t);

	if (status != CLI_DONE)
		return status;
	if (t.is_native || slice_is(c.welcome.jvm, "native"))
		status = ask(&c, w, w->java.n ? &w->java : &w->native);
	else
		status = ask_both(&c, &beside, &t, w);
	if (status == CLI_DONE && w->json)
		status = print_json(&c, &beside);
	beside_end(&beside, true);
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
		 "  n3              the rule for native functions of a JVM with this number\n"
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
	struct which which = { .flags = 0 };
	struct command_unhook c = { 0 };
	int status;

	status = verb_parse(&verb_unhook, argc, argv, &c);
	if (status != CLI_GO_ON)
		return status;
	which.flags = c.now ? UNHOOK_NOW : 0;
	which.json = c.json;
	if (argc - optind != 1 && argc - optind != 2)
		return cli_usage(argv[0], "which hooks? METHODS, '#N' or all");
	status = read_which(argv[0], argv[argc - 1], &which);
	if (status == CLI_DONE)
		status = run(argc - optind == 2 ? argv[optind] : NULL, &which);
	buf_release(&which.java);
	buf_release(&which.native);
	return status;
}
