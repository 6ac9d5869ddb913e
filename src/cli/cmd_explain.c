/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_explain.c - "sonde explain": why a method of a running program is hooked, or is not. */
#include <getopt.h>
#include <stdio.h>

#include "cli/cli.h"
#include "cli/client.h"
#include "cli/hook_rules.h"
#include "cli/target.h"

int cmd_explain(int argc, char **argv);

static const char help[] =
	"usage: sonde explain [--json] [TARGET] METHOD\n"
	"\n"
	"Says for each method meant whether it is hooked, by which rule, since when and at what cost; why\n"
	"the other rules do not apply; and why it was left alone, if it was.  METHOD is one of a class that\n"
	"is loaded: com.shop.Cart::checkout, 'com.shop.Cart$Line::<init>'.\n"
	"\n"
	"TARGET is a pid, a main class or a jar; not needed when there is only one JVM.  With --json the\n"
	"answer is an array of texts.\n"
	"\n"
	"Exit status: 0 done, 1 no class that is loaded has such a method, 2 wrong usage, 3 could not.\n";

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
	struct client c;
	struct target t;
	int status = target_find(target, &t);

	if (status == CLI_DONE)
		status = client_open(&c, &t);
	if (status != CLI_DONE)
		return status;
	c.quiet = e->json;
	wire_put_explain(&c.out, &(struct wire_explain){ .method = slice_str(method) });
	if (e->json)
		json_open(&e->j, '[');
	status = client_ask(&c, take, e);
	if (e->json) {
		json_close(&e->j, ']');
		buf_u8(&e->out, '\n');
	}
	if (status != CLI_CANNOT && !cli_print(&e->out))
		status = CLI_CANNOT;
	client_close(&c);
	return status;
}

int cmd_explain(int argc, char **argv)
{
	struct explain e = { 0 };
	int status;

	status = cli_json_option(argc, argv, help, &e.json);
	if (status != CLI_GO_ON)
		return status;
	if (argc - optind != 1 && argc - optind != 2)
		return cli_usage(argv[0], "which method? [TARGET] com.shop.Cart::checkout");
	e.j = json_to(&e.out);
	status = hook_rules_check_method(argv[0], argv[argc - 1]);
	if (status == CLI_DONE)
		status = run(&e, argc - optind == 2 ? argv[optind] : NULL, argv[argc - 1]);
	buf_release(&e.out);
	return status;
}
