/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_dig.c - "sonde dig": finds out by itself why a running program is slow. */
#include <getopt.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "cli/attach/target.h"
#include "cli/client/dig_link.h"
#include "cli/client/memory.h"
#include "cli/client/method_arg.h"
#include "cli/client/visit.h"
#include "cli/screen/cli.h"
#include "cli/screen/output.h"
#include "cli/screen/figures.h"
#include "cli/screen/private.h"
#include "plan/dig/machine.h"
#include "cli/verbs.h"

struct command_dig {
	bool json, quiet, no_memory, aloud;
	const char *save, *method; /* as it was written */
	struct buf resolved;
	bool wait;
	uint64_t slow_ns, for_ns; /* as asked for; 0: not */
	struct memory memory;
	struct dig_options options;
	struct target target;
	struct dig_link link;
	struct machine_time machine; /* as it began */
};

static void tell(struct command_dig *c)
{
	client_tell(&c->link.dig.said, !c->quiet && (!c->json || c->aloud));
}

static void json_name(struct json *j, const char *key, struct slice name)
{
	if (!name.n)
		return;
	json_put_str(j, key, name);
}

static void json_estimated(struct json *j, const char *key, struct estimated e)
{
	json_put_open(j, key, '{');
	json_put_double(j, "value", e.value);
	if (e.margin >= 0)
		json_put_double(j, "margin", e.margin);
	json_close(j, '}');
}

static void json_contexts(struct json *j, const struct dig_answer *a)
{
	json_put_open(j, "contexts", '[');
	for (unsigned i = 0; i < a->n_contexts; i++) {
		const struct dig_context *c = &a->contexts[i];

		json_open(j, '{');
		json_put_open(j, "callers", '[');
		for (unsigned k = 0; k < c->n; k++)
			json_str(j, c->callers[k]);
		json_close(j, ']');
		json_put_bool(j, "slow", c->slow);
		json_estimated(j, "ns_per_call", c->mean);
		json_put_double(j, "calls", c->calls);
		json_close(j, '}');
	}
	json_close(j, ']');
}

static void json_cause(struct json *j, const struct dig_answer *a)
{
	json_put_open(j, "cause", '{');
	json_name(j, "method", a->guilty);
	json_put_text(j, "kind", a->verdict == DIG_GC ? "gc" : kind_word(a->kind));
	json_put_double(j, "kind_share", a->kind_share);
	if (a->doing)
		json_name(j, "doing", slice_str(a->doing->word));
	json_name(j, "where", a->where);
	json_put_open(j, "path", '[');
	for (unsigned i = 0; i < a->n_path; i++)
		json_str(j, a->path[i]);
	json_close(j, ']');
	if (a->is_measured) {
		json_estimated(j, "share", a->share);
		json_estimated(j, "ns_per_call", a->mean);
		json_estimated(j, "calls_per_root_call", a->per_root);
	}
	json_contexts(j, a);
	if (a->condition.condition.n) {
		json_name(j, "condition", a->condition.condition);
		json_name(j, "condition_at", a->condition_at);
		json_put_u64(j, "slow_calls", a->condition.slow);
		json_put_u64(j, "slow_calls_met", a->condition.slow_met);
		json_put_u64(j, "other_calls", a->condition.fast);
		json_put_u64(j, "other_calls_met", a->condition.fast_met);
	}
	json_name(j, "lock", a->lock_class);
	json_name(j, "lock_holder", a->lock_holder);
	json_name(j, "taken_by", a->taken_by);
	if (a->taken_by.n) {
		json_put_text(j, "taken_kind", kind_word(a->taken_kind));
		json_put_bool(j, "taken_surely", a->taken_surely);
	}
	json_name(j, "pool_task", a->task);
	json_name(j, "task", a->via.n ? a->via : a->crossing);
	json_name(j, "waiter", a->waiter);
	json_close(j, '}');
}

static void put_cost(struct json *j, struct dig_cost cost)
{
	json_put_double(j, "cost", cost.all);
	json_put_double(j, "cost_hooks", cost.hooks);
	json_put_double(j, "cost_agent", cost.agent);
	json_put_double(j, "cost_compilers", cost.compilers);
}

/* Parts are left out where there is hardly anything to divide. */
static void tell_cost(struct command_dig *c)
{
	struct dig_cost cost = dig_link_cost(&c->link);
	char all[FIGURE_MAX], hooks[FIGURE_MAX], agent[FIGURE_MAX], compilers[FIGURE_MAX];

	fprintf(stderr, "This took %.0f s and about %s of one processor in the program",
		(double)(clock_steady_ns() - c->link.cost.began_ns) / 1e9,
		figure_share(all, cost.all));
	if (cost.all > 0.002)
		fprintf(stderr, ": calls of hooked methods %s, the agent %s, compiling anew %s",
			figure_share(hooks, cost.hooks), figure_share(agent, cost.agent),
			figure_share(compilers, cost.compilers));
	fputs(".\n", stderr);
}

static void put_json(struct command_dig *c, struct buf *out)
{
	const struct dig_answer *a = &c->link.dig.answer;
	struct json j = json_to(out);
	struct buf text = { 0 };

	dig_print(&c->link.dig, &text);
	json_open(&j, '{');
	json_put_u64(&j, "pid", (uint64_t)c->target.pid);
	json_put_bool(&j, "slow", a->verdict != DIG_NOTHING);
	json_name(&j, "text", buf_slice(&text));
	json_name(&j, "root", a->root);
	json_put_double(&j, "root_mean_ns", a->root_mean);
	json_put_double(&j, "root_p50_ns", a->root_p50);
	json_put_double(&j, "root_p99_ns", a->root_p99);
	json_put_double(&j, "root_rate", a->root_rate);
	json_put_double(&j, "gc_share", a->gc_share);
	json_put_double(&j, "stolen_share", a->stolen_share);
	if (a->root_usual > 0) {
		json_put_double(&j, "root_usual_ns", a->root_usual);
		json_put_bool(&j, "breaks_with_past", a->breaks);
	}
	json_put_open(&j, "also_slow", '[');
	for (unsigned i = 0; i < a->n_others; i++)
		json_str(&j, a->others[i]);
	json_close(&j, ']');
	if (a->verdict != DIG_NOTHING || (a->is_measured && a->guilty.n))
		json_cause(&j, a);
	put_cost(&j, dig_link_cost(&c->link));
	json_put_bool(&j, "cost_calibrated", c->link.is_calibrated);
	json_close(&j, '}');
	buf_u8(out, '\n');
	buf_release(&text);
}

static int save(const struct command_dig *c)
{
	struct buf text = { 0 };
	FILE *f = private_fopen(c->save); /* conditions have values */
	bool good = f != NULL;

	dig_print_rules(&c->link.dig, &text);
	good = good && !text.err && fwrite(text.p, 1, text.n, f) == text.n;
	if (f && fclose(f) != 0)
		good = false;
	buf_release(&text);
	return good ? CLI_DONE : cli_cannot("%s: cannot be written", c->save);
}

/* What was found is used from the next start of the application on. */
static int remember(struct command_dig *c)
{
	struct dig *d = &c->link.dig;
	struct buf rules = { 0 }, text = { 0 };
	struct known_finding f = { .when = c->memory.when };
	int status;

	dig_print_rules(d, &rules);
	dig_print_short(d, &text);
	f.rules = buf_slice(&rules);
	f.text = buf_slice(&text);
	status = memory_keep(&c->memory, rules.n && !rules.err && !text.err ? &f : NULL);
	if (status == CLI_DONE && rules.n && c->memory.usable && !c->quiet && !c->json)
		fprintf(stderr, "Remembered for the next start of %s; 'sonde memory' shows it.\n",
			c->memory.app);
	if (rules.n && c->memory.foreign && !c->quiet && !c->json)
		fputs("Not remembered, since the program is another user's, or in a container; --save FILE "
		      "keeps the rules.\n",
		      stderr);
	buf_release(&rules);
	buf_release(&text);
	return status;
}

static int answer(struct command_dig *c)
{
	struct buf out = { 0 };
	int status = CLI_DONE;
	struct machine_time now;

	if (c->link.dig.err)
		return cli_cannot("%s", err_text(c->link.dig.err));
	now = dig_link_machine();
	c->link.dig.answer.stolen_share = machine_stolen(&c->machine, &now);
	if (c->json)
		put_json(c, &out);
	else
		dig_print(&c->link.dig, &out);
	if (!c->json && !c->quiet)
		tell_cost(c);
	if (!c->json)
		output_answer(&out);
	if (!cli_print(&out))
		status = CLI_CANNOT;
	buf_release(&out);
	if (status == CLI_DONE && c->save)
		status = save(c);
	if (status == CLI_DONE && !c->no_memory)
		(void)remember(c); /* the answer is there; a message has told what is wrong */
	if (status == CLI_DONE && c->link.dig.answer.verdict == DIG_NOTHING)
		status = CLI_NO;
	return status;
}

static int dig(struct command_dig *c)
{
	struct dig_link *l = &c->link;
	struct dig_action action;
	int status;

	c->machine = dig_link_machine();
	dig_link_begin(l);
	for (;;) {
		l->dig.spent_ns = dig_link_spent(l);
		dig_next(&l->dig, (double)clock_steady_ns(), &action);
		tell(c);
		if (action.step == DIG_DONE)
			return answer(c);
		status = dig_link_do(l, &action);
		tell(c);
		if (status != CLI_DONE)
			return status;
	}
}

static int run(struct command_dig *c, const char *target)
{
	struct visit visit = { 0 };
	int status = visit_find(&visit, &c->link.client, target, &c->target);

	if (status == CLI_DONE && c->method)
		status = method_arg_resolve(&c->link.client, c->method,
					    c->wait ? METHOD_POLL : METHOD_NOW, &c->resolved);
	if (status != CLI_DONE)
		goto done;
	visit_will_hook(&visit);
	c->options.method = buf_slice(&c->resolved);
	memory_open(&c->memory,
		    c->no_memory ? (struct slice){ NULL, 0 } : c->link.client.welcome.app,
		    c->target.pid);
	c->options.known = c->memory.usable ? &c->memory.known : NULL;
	c->options.when = c->memory.when;
	dig_init(&c->link.dig, &c->options);
	status = dig(c);
	if (client_interrupted())
		fprintf(stderr, "%ssonde: interrupted; its hooks go out again\n",
			isatty(STDERR_FILENO) ? "\n" : "");
	dig_release(&c->link.dig);
	memory_release(&c->memory);
done:
	buf_release(&c->resolved);
	visit_end(&visit, &c->link.client);
	return status;
}

static const struct verb_option options[] = {
	{ "slow", "TIME", OPTION_TIME, offsetof(struct command_dig, slow_ns),
	  .help = "calls from this time on are slow (otherwise 50ms, or ten times as long as usual)",
	  .low = 1 },
	{ "for", "TIME", OPTION_TIME, offsetof(struct command_dig, for_ns),
	  .help = "end after this time at the latest (otherwise 55s)", .low = 1 },
	{ "budget", "SHARE", OPTION_SHARE, offsetof(struct command_dig, options.budget),
	  .help = "what it may cost the program, of one processor (otherwise 1%)" },
	{ "save", "FILE", OPTION_TEXT, offsetof(struct command_dig, save),
	  .help = "write rules that watch what was found, for 'sonde run --rules'" },
	{ "no-memory", NULL, OPTION_FLAG, offsetof(struct command_dig, no_memory),
	  .help = "neither use nor keep what is known from before ('sonde memory' shows it)" },
	{ "wait", NULL, OPTION_FLAG, offsetof(struct command_dig, wait),
	  .help = "wait until the class of METHOD is loaded" },
	{ "quiet", NULL, OPTION_FLAG, offsetof(struct command_dig, quiet),
	  .help = "only the answer, not the reasoning" },
	{ "json", NULL, OPTION_FLAG, offsetof(struct command_dig, json),
	  .help = "print one JSON object" },
	{ "aloud", NULL, OPTION_FLAG, offsetof(struct command_dig, aloud),
	  .help = "the reasoning on stderr also with --json" },
};

const struct verb verb_dig = {
	.usage = "[OPTION]... [TARGET] [METHOD]",
	.about = "Finds out why a running program is slow: looks where its threads are, finds the "
		 "method whose calls are slow, hooks what it calls, keeps the branch that has the "
		 "time, and goes down until the time is explained: computing, a lock, input and "
		 "output, garbage collection, a queue. Says in which contexts and for which data "
		 "it is slow. All its hooks are out again at the end. TARGET is a pid, a main "
		 "class or a jar; METHOD (a.b.C::m) is explained, slow or not.",
	.options = options,
	.n = COUNT(options),
	.status = "0 something is slow, 1 nothing is, 2 wrong usage, 3 could not.",
	.examples = "sonde dig 4711\n"
		    "sonde dig shop.jar com.shop.Cart::checkout\n"
		    "sonde dig --slow 200ms --save shop.rules shop.jar",
	.run = cmd_dig,
};

int cmd_dig(int argc, char **argv)
{
	static struct command_dig c;
	bool has_target;
	int status;

	c = (struct command_dig){ .for_ns = 55000000000, .options = { .budget = 0.01 } };
	status = verb_parse(&verb_dig, argc, argv, &c);
	if (status != CLI_GO_ON)
		return status;
	c.options.slow_ns = (double)c.slow_ns;
	c.options.for_ns = (double)c.for_ns;
	if (argc - optind > 2)
		return cli_usage(argv[0], "wants a program, and at most one METHOD");
	has_target = argc - optind == 2 || (argc > optind && !strstr(argv[optind], "::"));
	if (argc - optind > has_target)
		c.method = argv[optind + has_target];
	return run(&c, has_target ? argv[optind] : NULL);
}
