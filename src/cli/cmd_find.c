/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_find.c - "sonde find": which classes and methods are loaded, by whom, how large, and hooked or
 * not. */
#include <getopt.h>
#include <stdio.h>

#include "cli/attach/target.h"
#include "cli/client/client.h"
#include "cli/client/visit.h"
#include "cli/screen/figures.h"
#include "cli/screen/method_name.h"
#include "cli/screen/table.h"
#include "cli/screen/term.h"
#include "cli/verbs.h"

struct find {
	bool json;
	uint64_t most;
	uint64_t shown;
	struct table table;
	struct buf names; /* each with a NUL behind it */
	struct buf out;
	struct json j;
};

static const struct verb_option options[] = {
	{ "top", "N", OPTION_NUMBER, offsetof(struct find, most),
	  .help = "show at most so many (default 200; 0: all)" },
	VERB_JSON(struct find, json, "print one JSON object"),
};

const struct verb verb_find = {
	.usage = "[OPTION]... [TARGET] PATTERN",
	.about =
		"Lists loaded classes: how many methods they have, how many of them are hooked, the "
		"class loader. With :: in the PATTERN it lists methods: bytes of code, and the "
		"number of the rule that hooks them. The agent is put in for as long as that takes.",
	.options = options,
	.n = COUNT(options),
	.more = "PATTERN is as in rules: com.shop.Cart, 'com.shop.**', '**.Cart::add*', or a class "
		"without its packages: Cart, Cart::*. TARGET is a pid, a main class or a jar; not "
		"needed when there is only one JVM.",
	.status = "0 done, 1 nothing of the kind is loaded, 2 wrong usage, 3 could not.",
	.examples = "sonde find 4711 'com.shop.**'\n"
		    "sonde find shop.jar 'Cart::*'",
	.run = cmd_find,
};

/* ---- rows ---- */

static void put_name(struct buf *out, const struct wire_found *m)
{
	for (size_t i = 0; i < m->class.n; i++)
		buf_u8(out, m->class.p[i] == '/' ? '.' : m->class.p[i]);
	if (m->method.n) {
		buf_u8(out, '.');
		buf_put(out, m->method);
		buf_put(out, m->desc);
	}
}

static void take_json(struct find *f, const struct wire_found *m)
{
	struct buf name = { 0 };

	put_name(&name, m);
	json_open(&f->j, '{');
	json_put_str(&f->j, m->method.n ? "method" : "class", buf_slice(&name));
	json_put_str(&f->j, "loader", m->loader);
	if (m->method.n) {
		json_put_u64(&f->j, "bytes", m->bytes);
		json_put_u64(&f->j, "rule", m->rule);
	} else {
		json_put_u64(&f->j, "methods", m->methods);
		json_put_u64(&f->j, "hooked", m->hooked);
	}
	json_close(&f->j, '}');
	buf_release(&name);
}

static const struct table_column of_classes[] = { { .head = "methods" },
						  { .head = "hooked", .rank = 1 } };
static const struct table_column of_methods[] = { { .head = "bytes" },
						  { .head = "rule", .rank = 1 } };

static void take_text(struct find *f, const struct wire_found *m)
{
	char text[32];

	if (!f->shown)
		table_init(&f->table, m->method.n ? of_methods : of_classes, 2);
	snprintf(text, sizeof(text), "%llu",
		 (unsigned long long)(m->method.n ? m->bytes : m->methods));
	table_cell(&f->table, m->method.n && !m->bytes ? "-" : text);
	snprintf(text, sizeof(text), m->method.n ? "#%llu" : "%llu",
		 (unsigned long long)(m->method.n ? m->rule : m->hooked));
	table_cell(&f->table, (m->method.n ? m->rule : m->hooked) ? text : "-");
	put_name(&f->names, m);
	buf_u8(&f->names, 0);
	buf_put(&f->names, m->loader);
	buf_u8(&f->names, 0);
	f->shown++;
}

static bool take(void *ctx, unsigned type, struct slice payload)
{
	struct find *f = ctx;
	struct wire_found m;

	if (type != WIRE_found || wire_get_found(payload, &m) < 0)
		return true;
	if (f->json)
		take_json(f, &m);
	else
		take_text(f, &m);
	return true;
}

static struct slice next_name(struct slice *rest)
{
	size_t n = strnlen((const char *)rest->p, rest->n);
	struct slice name = { rest->p, n };

	n += n < rest->n;
	*rest = (struct slice){ rest->p + n, rest->n - n };
	return name;
}

static void print_table(struct find *f)
{
	struct slice rest = buf_slice(&f->names), loader, before = { NULL, 0 };
	struct method_name name;

	if (!f->shown)
		return;
	table_layout(&f->table, term_columns(), 40);
	for (size_t i = 0; i < f->shown; i++) {
		struct slice text = next_name(&rest);

		loader = next_name(&rest);
		if (!slice_eq(loader, before)) { /* a heading where it changes */
			buf_text(&f->out, i ? "\nloaded by " : "loaded by ");
			client_show_line(&f->out, loader);
			buf_u8(&f->out, '\n');
			table_head(&f->table, &f->out);
			buf_u8(&f->out, '\n');
			before = loader;
		}
		table_row(&f->table, i, &f->out);
		method_name_split(text, &name);
		if (name.desc.n)
			method_name_put(&f->out, &name, true);
		else
			client_show_line(&f->out, text);
		buf_u8(&f->out, '\n');
	}
	buf_u8(&f->out, '\n');
	table_release(&f->table);
}

static int print(struct find *f, struct client *c, int status)
{
	if (f->json) {
		json_close(&f->j, ']');
		json_close(&f->j, '}');
		buf_u8(&f->out, '\n');
		return cli_print(&f->out) ? status : CLI_CANNOT;
	}
	print_table(f);
	if (status == CLI_DONE) {
		client_show(&f->out, buf_slice(&c->done));
		buf_u8(&f->out, '\n');
	}
	return cli_print(&f->out) ? status : CLI_CANNOT;
}

static int run(struct find *f, const char *target, const char *pattern)
{
	struct client client = { .fd = -1 };
	struct visit visit = { 0 };
	struct target t;
	int status = visit_find(&visit, &client, target, &t);

	if (status != CLI_DONE)
		return status;
	client.quiet = true;
	if (f->json) {
		json_open(&f->j, '{');
		json_put_open(&f->j, "found", '[');
	}
	wire_put_find(&client.out, &(struct wire_find){ slice_str(pattern), f->most });
	status = client_ask(&client, take, f);
	if (status <= CLI_NO)
		status = print(f, &client, status);
	visit_end(&visit, &client);
	return status;
}

int cmd_find(int argc, char **argv)
{
	struct find f = { .most = 200 };
	int status = verb_parse(&verb_find, argc, argv, &f), n = argc - optind;

	if (status != CLI_GO_ON)
		return status;
	if (n < 1 || n > 2)
		return cli_usage(argv[0], "which classes? [TARGET] PATTERN");
	f.j = json_to(&f.out);
	status = run(&f, n == 2 ? argv[optind] : NULL, argv[argc - 1]);
	buf_release(&f.names);
	buf_release(&f.out);
	return status;
}
