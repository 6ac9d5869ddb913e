/* SPDX-License-Identifier: Apache-2.0 */
/* class_callees.c - "sonde class callees": which methods a method calls. */
#include "cli/classtools/class_tools.h"

#include <getopt.h>
#include <stddef.h>
#include <stdio.h>

#include "classfile/calls.h"
#include "classfile/show/show.h"
#include "cli/classtools/weave_hint.h"
#include "cli/classtools/weave_rules.h"
#include "cli/screen/verb.h"

struct callees {
	const char *name;
	struct calls_options options;
	bool json;
	struct arena mem; /* of METHOD */
	struct buf text;
	struct json j;
	bool failed;
};

static void print_lines(const struct class_call *c, struct buf *out)
{
	buf_text(out, c->n_lines == 0 ? "-" : "");
	for (uint32_t i = 0; i < c->n_lines; i++)
		buf_printf(out, "%s%u", i ? "," : "", c->lines[i]);
}

static void print_call(struct callees *x, const struct class_call *c)
{
	struct buf *out = &x->text;

	buf_printf(out, "  %-15s ", op_table[c->op].name);
	hint_print_class(c->owner, out);
	buf_text(out, "::");
	show_name(out, c->name);
	buf_u8(out, ' ');
	show_name(out, c->desc);
	buf_text(out, "  lines ");
	print_lines(c, out);
	buf_printf(out, "  %s ", call_kind_text(c->kind));
	show_name(out, c->site_name);
	out->n -= !c->site_name.n && out->n;
	buf_u8(out, '\n');
}

static void print_call_json(struct callees *x, const struct class_call *c)
{
	struct json *j = &x->j;

	json_open(j, '{');
	json_put_text(j, "opcode", op_table[c->op].name);
	json_put_text(j, "kind", call_kind_text(c->kind));
	json_put_str(j, "owner", c->owner);
	json_put_str(j, "name", c->name);
	json_put_str(j, "descriptor", c->desc);
	if (c->site_name.n)
		json_put_str(j, "site_name", c->site_name);
	json_put_u64(j, "sites", c->sites);
	json_put_open(j, "lines", '[');
	for (uint32_t i = 0; i < c->n_lines; i++)
		json_u64(j, c->lines[i]);
	json_close(j, ']');
	json_close(j, '}');
}

static void print_method(struct callees *x, const struct hint_found *found)
{
	struct slice owner = found->class_facts->name, name = found->facts->name;
	struct slice desc = found->facts->desc;

	if (x->json) {
		json_open(&x->j, '{');
		json_put_str(&x->j, "class", owner);
		json_put_str(&x->j, "name", name);
		json_put_str(&x->j, "descriptor", desc);
		return;
	}
	hint_print_class(owner, &x->text);
	buf_text(&x->text, "::");
	show_name(&x->text, name);
	signature_print(desc, &x->text);
	buf_u8(&x->text, '\n');
}

static void print_failure(struct callees *x, const struct hint_found *found, const struct fault *f)
{
	x->failed = true;
	if (x->json)
		cli_fault_json(&x->j, f);
	else
		cli_cannot("%s: %s", found->src->shown, f->text);
}

static int on_method(void *ctx, const struct hint_found *found)
{
	struct callees *x = ctx;
	struct fault f = { 0 };
	struct class_call *calls = NULL;
	struct code *code;
	uint32_t n = 0;
	int rc = 0;

	print_method(x, found);
	if (found->method->code.p) {
		rc = code_elevate(found->cls, found->method, &code, &f);
		if (rc >= 0)
			rc = calls_of(code, &x->options, &calls, &n, &f);
		if (rc < 0)
			print_failure(x, found, &f);
	}
	if (x->json) {
		json_put_open(&x->j, "calls", '[');
	}
	for (uint32_t i = 0; rc >= 0 && i < n; i++) {
		if (x->json)
			print_call_json(x, &calls[i]);
		else
			print_call(x, &calls[i]);
	}
	if (x->json) {
		json_close(&x->j, ']');
		json_close(&x->j, '}');
	} else if (!cli_print(&x->text)) {
		return E_IO;
	}
	return rc == E_NO_MEMORY ? rc : 0;
}

static int search(struct callees *x, const struct weave_set *set, const struct rule_target *target)
{
	struct hint hint;
	int rc;

	if (x->json) {
		json_open(&x->j, '{');
		json_put_open(&x->j, "methods", '[');
	}
	rc = hint_search(set, target, &x->mem, &hint, on_method, x);
	if (x->json) {
		json_close(&x->j, ']');
		json_close(&x->j, '}');
		buf_u8(&x->text, '\n');
	}
	if (rc < 0)
		return rc == E_IO ? CLI_CANNOT : cli_cannot("%s", err_text(rc));
	if (!cli_print(&x->text) || x->failed)
		return CLI_CANNOT;
	if (hint.hits)
		return CLI_DONE;
	hint_print(&hint, target, &x->text);
	fprintf(stderr, "sonde: %.*s\n", SLICE_FMT(buf_slice(&x->text)));
	return CLI_NO;
}

static int run(struct callees *x, char **specs, size_t n, const char *method)
{
	const struct rule_target *target;
	struct weave_set set;
	int rc, status = weave_rules_parse_method(&x->mem, x->name, method, &target);

	if (status != CLI_DONE)
		return status;
	set_init(&set);
	rc = set_read(&set, specs, n);
	status = rc < 0 ? cli_cannot("%s", err_text(rc)) : search(x, &set, target);
	if (status == CLI_DONE && set.unreadable)
		status = CLI_CANNOT;
	set_release(&set);
	return status;
}

static int parse_opcodes(struct callees *x, const char *list)
{
	static const char *const words[] = { "virtual",	  "special", "static",
					     "interface", "dynamic", "constant" };

	while (*list) {
		size_t n = strcspn(list, ","), skip = strncmp(list, "invoke", 6) == 0 ? 6 : 0,
		       i = 0;
		struct slice word = { (const uint8_t *)list + skip, n > skip ? n - skip : 0 };

		while (i < COUNT(words) && !slice_is(word, words[i]))
			i++;
		if (i == COUNT(words))
			return cli_usage(x->name,
					 "--opcodes: '%.*s' is none of virtual, special, "
					 "static, interface, dynamic, constant",
					 (int)n, list);
		x->options.mask |= 1u << i;
		list += n + (list[n] == ',');
	}
	return CLI_DONE;
}

static int set_option(void *self, const char *name, int which, const char *value)
{
	(void)name, (void)which;
	return parse_opcodes(self, value);
}

static const struct verb_option options[] = {
	{ "opcodes", "LIST", OPTION_OWN, 'o',
	  .help = "which calls count, of virtual, special, static, interface, dynamic, and "
		  "constant (dynamic constants); all but the last" },
	{ "all", NULL, OPTION_FLAG, offsetof(struct callees, options.all_sites),
	  .help = "every call site, not every callee once" },
	{ "json", NULL, OPTION_FLAG, offsetof(struct callees, json),
	  .help = "print one JSON object" },
};

const struct verb verb_class_callees = {
	.usage = "[OPTION]... SOURCE... METHOD",
	.about = "Lists what the code of a method calls, each callee once. Lambdas and method "
		 "references are followed to the methods behind them; string concatenation and "
		 "the like are named as what they are. METHOD is written as in rules: a.b.C::m, "
		 "a.b.C::m(int, ..), a.b.*::get*.",
	.options = options,
	.n = COUNT(options),
	.status = "0 done, 1 no such method, 3 something could not be read.",
	.examples = "sonde class callees app.jar com.shop.Cart::checkout\n"
		    "sonde class callees --opcodes dynamic @jdk/java.base 'java.util.**::*'",
	.run = class_callees_main,
	.set = set_option,
};

int class_callees_main(int argc, char **argv)
{
	struct callees x = { .name = argv[0] };
	int status;

	status = verb_parse(&verb_class_callees, argc, argv, &x);
	if (status != CLI_GO_ON)
		return status;
	if (argc - optind < 2)
		return cli_usage(argv[0], "wants classes and a METHOD");
	x.j = json_to(&x.text);
	arena_init(&x.mem);
	status = run(&x, argv + optind, (size_t)(argc - optind - 1), argv[argc - 1]);
	arena_release(&x.mem);
	buf_release(&x.text);
	return status;
}
