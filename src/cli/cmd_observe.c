/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_observe.c - "sonde observe": watches a program, and writes the rules that are worth
 * having. */
#include <errno.h>
#include <getopt.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/plural.h"
#include "cli/attach/target.h"
#include "cli/client/observe_link.h"
#include "cli/client/observe_start.h"
#include "cli/client/visit.h"
#include "cli/screen/cli.h"
#include "cli/screen/figures.h"
#include "rule/spell.h"
#include "cli/verbs.h"

struct command_observe {
	bool json, apply;
	const char *file;
	uint64_t most;
	struct observe_options options;
	struct target target;
	struct visit visit;
	struct observe_link link;
	pid_t child;
};

/* ---- what is written ----------------------------------------------------------------------- */

static void put_head(const struct command_observe *c, struct buf *out)
{
	const struct observe *o = &c->link.observe;
	const struct sample_vitals *v = &o->samples.vitals;
	time_t now = time(NULL);
	char when[40] = "";
	struct tm tm;

	if (localtime_r(&now, &tm))
		strftime(when, sizeof(when), "%Y-%m-%d %H:%M", &tm);
	buf_text(out, "# Rules that sonde observe wrote");
	buf_printf(out, ", %s, of ", when);
	spell_line(out, slice_str(c->target.name));
	buf_text(out, " (Java ");
	spell_line(out, slice_str(c->target.java[0] ? c->target.java : "?"));
	buf_text(out, ").\n");
	buf_printf(
		out,
		"# Looked %llu time%s at its threads in %.0f s, and counted calls for %.0f s.  For\n"
		"# 'sonde run --rules', 'sonde hook --rules' and 'sonde weave --rules'; edit as you like.\n",
		(unsigned long long)v->samples, plural(v->samples), (double)v->wall / 1e9,
		o->seconds);
}

static const char *choice_word(enum observe_choice c)
{
	static const char *const words[] = {
		[OBSERVE_TIMED] = "timed",     [OBSERVE_LIGHT] = "light",
		[OBSERVE_HOT] = "too hot",     [OBSERVE_SMALL] = "too small",
		[OBSERVE_ENDLESS] = "runs on", [OBSERVE_MINOR] = "minor"
	};

	return words[c];
}

static void put_method(const struct observe *o, const struct observe_method *m, struct json *j)
{
	struct buf reason = { 0 };

	observe_put_reason(o, m, &reason);
	json_open(j, '{');
	json_put_str(j, "method", m->name);
	json_put_text(j, "choice", choice_word(m->choice));
	json_put_double(j, "score", m->score);
	json_put_double(j, "share", m->share);
	json_put_double(j, "own_share", o->busy ? (double)m->own / (double)o->busy : 0);
	if (m->is_counted)
		json_put_double(j, "calls_per_second", m->rate);
	if (m->ns > 0)
		json_put_double(j, "ns_per_call", m->ns);
	json_put_double(j, "waits", m->waits);
	if (m->waits > 0) {
		json_put_text(j, "waits_for", kind_word(m->kind));
	}
	json_put_bool(j, "entry", m->is_entry);
	json_put_u64(j, "packages_called", m->n_packages);
	if (m->bytes)
		json_put_u64(j, "bytes", m->bytes);
	json_put_double(j, "cost", m->cost);
	json_put_str(j, "reason", buf_slice(&reason));
	json_close(j, '}');
	buf_release(&reason);
}

static void put_json(const struct command_observe *c, struct slice rules, struct buf *out)
{
	const struct observe *o = &c->link.observe;
	struct json j = json_to(out);

	json_open(&j, '{');
	json_put_u64(&j, "pid", (uint64_t)c->target.pid);
	json_put_u64(&j, "samples", o->samples.vitals.samples);
	json_put_u64(&j, "resting_threads", o->resting);
	json_put_double(&j, "counted_seconds", o->seconds);
	json_put_double(&j, "cost", o->cost);
	json_put_open(&j, "methods", '[');
	for (size_t i = 0; i < o->n; i++)
		if (o->list[i]->seen || o->list[i]->choice == OBSERVE_HOT)
			put_method(o, o->list[i], &j);
	json_close(&j, ']');
	json_put_str(&j, "rules", rules);
	json_close(&j, '}');
	buf_u8(out, '\n');
}

static int save(const char *file, struct slice text)
{
	FILE *f = fopen(file, "we");
	bool good = f && fwrite(text.p, 1, text.n, f) == text.n;
	int why = errno;

	if (f && fclose(f) != 0) {
		why = errno;
		good = false;
	}
	return good ? CLI_DONE : cli_cannot("%s: %s", file, strerror(why));
}

static unsigned hooked(const struct observe *o)
{
	unsigned n = 0;

	for (size_t i = 0; i < o->n; i++)
		n += observe_is_hooked(o->list[i]);
	return n;
}

static int write_all(struct command_observe *c, struct slice rules)
{
	struct buf out = { 0 };
	unsigned n = hooked(&c->link.observe);
	int status = c->file ? save(c->file, rules) : CLI_DONE;

	if (c->json)
		put_json(c, rules, &out);
	else if (!c->file)
		buf_put(&out, rules);
	if (status == CLI_DONE && out.n && !cli_print(&out))
		status = CLI_CANNOT;
	if (status == CLI_DONE && c->file && !c->json)
		fprintf(stderr, "sonde: %u rule%s in %s\n", n, n == 1 ? " is" : "s are", c->file);
	buf_release(&out);
	return status;
}

/* By a connection of its own: what the first one held is out by then. */
static int apply(struct command_observe *c, struct slice rules)
{
	int status;

	if (c->link.is_gone)
		return cli_cannot("the program has ended; there is nothing to apply the rules to");
	client_close(&c->link.client);
	status = client_open(&c->link.client, &c->target);
	if (status != CLI_DONE)
		return status;
	status = observe_link_apply(&c->link, rules);
	if (status == CLI_DONE)
		c->visit.attached = false; /* it stays */
	return status;
}

static int finish(struct command_observe *c)
{
	struct buf head = { 0 }, rules = { 0 };
	int status;

	put_head(c, &head);
	observe_print(&c->link.observe, buf_slice(&head), &rules);
	status = head.err || rules.err ? cli_no_memory() : write_all(c, buf_slice(&rules));
	if (status == CLI_DONE && !hooked(&c->link.observe))
		status = CLI_NO;
	else if (status == CLI_DONE && c->apply)
		status = apply(c, buf_slice(&rules));
	buf_release(&head);
	buf_release(&rules);
	return status;
}

/* ---- all of it ----------------------------------------------------------------------------- */

static int run(struct command_observe *c, const char *target, char **command)
{
	int status = command ? observe_start(command, &c->child, &c->target)
			     : target_find(target, &c->target);

	if (status == CLI_DONE)
		status = visit_begin(&c->visit, &c->link.client, &c->target);
	if (status == CLI_DONE) {
		visit_will_hook(&c->visit);
		observe_init(&c->link.observe, &c->options);
		status = observe_link_watch(&c->link);
		if (status == CLI_DONE)
			status = finish(c);
		observe_release(&c->link.observe);
		visit_end(&c->visit, &c->link.client);
	}
	observe_start_end(c->child);
	return status;
}

/* Where COMMAND begins: behind "--"; NULL: there is none. */
static char **command_in(int argc, char **argv)
{
	if (optind > 1 && optind < argc && strcmp(argv[optind - 1], "--") == 0)
		return argv + optind;
	return NULL;
}

static const struct verb_option options[] = {
	{ "o", "FILE", OPTION_TEXT, offsetof(struct command_observe, file),
	  .help = "write the rules there, not to stdout" },
	{ "for", "TIME", OPTION_TIME, offsetof(struct command_observe, link.for_ns),
	  .help = "how long to watch (default 20s); a program may end earlier", .low = 1 },
	{ "most", "N", OPTION_NUMBER, offsetof(struct command_observe, most),
	  .help = "at most so many rules (otherwise 30)", .low = 1, .high = 10000 },
	{ "budget", "SHARE", OPTION_SHARE, offsetof(struct command_observe, options.budget),
	  .help = "what the hooks may cost, of one processor (otherwise 2%)" },
	{ "apply", NULL, OPTION_FLAG, offsetof(struct command_observe, apply),
	  .help = "put the rules into the program, too" },
	{ "json", NULL, OPTION_FLAG, offsetof(struct command_observe, json),
	  .help = "print the methods and their figures as one JSON object" },
};

const struct verb verb_observe = {
	.usage = "[OPTION]... [TARGET]\n"
		 "[OPTION]... -o FILE -- COMMAND [ARGUMENT]...",
	.about = "Watches a program at work, by samples of its stacks and by counting calls, and "
		 "writes rules for the methods that are worth a hook: how much of the time they "
		 "have, how often they are called, whether they wait, where packages meet. Each "
		 "rule has its reason above it. TARGET is a pid, a main class or a jar; COMMAND "
		 "is started, watched, and left to run to its end.",
	.options = options,
	.n = COUNT(options),
	.more = "All counting hooks are out again at the end, and the agent, too, when it was "
		"not there before (unless --apply is given).",
	.status = "0 done, 1 nothing is worth a hook, 2 wrong usage, 3 could not.",
	.examples = "sonde observe -o shop.rules shop.jar\n"
		    "sonde observe --for 1m --apply 4711\n"
		    "sonde observe -o shop.rules -- java -jar shop.jar\n"
		    "sonde run --rules shop.rules --report - -- java -jar shop.jar",
	.run = cmd_observe,
};

int cmd_observe(int argc, char **argv)
{
	static struct command_observe c;
	char **command;
	int status;

	c = (struct command_observe){ .most = 30,
				      .options = { .budget = 0.02 },
				      .link = { .for_ns = 20000000000u } };
	status = verb_parse(&verb_observe, argc, argv, &c);
	if (status != CLI_GO_ON)
		return status;
	c.options.most = (unsigned)c.most;
	command = command_in(argc, argv);
	if (command && !c.file)
		return cli_usage(
			argv[0],
			"a COMMAND needs -o FILE for the rules: stdout is where the COMMAND itself prints");
	if (!command && argc - optind > 1)
		return cli_usage(
			argv[0],
			"one TARGET at a time; a COMMAND that is to be started stands behind --");
	return run(&c, optind < argc ? argv[optind] : NULL, command);
}
