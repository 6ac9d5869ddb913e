/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_hook.c - "sonde hook": adds rules to the agent in a running program. */
#include <getopt.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/attach/target.h"
#include "cli/client/beside.h"
#include "cli/client/method_arg.h"
#include "cli/client/visit.h"
#include "cli/report/hook_rows.h"
#include "cli/report/hook_rules.h"
#include "cli/screen/cli.h"
#include "cli/screen/figures.h"
#include "cli/verbs.h"

struct hook {
	const char *name;
	bool json, hold, dry, yes, wait, from_file;
	char **words; /* rules as they were written */
	int n_words;
	uint32_t flags;
	double budget; /* as in the message */
	struct hook_rules rules;
	struct hook_rows rows;
	struct client client;
	/* Of a JVM: rules for native functions, which another agent obeys. */
	struct buf native;
	struct hook_rows native_rows;
	struct beside beside;
	int native_status;
	bool only_native;
};

/* What the program has in all. */
static int ask_totals(struct client *c, struct hook_rows *rows)
{
	wire_put_ask_status(&c->out, &(struct wire_ask_status){ 0 });
	return client_ask(c, hook_rows_take, rows);
}

/* Rules are numbered upwards: those of this command have numbers above all that were there. */
static int ask_rules(struct client *c, struct hook_rows *rows)
{
	wire_put_hooks(&c->out, &(struct wire_hooks){ 0 });
	return client_ask(c, hook_rows_take, rows);
}

/* The answer of one agent, for an open object. */
static void put_answer(struct client *c, struct hook_rows *rows, int status, struct json *j)
{
	json_put_u64(j, "status", (uint64_t)status);
	json_put_str(j, "text", buf_slice(&c->done));
	if (status <= CLI_NO && ask_rules(c, rows) == CLI_DONE && ask_totals(c, rows) == CLI_DONE) {
		json_put_u64(j, "classes", rows->classes);
		json_put_u64(j, "methods", rows->methods);
		hook_rows_json(rows, j);
		hook_rows_totals_json(rows, j);
	}
}

static int print_json(struct hook *h, int status)
{
	struct buf out = { 0 };
	struct json j = json_to(&out);

	json_open(&j, '{');
	json_put_u64(&j, "pid", (uint64_t)h->client.pid);
	put_answer(&h->client, &h->rows, status, &j);
	if (h->beside.is_open) {
		json_put_open(&j, "native", '{');
		put_answer(&h->beside.client, &h->native_rows, h->native_status, &j);
		json_close(&j, '}');
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
	buf_put(&out, buf_slice(&h->native_rows.left));
	if (h->beside.is_open && h->native_status == CLI_DONE) {
		client_show(&out, buf_slice(&h->beside.client.done));
		buf_text(&out, h->flags & HOOK_DRY ? "\n" : " in native code\n");
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
	beside_end(&h->beside, false);
	fprintf(stderr, "%ssonde: taking the hooks out\n", isatty(STDERR_FILENO) ? "\n" : "");
	status = client_open(&h->client, t);
	if (status != CLI_DONE)
		return status;
	h->client.quiet = true;
	status = ask_totals(&h->client, &h->rows);
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
static bool take_nothing(void *ctx, unsigned type, struct slice payload)
{
	(void)ctx, (void)type, (void)payload;
	return true;
}

static int send(struct hook *h, struct client *c, struct hook_rows *rows, const struct buf *text)
{
	int status = CLI_DONE;

	if (h->json) {
		rows->above = UINT32_MAX;
		status = ask_rules(c, rows);
		rows->above = rows->highest;
		buf_clear(&rows->left);
		rows->left_json = json_to(&rows->left);
	}
	if (status != CLI_DONE)
		return status;
	wire_put_hook(&c->out, &(struct wire_hook){ .rules = buf_slice(text),
						    .origin = buf_slice(&h->rules.origin),
						    .flags = h->flags,
						    .budget = rows->native ? 0 : h->budget });
	return client_ask(c, h->json ? take_nothing : hook_rows_take, rows);
}

/* Beside the JVM's own agent, which has done its part. */
static int ask_native(struct hook *h, const struct target *t)
{
	int status = beside_bring(&h->beside, t);

	if (status == CLI_DONE) {
		h->beside.client.quiet = true;
		status = send(h, &h->beside.client, &h->native_rows, &h->native);
	}
	if (status > CLI_NO && !h->only_native && !(h->flags & HOOK_DRY))
		fputs("sonde: the rules for Java methods are in force nevertheless\n", stderr);
	h->native_status = status;
	return status;
}

static int ask(struct hook *h, const struct target *t)
{
	struct client *c = &h->client;
	struct buf text = { 0 };
	int status = hook_rules_text(&h->rules, &text);

	if (status == CLI_DONE && !h->only_native)
		status = send(h, c, &h->rows, &text);
	if (h->only_native) /* --json shows what this command has added */
		h->rows.above = UINT32_MAX;
	if (status <= CLI_NO && h->native.n && !client_interrupted()) {
		int native = ask_native(h, t);

		status = native > status ? native : status;
	}
	buf_release(&text);
	if (!client_interrupted())
		return status;
	fprintf(stderr,
		"sonde: interrupted; the hooks go again, 'sonde hooks %d' shows what is in the program\n",
		(int)c->pid);
	return CLI_CANNOT;
}

static int add_word(struct hook *h, const char *text)
{
	struct buf rule = { 0 };
	int status = method_arg_resolve_rule(&h->client, text, h->wait ? METHOD_RULE : METHOD_NOW,
					     &rule);

	buf_u8(&rule, 0);
	if (status == CLI_DONE)
		status = rule.err ? cli_no_memory()
				  : hook_rules_add(&h->rules, (const char *)rule.p);
	buf_release(&rule);
	return status;
}

static int run(struct hook *h, const char *target)
{
	struct visit visit = { 0 };
	struct target t;
	bool said = false, stay;
	int status = visit_find(&visit, &h->client, target, &t);

	if (status != CLI_DONE)
		return status;
	h->rules.split = !t.is_native && !slice_is(h->client.welcome.jvm, "native");
	h->client.quiet = true; /* print() has it behind the rows */
	for (int i = 0; i < h->n_words && status == CLI_DONE; i++)
		status = add_word(h, h->words[i]);
	if (status == CLI_DONE && h->rules.split)
		status = hook_rules_native(&h->rules, &h->native);
	h->only_native = h->native.n && !hook_rules_any_java(&h->rules) && h->budget == 0;
	if (status == CLI_DONE) {
		visit_will_hook(&visit);
		status = ask(h, &t);
	} else {
		said = true;
	}
	if (!client_interrupted() && !said) {
		status = print(h, status);
		/* CLI_NO: the rules wait for classes that are loaded later. */
		if (status <= CLI_NO && (h->flags & (HOOK_HELD | HOOK_DRY)) == HOOK_HELD)
			status = hold(h, &t);
	}
	stay = h->beside.is_open && h->native_status == CLI_DONE;
	stay = (stay || status == CLI_DONE) && !(h->flags & (HOOK_HELD | HOOK_DRY));
	beside_end(&h->beside, stay && h->native_status == CLI_DONE);
	/* Hooks that stay need the agent. */
	if (stay)
		client_close(&h->client);
	else
		visit_end(&visit, &h->client);
	return status;
}

static int set_budget(struct hook *h, const char *value)
{
	if (strcmp(value, "none") == 0)
		h->budget = -1;
	else if (!figure_parse_share(value, &h->budget) || h->budget > 1)
		return cli_usage(h->name, "--budget wants a share such as 5%%, or `none`");
	return CLI_DONE;
}

static int set_option(void *self, const char *name, int which, const char *value)
{
	struct hook *h = self;

	(void)name;
	if (which == 'b')
		return set_budget(h, value);
	h->from_file = true;
	return hook_rules_add_file(&h->rules, value);
}

static const struct verb_option options[] = {
	{ "rules", "FILE", OPTION_OWN, 'r',
	  .help = "take rules from this file; may be repeated, and comes before the RULEs" },
	{ "hold", NULL, OPTION_FLAG, offsetof(struct hook, hold),
	  .help = "stay, and take the hooks out again when this command ends, however it ends" },
	{ "budget", "SHARE", OPTION_OWN, 'b',
	  .help = "all hooks in the program together may cost this share of the processor time that it "
		  "uses, as 5%; the rest is closed, getters first. `none`: whatever they cost" },
	{ "dry-run", NULL, OPTION_FLAG, offsetof(struct hook, dry),
	  .help = "hook nothing; say how many methods it would be" },
	{ "wait", NULL, OPTION_FLAG, offsetof(struct hook, wait),
	  .help = "keep rules that mean nothing yet, for classes that are loaded later; those of "
		  "--rules are kept" },
	{ "yes", NULL, OPTION_FLAG, offsetof(struct hook, yes),
	  .help = "also when the rules mean very many methods" },
	{ "json", NULL, OPTION_FLAG, offsetof(struct hook, json), .help = "print one JSON object" },
};

const struct verb verb_hook = {
	.usage = "[OPTION]... [TARGET] RULE...\n"
		 "--budget SHARE [TARGET]\n"
		 "[OPTION]... --rules FILE [TARGET] [RULE]...",
	.about = "Hooks methods of a running program by rule (docs/rules.md); the word "
		 "`hook` may be left out. The hooks stay until 'sonde unhook' or 'sonde detach', "
		 "or until a rule says: `for 10m`, `calls 5000`. TARGET is a pid, a main class or "
		 "a jar; not needed when there is only one JVM. A rule such as "
		 "`libz.so.1::deflate* timed` hooks native functions (docs/native.md).",
	.options = options,
	.n = COUNT(options),
	.status = "0 done, 1 a rule matched nothing, 2 a rule is wrong, 3 could not.",
	.examples = "sonde hook 4711 'com.shop.**::* light'\n"
		    "sonde hook --budget 5% 4711 '**::*'\n"
		    "sonde hook com.shop.Main 'implements java.lang.Runnable::run timed for 10m'\n"
		    "sonde hook 4711 'libnio.so::*read* timed' 'com.shop.Cart::* timed'\n"
		    "sonde hook --hold --rules shop.rules",
	.run = cmd_hook,
	.set = set_option,
};

/* What is wrong with a rule is said before the program is asked for anything. */
static int check_words(struct hook *h)
{
	struct hook_rules check;
	uint64_t pid;
	int status = hook_rules_init(&check);

	for (int i = 0; i < h->n_words; i++)
		if (cli_parse_number(h->words[i], 1, INT32_MAX, &pid)) {
			hook_rules_release(&check);
			return cli_usage(h->name, "the target comes before the rules: %s %s '%s'",
					 h->name, h->words[i], h->words[i ? 0 : 1]);
		}
	for (int i = 0; i < h->n_words && status == CLI_DONE; i++)
		if (!method_arg_in_rule(h->words[i]))
			status = hook_rules_add(&check, h->words[i]);
	hook_rules_release(&check);
	return status == CLI_DONE ? CLI_GO_ON : status;
}

/* CLI_GO_ON, with the target or NULL; or an exit status. */
static int parse(struct hook *h, int argc, char **argv, const char **target)
{
	int status = verb_parse(&verb_hook, argc, argv, h);

	if (status != CLI_GO_ON)
		return status;
	h->flags = (h->hold ? HOOK_HELD : 0) | (h->dry ? HOOK_DRY : 0) | (h->yes ? HOOK_YES : 0);
	if (optind < argc && !hook_rules_is_rule(argv[optind]))
		*target = argv[optind++];
	h->words = argv + optind;
	h->n_words = argc - optind;
	if (h->budget > 0) /* very many are what it is for */
		h->flags |= HOOK_YES;
	if (!h->n_words && !hook_rules_count(&h->rules) && h->budget == 0)
		return cli_usage(h->name, "which methods? RULE or --rules FILE");
	/* A file may have rules for classes to come. */
	if (!h->wait && !h->from_file)
		h->flags |= HOOK_LOADED;
	return check_words(h);
}

int cmd_hook(int argc, char **argv)
{
	struct hook h = { .name = argv[0] };
	const char *target = NULL;
	int status = hook_rules_init(&h.rules);

	if (status == CLI_DONE)
		status = parse(&h, argc, argv, &target);
	hook_rows_init(&h.rows, h.json);
	hook_rows_init(&h.native_rows, h.json);
	h.native_rows.native = true;
	if (status == CLI_GO_ON)
		status = run(&h, target);
	hook_rows_release(&h.rows);
	hook_rows_release(&h.native_rows);
	buf_release(&h.native);
	hook_rules_release(&h.rules);
	return status;
}
