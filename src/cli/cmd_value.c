/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_value.c - "sonde value": static fields of a running program, and what lies below them. */
#include <ctype.h>
#include <getopt.h>
#include <stdio.h>

#include "cli/attach/target.h"
#include "cli/client/client.h"
#include "cli/client/visit.h"
#include "cli/screen/layout.h"
#include "cli/screen/secrets.h"
#include "cli/screen/term.h"
#include "cli/verbs.h"

enum { WIDTH = 100, INDENT = 2 };

struct command_value {
	uint64_t depth;
	bool json, open_secrets;
	struct buf redact, out;
	struct json j;
	struct buf before; /* the loader of the row before */
	uint64_t rows;
};

static void add_redact(struct command_value *v, const char *names)
{
	if (v->redact.n)
		buf_u8(&v->redact, ',');
	for (; *names; names++)
		buf_u8(&v->redact, (unsigned)tolower((unsigned char)*names));
}

static int set_option(void *self, const char *name, int which, const char *value)
{
	(void)name, (void)which;
	add_redact(self, value);
	return CLI_DONE;
}

static const struct verb_option options[] = {
	{ "x", "DEPTH", OPTION_NUMBER, offsetof(struct command_value, depth),
	  .help = "levels of objects in objects, 1 to 5, 2 if not given", .low = 1, .high = 5 },
	{ "redact", "NAME,...", OPTION_OWN, 'r',
	  .help = "do not show what has NAME in its name, beside the usual secrets" },
	{ "no-redact", NULL, OPTION_FLAG, offsetof(struct command_value, open_secrets),
	  .help = "show secrets, too: passwords, tokens, keys, cookies ..." },
	VERB_JSON(struct command_value, json, "print one JSON object"),
};

const struct verb verb_value = {
	.usage = "[OPTION]... [TARGET] CLASS.FIELD[PATH]\n[OPTION]... [TARGET] CLASS",
	.about =
		"Shows a static field of a running JVM, what lies below it, or all static fields of a "
		"class. Nothing is changed, loaded or initialised, and no method of the program is "
		"called but getters in PATH that do nothing besides giving a value. Values whose "
		"names look like secrets are hidden. The agent is put in for as long as that takes.",
	.options = options,
	.n = COUNT(options),
	.more = "CLASS goes without its packages where that is unique. PATH is as in conditions: "
		".name, .size(), [0], [\"key\"]. TARGET is a pid, a main class or a jar; not needed "
		"when there is only one JVM.",
	.status = "0 done, 1 there is no such class or field, 2 wrong usage, 3 could not.",
	.examples = "sonde value 4711 com.shop.Stock.ITEMS\n"
		    "sonde value 4711 'Stock.ITEMS[\"tea\"].price'\n"
		    "sonde value -x 4 shop.jar Stock",
	.run = cmd_value,
	.set = set_option,
};

static void take_json(struct command_value *v, const struct wire_static_value *m)
{
	json_open(&v->j, '{');
	json_put_str(&v->j, "class", m->class);
	json_put_str(&v->j, "loader", m->loader);
	json_put_str(&v->j, "field", m->name);
	json_put_str(&v->j, "type", m->type);
	json_put_str(&v->j, m->flags & VALUE_NONE ? "error" : "value", m->text);
	json_close(&v->j, '}');
}

static void put_class(struct buf *out, const struct wire_static_value *m)
{
	struct buf name = { 0 };

	buf_dotted(&name, m->class);
	client_show_line(out, buf_slice(&name));
	buf_release(&name);
}

/* A whole class has a heading; so has each of several classes of that name, by their loaders. */
static void take_text(struct command_value *v, const struct wire_static_value *m)
{
	unsigned width = term_columns() ? term_columns() : WIDTH;
	struct buf text = { 0 };

	if (m->flags & VALUE_NONE) {
		client_show_line(&text, m->name);
		fprintf(stderr, "sonde: %.*s: ", SLICE_FMT(buf_slice(&text)));
		buf_clear(&text);
		client_show_line(&text, m->text);
		fprintf(stderr, "%.*s\n", SLICE_FMT(buf_slice(&text)));
		buf_release(&text);
		return;
	}
	if (!slice_eq(buf_slice(&v->before), m->loader)) {
		buf_clear(&v->before);
		buf_put(&v->before, m->loader);
		put_class(&v->out, m);
		buf_text(&v->out, ", loaded by ");
		client_show_line(&v->out, m->loader);
		buf_u8(&v->out, '\n');
	}
	buf_text(&v->out, "  ");
	client_show_line(&v->out, m->name);
	buf_text(&v->out, " = ");
	client_show_line(&text, m->text);
	layout_put(&v->out, buf_slice(&text), INDENT, width);
	buf_release(&text);
}

static bool take(void *ctx, unsigned type, struct slice payload)
{
	struct command_value *v = ctx;
	struct wire_static_value m;

	if (type != WIRE_static_value || wire_get_static_value(payload, &m) < 0)
		return true;
	v->rows++;
	if (v->json)
		take_json(v, &m);
	else
		take_text(v, &m);
	return true;
}

static int ask(struct command_value *v, struct client *c, const char *path)
{
	int status;

	c->quiet = true;
	if (v->json) {
		json_open(&v->j, '{');
		json_put_u64(&v->j, "pid", (uint64_t)c->pid);
		json_put_open(&v->j, "values", '[');
	}
	wire_put_ask_value(&c->out, &(struct wire_ask_value){ slice_str(path), (uint32_t)v->depth,
							      buf_slice(&v->redact) });
	status = client_ask(c, take, v);
	if (status != CLI_DONE && !(status == CLI_NO && v->rows))
		return status;
	if (!v->rows && !v->json) {
		fputs("sonde: that class has no static fields\n", stderr);
		status = CLI_NO;
	}
	if (v->json) {
		json_close(&v->j, ']');
		json_close(&v->j, '}');
		buf_u8(&v->out, '\n');
	}
	return cli_print(&v->out) ? status : CLI_CANNOT;
}

static int run(struct command_value *v, const char *target, const char *path)
{
	struct client client = { .fd = -1 };
	struct visit visit = { 0 };
	struct target t;
	int status = visit_find(&visit, &client, target, &t);

	if (status != CLI_DONE)
		return status;
	status = v->redact.err ? cli_no_memory() : ask(v, &client, path);
	visit_end(&visit, &client);
	return status;
}

int cmd_value(int argc, char **argv)
{
	struct command_value v = { .depth = 2 };
	int status = verb_parse(&verb_value, argc, argv, &v), n = argc - optind;

	v.j = json_to(&v.out);
	if (status == CLI_GO_ON && (n < 1 || n > 2))
		status = cli_usage(argv[0], "which field? [TARGET] CLASS.FIELD");
	if (status == CLI_GO_ON) {
		if (!v.open_secrets)
			add_redact(&v, SECRETS_USUAL);
		status = run(&v, n == 2 ? argv[optind] : NULL, argv[argc - 1]);
	}
	buf_release(&v.redact);
	buf_release(&v.out);
	buf_release(&v.before);
	return status;
}
