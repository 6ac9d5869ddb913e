/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_explain.c - "sonde explain": why a method of a running program is hooked, or is not. */
#include <getopt.h>
#include <stddef.h>
#include <stdio.h>

#include "cli/attach/target.h"
#include "cli/client/client.h"
#include "cli/client/method_arg.h"
#include "cli/client/visit.h"
#include "cli/report/hook_rules.h"
#include "cli/screen/cli.h"
#include "cli/verbs.h"

struct explain {
	struct buf out;
	struct json j;
	bool json;
};

static bool take(void *ctx, unsigned type, struct slice payload)
{
	struct explain *e = ctx;
	struct wire_text m;

	if (type != WIRE_text || wire_get_text(payload, &m) < 0)
		return true;
	if (e->json) {
		json_str(&e->j, m.text);
		return true;
	}
	client_show(&e->out, m.text);
	if (!m.text.n || m.text.p[m.text.n - 1] != '\n')
		buf_u8(&e->out, '\n');
	return cli_print(&e->out);
}

static int run(struct explain *e, const char *target, const char *method)
{
	struct client c = { .fd = -1 };
	struct target t;
	struct visit visit = { 0 };
	struct buf full = { 0 };
	int status = visit_find(&visit, &c, target, &t);

	if (status == CLI_DONE)
		status = method_arg_resolve(&c, method, METHOD_NOW, &full);
	if (status != CLI_DONE)
		goto done;
	c.quiet = e->json;
	wire_put_explain(&c.out, &(struct wire_explain){ .method = buf_slice(&full) });
	if (e->json)
		json_open(&e->j, '[');
	status = client_ask(&c, take, e);
	if (e->json) {
		json_close(&e->j, ']');
		buf_u8(&e->out, '\n');
	}
	if (status != CLI_CANNOT && !cli_print(&e->out))
		status = CLI_CANNOT;
done:
	buf_release(&full);
	visit_end(&visit, &c);
	return status;
}

static const struct verb_option options[] = {
	{ "json", NULL, OPTION_FLAG, offsetof(struct explain, json), .help = "one JSON object" },
};

const struct verb verb_explain = {
	.usage = "[--json] [TARGET] METHOD",
	.about = "Says for each method meant whether it is hooked, by which rule, since when and "
		 "at what cost; why the other rules do not apply; and why it was left alone, if "
		 "it was. METHOD is one of a class that is loaded: com.shop.Cart::checkout, "
		 "'com.shop.Cart$Line::<init>'.\n"
		 "\n"
		 "TARGET is a pid, a main class or a jar; not needed when there is only one JVM. "
		 "With --json the answer is an array of texts.",
	.options = options,
	.n = COUNT(options),
	.status = "0 done, 2 wrong usage, or no such method is loaded, 3 could not.",
	.run = cmd_explain,
};

int cmd_explain(int argc, char **argv)
{
	struct explain e = { 0 };
	int status;

	status = verb_parse(&verb_explain, argc, argv, &e);
	if (status != CLI_GO_ON)
		return status;
	if (argc - optind != 1 && argc - optind != 2)
		return cli_usage(argv[0], "which method? [TARGET] com.shop.Cart::checkout");
	e.j = json_to(&e.out);
	status = run(&e, argc - optind == 2 ? argv[optind] : NULL, argv[argc - 1]);
	buf_release(&e.out);
	return status;
}
