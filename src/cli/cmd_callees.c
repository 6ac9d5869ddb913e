/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_callees.c - "sonde callees": what a method of a running program calls. */
#include <getopt.h>
#include <stddef.h>
#include <stdio.h>

#include "classfile/calls.h"
#include "classfile/op.h"
#include "cli/attach/target.h"
#include "cli/client/client.h"
#include "cli/client/method_arg.h"
#include "cli/client/visit.h"
#include "cli/screen/cli.h"
#include "cli/screen/method_name.h"
#include "cli/verbs.h"

struct callees {
	bool json;
	uint32_t opcodes;
	struct target target;
	struct client client;
	struct buf out, caller; /* the method whose rows come */
	struct json j;
};

static const char *opcode_name(uint32_t op)
{
	return op < 256 && op_table[op].name ? op_table[op].name : "?";
}

static void put_name(struct buf *out, struct slice text)
{
	struct method_name name;

	method_name_split(text, &name);
	method_name_put(out, &name, true);
}

static void print_row(struct callees *x, const struct wire_callee *m)
{
	if (!slice_eq(m->caller, buf_slice(&x->caller))) {
		buf_clear(&x->caller);
		buf_put(&x->caller, m->caller);
		put_name(&x->out, m->caller);
		buf_u8(&x->out, '\n');
	}
	buf_printf(&x->out, "  %-15s %s", opcode_name(m->opcode),
		   m->flags & CALLEE_FOUND ? "-> " : "");
	put_name(&x->out, m->name);
	if (m->kind != CALL_METHOD)
		buf_printf(&x->out, "  (%s)", call_kind_text(m->kind));
	if (m->flags & CALLEE_NATIVE)
		buf_text(&x->out, "  (native)");
	if (m->flags & CALLEE_MORE)
		buf_text(&x->out, "  (and more)");
	if (m->lines.n) {
		buf_text(&x->out, "  line ");
		client_show_line(&x->out, m->lines);
	}
	buf_u8(&x->out, '\n');
}

static void print_json(struct callees *x, const struct wire_callee *m)
{
	struct json *j = &x->j;

	json_open(j, '{');
	json_put_str(j, "caller", m->caller);
	json_put_str(j, "name", m->name);
	json_put_text(j, "opcode", opcode_name(m->opcode));
	json_put_text(j, "kind", call_kind_text(m->kind));
	json_put_bool(j, "resolved", (m->flags & CALLEE_FOUND) != 0);
	json_put_u64(j, "sites", m->sites);
	json_put_str(j, "lines", m->lines);
	json_close(j, '}');
}

static bool take(void *ctx, unsigned type, struct slice payload)
{
	struct callees *x = ctx;
	struct wire_callee m;

	if (type != WIRE_callee || wire_get_callee(payload, &m) < 0)
		return true;
	if (x->json)
		print_json(x, &m);
	else
		print_row(x, &m);
	return true;
}

static int run(struct callees *x, const char *target, const char *method)
{
	struct visit visit = { 0 };
	struct buf full = { 0 };
	int status = visit_find(&visit, &x->client, target, &x->target);

	if (status == CLI_DONE)
		status = method_arg_resolve(&x->client, method, METHOD_NOW, &full);
	if (status != CLI_DONE)
		goto done;
	x->client.quiet = true;
	if (x->json) {
		json_open(&x->j, '{');
		json_put_u64(&x->j, "pid", (uint64_t)x->target.pid);
		json_put_open(&x->j, "calls", '[');
	}
	wire_put_callees(&x->client.out, &(struct wire_callees){ buf_slice(&full), x->opcodes, 0 });
	status = client_ask(&x->client, take, x);
	if (x->json) {
		json_close(&x->j, ']');
		json_close(&x->j, '}');
		buf_u8(&x->out, '\n');
	}
	if (status == CLI_DONE && !x->out.n)
		buf_text(&x->out, "It calls nothing.\n");
	if (status == CLI_DONE && !cli_print(&x->out))
		status = CLI_CANNOT;
done:
	buf_release(&full);
	visit_end(&visit, &x->client);
	return status;
}

static int parse_opcodes(struct callees *x, const char *name, const char *list)
{
	static const char *const words[] = { "virtual", "special", "static", "interface",
					     "dynamic" };

	while (*list) {
		size_t n = strcspn(list, ","), i = 0;
		struct slice word = { (const uint8_t *)list, n };

		while (i < COUNT(words) && !slice_is(word, words[i]))
			i++;
		if (i == COUNT(words))
			return cli_usage(name,
					 "--opcodes: '%.*s' is none of virtual, special, static, "
					 "interface, dynamic",
					 (int)n, list);
		x->opcodes |= 1u << i;
		list += n + (list[n] == ',');
	}
	return CLI_DONE;
}

static int set_option(void *self, const char *name, int which, const char *value)
{
	(void)which;
	return parse_opcodes(self, name, value);
}

static const struct verb_option options[] = {
	{ "opcodes", "LIST", OPTION_OWN, 'o',
	  .help = "which calls count, of virtual, special, static, interface and dynamic; "
		  "default: all" },
	{ "json", NULL, OPTION_FLAG, offsetof(struct callees, json),
	  .help = "print one JSON object" },
};

const struct verb verb_callees = {
	.usage = "[OPTION]... [TARGET] METHOD",
	.about = "Lists what a method of a running program calls, out of the byte code that the "
		 "JVM has, each callee once. Lambdas and method references are followed to the "
		 "methods behind them, virtual and interface calls to those methods of loaded "
		 "classes of the program that they can arrive at ('->'). METHOD is written as in "
		 "rules: a.b.C::m, a.b.C::m(int, ..).",
	.options = options,
	.n = COUNT(options),
	.more = "TARGET is a pid, a main class or a jar; not needed when there is only one JVM. "
		"'sonde class callees' does the same with class files.",
	.status = "0 done, 2 wrong usage, or no such method is loaded, 3 could not.",
	.examples = "sonde callees 4711 com.shop.Cart::checkout\n"
		    "sonde callees --opcodes interface,dynamic shop.jar 'com.shop.Cart::*'",
	.run = cmd_callees,
	.set = set_option,
};

int cmd_callees(int argc, char **argv)
{
	struct callees x = { 0 };
	int status, n;

	status = verb_parse(&verb_callees, argc, argv, &x);
	if (status != CLI_GO_ON)
		return status;
	n = argc - optind;
	if (n < 1 || n > 2)
		return cli_usage(argv[0], "wants a METHOD, and at most one program before it");
	x.j = json_to(&x.out);
	status = run(&x, n == 2 ? argv[optind] : NULL, argv[argc - 1]);
	buf_release(&x.out);
	buf_release(&x.caller);
	return status;
}
