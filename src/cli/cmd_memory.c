/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_memory.c - "sonde memory": what is kept about applications, and how to be rid of it. */
#include <getopt.h>
#include <stddef.h>
#include <stdio.h>
#include <time.h>

#include "base/whole.h"
#include "cli/client/client.h"
#include "cli/client/memory.h"
#include "cli/screen/cli.h"
#include "plan/dig/dig.h"
#include "cli/verbs.h"

struct command_memory {
	bool forget, all, past, json;
	char **names;
	int n;
	struct buf out;
	struct json j;
	uint64_t met;
};

static bool is_meant(const struct command_memory *c, struct slice app)
{
	for (int i = 0; i < c->n; i++)
		if (slice_is(app, c->names[i]))
			return true;
	return c->n == 0;
}

static void put_when(struct buf *out, uint64_t when)
{
	time_t t = (time_t)when;
	char text[32] = "?";
	struct tm tm;

	if (localtime_r(&t, &tm))
		strftime(text, sizeof(text), "%Y-%m-%d %H:%M", &tm);
	buf_text(out, text);
}

static void put_text(struct command_memory *c, const struct known *k)
{
	client_show(&c->out, k->app);
	buf_u8(&c->out, '\n');
	for (const struct known_finding *f = k->findings; f; f = f->next) {
		struct slice rest = f->rules;

		buf_text(&c->out, "  found ");
		put_when(&c->out, f->when);
		buf_text(&c->out, ": ");
		client_show(&c->out, f->text);
		buf_u8(&c->out, '\n');
		while (rest.n) {
			const uint8_t *end = memchr(rest.p, '\n', rest.n);
			size_t n = end ? (size_t)(end - rest.p) : rest.n;

			buf_text(&c->out, "    ");
			client_show(&c->out, (struct slice){ rest.p, n });
			buf_u8(&c->out, '\n');
			rest = (struct slice){ rest.p + n + (end != NULL),
					       rest.n - n - (end != NULL) };
		}
	}
	if (k->n_past && !c->past)
		buf_printf(&c->out, "  times of %u method%s\n", k->n_past,
			   k->n_past == 1 ? "" : "s");
	for (const struct known_past *p = c->past ? k->past : NULL; p; p = p->next) {
		const struct known_run *last = &p->runs[p->n - 1];

		buf_text(&c->out, "  ");
		dig_put_name(&c->out, p->method);
		buf_printf(&c->out, ": in %u look%s, last ", p->n, p->n == 1 ? "" : "s");
		put_when(&c->out, last->when);
		buf_text(&c->out, ", usually ");
		dig_put_time(&c->out, known_usual(p) > 0 ? known_usual(p) : last->mean);
		buf_text(&c->out, p->n < KNOWN_LEAST ? " (too few to go by)\n" : "\n");
	}
}

static void json_past(struct json *j, const struct known *k)
{
	json_put_open(j, "past", '[');
	for (const struct known_past *p = k->past; p; p = p->next) {
		json_open(j, '{');
		json_put_str(j, "method", p->method);
		json_put_double(j, "usual_ns", known_usual(p));
		json_put_open(j, "looks", '[');
		for (unsigned i = 0; i < p->n; i++) {
			json_open(j, '{');
			json_put_u64(j, "when", p->runs[i].when);
			json_put_u64(j, "calls", whole_of(p->runs[i].calls));
			json_put_u64(j, "mean_ns", whole_of(p->runs[i].mean));
			json_put_u64(j, "p50_ns", whole_of(p->runs[i].p50));
			json_put_u64(j, "p99_ns", whole_of(p->runs[i].p99));
			json_close(j, '}');
		}
		json_close(j, ']');
		json_close(j, '}');
	}
	json_close(j, ']');
}

static void put_json(struct command_memory *c, const struct known *k)
{
	struct json *j = &c->j;

	json_open(j, '{');
	json_put_str(j, "application", k->app);
	json_put_open(j, "findings", '[');
	for (const struct known_finding *f = k->findings; f; f = f->next) {
		json_open(j, '{');
		json_put_u64(j, "when", f->when);
		json_put_str(j, "text", f->text);
		json_put_str(j, "rules", f->rules);
		json_close(j, '}');
	}
	json_close(j, ']');
	json_past(j, k);
	json_close(j, '}');
}

static int visit(void *ctx, const struct known *k)
{
	struct command_memory *c = ctx;

	if (!is_meant(c, k->app))
		return 0;
	c->met++;
	if (c->forget && memory_forget(k->app)) {
		buf_text(&c->out, "Forgotten: ");
		client_show(&c->out, k->app);
		buf_u8(&c->out, '\n');
	} else if (c->json) {
		put_json(c, k);
	} else {
		put_text(c, k);
	}
	return 0;
}

static int show(struct command_memory *c)
{
	int status = CLI_DONE;

	c->j = json_to(&c->out);
	if (c->json && !c->forget) {
		json_open(&c->j, '{');
		json_put_open(&c->j, "applications", '[');
	}
	memory_each(visit, c);
	if (c->json && !c->forget) {
		json_close(&c->j, ']');
		json_close(&c->j, '}');
		buf_u8(&c->out, '\n');
	}
	if (!cli_print(&c->out))
		status = CLI_CANNOT;
	if (!c->met && status == CLI_DONE) {
		fprintf(stderr, "sonde: nothing is remembered%s\n", c->n ? " of it" : "");
		status = CLI_NO;
	}
	buf_release(&c->out);
	return status;
}

static const struct verb_option options[] = {
	{ "forget", NULL, OPTION_FLAG, offsetof(struct command_memory, forget),
	  .help = "forget it; without APPLICATION only together with --all" },
	{ "all", NULL, OPTION_FLAG, offsetof(struct command_memory, all),
	  .help = "all applications" },
	{ "past", NULL, OPTION_FLAG, offsetof(struct command_memory, past),
	  .help = "also list the methods and what a call of them usually takes" },
	{ "json", NULL, OPTION_FLAG, offsetof(struct command_memory, json),
	  .help = "print one JSON object" },
};

const struct verb verb_memory = {
	.usage = "[OPTION]... [APPLICATION]...",
	.about = "Shows what is remembered of applications: what 'sonde dig' has found, as rules "
		 "that 'sonde run' uses from the next start on, and how long methods took in "
		 "earlier looks, which 'sonde dig' compares with. APPLICATION is a main class, or "
		 "the file name of a jar, as listed; otherwise all.",
	.options = options,
	.n = COUNT(options),
	.status = "0 done, 1 nothing is remembered of it, 2 wrong usage, 3 could not.",
	.examples = "sonde memory\n"
		    "sonde memory --past com.shop.Main\n"
		    "sonde memory --forget shop.jar",
	.run = cmd_memory,
};

int cmd_memory(int argc, char **argv)
{
	struct command_memory c = { 0 };
	int status;

	status = verb_parse(&verb_memory, argc, argv, &c);
	if (status != CLI_GO_ON)
		return status;
	c.names = argv + optind;
	c.n = argc - optind;
	if (c.all && c.n)
		return cli_usage(argv[0], "--all, or names of applications");
	if (c.forget && !c.n && !c.all)
		return cli_usage(argv[0], "--forget wants the name of an application, or --all");
	return show(&c);
}
