/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_data.c - "sonde data": which values rules have captured, and how often. */
#include <getopt.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/json.h"
#include "base/plural.h"
#include "cli/attach/target.h"
#include "cli/client/client.h"
#include "cli/screen/cli.h"
#include "cli/screen/figures.h"
#include "cli/verbs.h"

struct data_rows {
	bool json;
	struct buf out;
	struct json j;
	bool open;    /* a name's list of values */
	uint64_t top; /* 0: all */
	unsigned shown, more;
	uint64_t names, total;
	uint64_t rules; /* that capture */
	struct buf why; /* such a rule does not fit a method */
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
	char total[2 * FIGURE_MAX], passed[32];

	end_name(d);
	d->open = true;
	d->names++;
	d->total += m->total;
	if (d->json) {
		json_open(&d->j, '{');
		json_put_str(&d->j, "name", m->name);
		json_put_u64(&d->j, "seen", m->total);
		json_put_u64(&d->j, "passed", m->passed);
		json_put_open(&d->j, "values", '[');
		return;
	}
	buf_text(&d->out, d->names > 1 ? "\n$" : "$");
	client_show_line(&d->out, m->name);
	buf_printf(&d->out, ": %s", figure_of(total, m->total, "value"));
	if (m->passed)
		buf_printf(&d->out, ", %s of them not told apart", cli_number(passed, m->passed));
	buf_u8(&d->out, '\n');
}

static void take_value(struct data_rows *d, const struct wire_value *m)
{
	char count[32], error[32];

	if (d->json) {
		json_open(&d->j, '{');
		json_put_str(&d->j, "value", m->text);
		json_put_u64(&d->j, "count", m->count);
		json_put_u64(&d->j, "error", m->error);
		json_close(&d->j, '}');
		return;
	}
	if (d->top && d->shown == d->top) {
		d->more++;
		return;
	}
	d->shown++;
	buf_printf(&d->out, "%12s  ", cli_number(count, m->count));
	client_show_line(&d->out, m->text);
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

static bool take_rule(void *ctx, unsigned type, struct slice payload)
{
	struct data_rows *d = ctx;
	struct wire_rule rule;
	struct wire_left left;

	if (type == WIRE_rule && wire_get_rule(payload, &rule) == 0) {
		d->rules += slice_starts(rule.text, slice_str("capture "));
	} else if (type == WIRE_left && wire_get_left(payload, &left) == 0 && left.why.n) {
		buf_clear(&d->why);
		client_show_line(&d->why, left.example);
		buf_text(&d->why, ": ");
		client_show_line(&d->why, left.why);
	}
	return true;
}

/* Says why there is no value. */
static int tell_none(struct client *c, struct data_rows *d)
{
	int status;

	wire_put_hooks(&c->out, &(struct wire_hooks){ 0 });
	status = client_ask(c, take_rule, d);
	if (status != CLI_DONE)
		return status;
	if (!d->rules)
		cli_cannot("no rule captures anything in %d; 'sonde hook TARGET \"capture NAME = "
			   "VALUE at METHOD\"' puts one in",
			   (int)c->pid);
	else if (d->why.n)
		cli_cannot("nothing is captured in %d: a rule does not fit %.*s", (int)c->pid,
			   SLICE_FMT(buf_slice(&d->why)));
	else
		cli_cannot("nothing is captured in %d yet: no call has come to where the %llu "
			   "rule%s with 'capture' look%s",
			   (int)c->pid, (unsigned long long)d->rules, plural(d->rules),
			   d->rules == 1 ? "s" : "");
	return CLI_NO;
}

static int show(struct client *c, struct data_rows *d)
{
	int status;

	d->j = json_to(&d->out);
	if (d->json) {
		json_open(&d->j, '{');
		json_put_u64(&d->j, "pid", (uint64_t)c->pid);
		json_put_open(&d->j, "captured", '[');
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
	return d->total ? CLI_DONE : tell_none(c, d);
}

static const struct verb_option options[] = {
	{ "top", "N", OPTION_NUMBER, offsetof(struct data_rows, top),
	  .help = "show so many values of each name (10; 0: all)" },
	{ "json", NULL, OPTION_FLAG, offsetof(struct data_rows, json), .help = "one JSON object" },
};

const struct verb verb_data = {
	.usage = "[--json] [--top N] [TARGET]",
	.about = "Shows the values that rules with 'capture' have kept in a running program, with "
		 "how often each was seen. The 64 most frequent of each name are known; a count "
		 "that may be too high by some is followed by how many. Values whose name looks "
		 "like a secret's are counted, not shown.",
	.options = options,
	.n = COUNT(options),
	.more = "TARGET is a pid, a main class or a jar; not needed when there is only one JVM.",
	.status = "0 done, 1 nothing is captured, 2 wrong usage, 3 could not.",
	.run = cmd_data,
};

int cmd_data(int argc, char **argv)
{
	struct data_rows d = { .top = 10 };
	struct client c;
	struct target t;
	const char *target;
	int status;

	status = verb_parse_target(&verb_data, argc, argv, &d, &target);
	if (status != CLI_GO_ON)
		return status;
	status = client_find(&c, target, &t);
	if (status != CLI_DONE)
		return status;
	status = show(&c, &d);
	buf_release(&d.out);
	buf_release(&d.why);
	client_close(&c);
	return status;
}
