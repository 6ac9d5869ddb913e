/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_hooks.c - "sonde hooks": which rules are in force in a running program, and what they
 * hook. */
#include <getopt.h>
#include <stddef.h>
#include <stdio.h>

#include "cli/attach/target.h"
#include "cli/client/beside.h"
#include "cli/report/hook_rows.h"
#include "cli/screen/cli.h"
#include "cli/verbs.h"

static int ask(struct client *c, struct hook_rows *rows)
{
	int status;

	c->quiet = true; /* the last line is made of the totals */
	wire_put_hooks(&c->out, &(struct wire_hooks){ 0 });
	status = client_ask(c, hook_rows_take, rows);
	if (status != CLI_DONE)
		return status;
	wire_put_ask_status(&c->out, &(struct wire_ask_status){ 0 });
	return client_ask(c, hook_rows_take, rows);
}

static void put_native_json(struct hook_rows *rows, struct json *j)
{
	json_put_open(j, "native", '{');
	hook_rows_json(rows, j);
	hook_rows_totals_json(rows, j);
	json_close(j, '}');
}

/* native may be NULL. */
static int print(const struct client *c, struct hook_rows *rows, struct hook_rows *native)
{
	struct buf out = { 0 };
	struct json j = json_to(&out);
	bool good;

	if (rows->json) {
		json_open(&j, '{');
		json_put_u64(&j, "pid", (uint64_t)c->pid);
		hook_rows_json(rows, &j);
		hook_rows_totals_json(rows, &j);
		if (native)
			put_native_json(native, &j);
		json_close(&j, '}');
		buf_u8(&out, '\n');
	} else {
		hook_rows_table(rows, &out);
		hook_rows_notes(rows, &out);
		hook_rows_totals(rows, &out);
	}
	if (native && !native->json) {
		hook_rows_table(native, &out);
		hook_rows_totals(native, &out);
	}
	good = cli_print(&out);
	buf_release(&out);
	return good ? CLI_DONE : CLI_CANNOT;
}

struct hooks {
	bool json;
};

static const struct verb_option options[] = {
	{ "json", NULL, OPTION_FLAG, offsetof(struct hooks, json), .help = "one JSON object" },
};

const struct verb verb_hooks = {
	.usage = "[--json] [TARGET]",
	.about = "Lists the rules in force in a running program: their number (for 'sonde "
		 "unhook'), how many classes and methods each hooks, how often those were called, "
		 "since when it is there and when it leaves; and what was left alone, by reason.\n"
		 "\n"
		 "TARGET is a pid, a main class or a jar; not needed when there is only one JVM. "
		 "With --json the answer is one JSON object.",
	.options = options,
	.n = COUNT(options),
	.status = "0 done, 2 wrong usage, 3 could not.",
	.run = cmd_hooks,
};

int cmd_hooks(int argc, char **argv)
{
	struct hook_rows rows, native;
	struct beside beside = { .is_open = false };
	struct client c;
	struct target t;
	struct hooks h = { 0 };
	const char *target;
	int status;

	status = verb_parse_target(&verb_hooks, argc, argv, &h, &target);
	if (status != CLI_GO_ON)
		return status;
	status = client_find(&c, target, &t);
	if (status != CLI_DONE)
		return status;
	hook_rows_init(&rows, h.json);
	hook_rows_init(&native, h.json);
	native.native = true;
	status = ask(&c, &rows);
	if (status == CLI_DONE)
		status = beside_find(&beside, &t);
	if (status == CLI_DONE && beside.is_open)
		status = ask(&beside.client, &native);
	if (status == CLI_DONE)
		status = print(&c, &rows, beside.is_open ? &native : NULL);
	beside_end(&beside, true);
	hook_rows_release(&native);
	hook_rows_release(&rows);
	client_close(&c);
	return status;
}
