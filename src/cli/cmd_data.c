/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_data.c - "sonde data": which values rules have captured, and how often. */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/json.h"
#include "cli/cli.h"
#include "cli/client.h"
#include "cli/target.h"

int cmd_data(int argc, char **argv);

static const char help[] =
	"usage: sonde data [--json] [--top N] [TARGET]\n"
	"\n"
	"Shows the values that rules with 'capture' have kept in a running program, with how often each was\n"
	"seen.  The 64 most frequent of each name are known; a count that may be too high by some is\n"
	"followed by how many.  Values whose name looks like a secret's are counted, not shown.\n"
	"\n"
	"  --top N   show so many values of each name (10; 0: all)\n"
	"  --json    one JSON object\n"
	"\n"
	"TARGET is a pid, a main class or a jar; not needed when there is only one JVM.\n"
	"\n"
	"Exit status: 0 done, 1 nothing is captured, 2 wrong usage, 3 could not.\n";

struct data_rows {
	bool json;
	struct buf out;
	struct json j;
	bool open;    /* a name's list of values */
	unsigned top; /* 0: all */
	unsigned shown, more;
	uint64_t names;
};

static void end_name(struct data_rows *d)
{
	if (d->open && d->json) {
		json_close(&d->j, ']');
		json_close(&d->j, '}');
	} else if (d->more) {
		buf_printf(&d->out, "%12s  %u more\n", "", d->more);
	}
	d->open = false;
	d->shown = d->more = 0;
}

static void take_name(struct data_rows *d, const struct wire_captured *m)
{
	char total[32], passed[32];

	end_name(d);
	d->open = true;
	d->names++;
	if (d->json) {
		json_open(&d->j, '{');
		json_key(&d->j, "name");
		json_str(&d->j, m->name);
		cli_json_count(&d->j, "seen", m->total);
		cli_json_count(&d->j, "passed", m->passed);
		json_key(&d->j, "values");
		json_open(&d->j, '[');
		return;
	}
	buf_text(&d->out, d->names > 1 ? "\n$" : "$");
	client_show(&d->out, m->name);
	buf_printf(&d->out, ": %s values", cli_number(total, m->total));
	if (m->passed)
		buf_printf(&d->out, ", %s of them not told apart", cli_number(passed, m->passed));
	buf_u8(&d->out, '\n');
}

static void take_value(struct data_rows *d, const struct wire_value *m)
{
	char count[32], error[32];

	if (d->json) {
		json_open(&d->j, '{');
		json_key(&d->j, "value");
		json_str(&d->j, m->text);
		cli_json_count(&d->j, "count", m->count);
		cli_json_count(&d->j, "error", m->error);
		json_close(&d->j, '}');
		return;
	}
	if (d->top && d->shown == d->top) {
		d->more++;
		return;
	}
	d->shown++;
	buf_printf(&d->out, "%12s  ", cli_number(count, m->count));
	client_show(&d->out, m->text);
	if (m->error)
		buf_printf(&d->out, "  (up to %s too many)", cli_number(error, m->error));
	buf_u8(&d->out, '\n');
}

static bool take(void *ctx, unsigned type, struct slice payload)
{
	struct data_rows *d = ctx;
	struct wire_captured name;
	struct wire_value value;

	if (type == WIRE_captured && wire_get_captured(payload, &name) == 0)
		take_name(d, &name);
	else if (type == WIRE_value && wire_get_value(payload, &value) == 0)
		take_value(d, &value);
	return true;
}

static int show(struct client *c, struct data_rows *d)
{
	int status;

	d->j = json_to(&d->out);
	if (d->json) {
		json_open(&d->j, '{');
		cli_json_count(&d->j, "pid", (uint64_t)c->pid);
		json_key(&d->j, "captured");
		json_open(&d->j, '[');
	}
	c->quiet = true;
	wire_put_ask_data(&c->out, &(struct wire_ask_data){ 0 });
	status = client_ask(c, take, d);
	if (status != CLI_DONE)
		return status;
	end_name(d);
	if (d->json) {
		json_close(&d->j, ']');
		json_close(&d->j, '}');
		buf_u8(&d->out, '\n');
	}
	if (!cli_print(&d->out))
		return CLI_CANNOT;
	if (d->names)
		return CLI_DONE;
	cli_cannot("no rule captures anything in %d; 'sonde hook TARGET \"capture NAME = VALUE at "
		   "METHOD\"' puts one in",
		   (int)c->pid);
	return CLI_NO;
}

int cmd_data(int argc, char **argv)
{
	static const struct option options[] = {
		{ "json", no_argument, NULL, 'j' },
		{ "top", required_argument, NULL, 't' },
		{ "help", no_argument, NULL, 'h' },
		{ 0 },
	};
	struct data_rows d = { .top = 10 };
	struct client c;
	struct target t;
	char *end;
	int opt, status;

	cli_begin_options();
	while ((opt = getopt_long(argc, argv, "h", options, NULL)) != -1) {
		switch (opt) {
		case 'h':
			fputs(help, stdout);
			return CLI_DONE;
		case 'j':
			d.json = true;
			break;
		case 't':
			d.top = (unsigned)strtoul(optarg, &end, 10);
			if (*end || end == optarg)
				return cli_usage(argv[0], "--top needs a number");
			break;
		default:
			return CLI_USAGE;
		}
	}
	if (argc - optind > 1)
		return cli_usage(argv[0], "one program at a time");
	status = target_find(optind < argc ? argv[optind] : NULL, &t);
	if (status == CLI_DONE)
		status = client_open(&c, &t);
	if (status != CLI_DONE)
		return status;
	status = show(&c, &d);
	buf_release(&d.out);
	client_close(&c);
	return status;
}
