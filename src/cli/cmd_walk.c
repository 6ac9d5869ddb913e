/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_walk.c - "sonde walk": from the hot spots of a running program up to who is responsible. */
#include <getopt.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/plural.h"
#include "cli/attach/target.h"
#include "cli/client/method_arg.h"
#include "cli/client/visit.h"
#include "cli/screen/cli.h"
#include "cli/screen/output.h"
#include "cli/walk/walk_diary.h"
#include "cli/walk/walk_json.h"
#include "cli/walk/walk_link.h"
#include "cli/verbs.h"
#include "plan/dig/sample_node.h"
#include "plan/walk/climb_print.h"

struct command_walk {
	uint64_t for_ns, look_ns, most_ns, top, hooks, calls, rate;
	double above;
	bool json, quiet, aloud, down, to_root;
	const char *method, *output, *program; /* program: as it was named */
	uint64_t every_ns, size_mib;
	bool daemon;
	struct buf from;
	struct target target;
	struct walk_link link;
};

static void tell(struct command_walk *c)
{
	client_tell(&c->link.climb.said, !c->quiet && (!c->json || c->aloud));
}

static void tell_end(const struct command_walk *c)
{
	const struct walk_link *l = &c->link;

	if (c->quiet || (c->json && !c->aloud))
		return;
	fprintf(stderr,
		"At most %llu of %u hook%s in the program at a time, in %u round%s; %s, %llu of its hook%s "
		"left.\n",
		(unsigned long long)l->most_own, l->climb.options.bound,
		l->climb.options.bound == 1 ? " was" : "s were", l->climb.rounds,
		plural(l->climb.rounds), l->is_out ? "all are out" : "not all are out",
		(unsigned long long)l->left, l->left == 1 ? "s is" : "s are");
}

static void put_text(const struct command_walk *c, struct buf *out)
{
	const struct climb *m = &c->link.climb;

	for (unsigned i = 0; i < m->n_spots; i++)
		if (m->spots[i].top)
			climb_put_tree(m, &m->spots[i], out);
	climb_put_answer(m, out);
}

static int answer(struct command_walk *c)
{
	struct buf out = { 0 }, shown = { 0 };
	int status = CLI_DONE;

	if (c->link.climb.err)
		return cli_cannot("%s", err_text(c->link.climb.err));
	tell_end(c);
	if (c->json)
		walk_json_put(&c->link, &out);
	else
		put_text(c, &out);
	client_show(&shown, buf_slice(&out));
	if (out.err)
		shown.err = out.err;
	if (!c->json)
		output_answer(&shown);
	if (!cli_print(&shown))
		status = CLI_CANNOT;
	buf_release(&shown);
	buf_release(&out);
	return status == CLI_DONE && !c->link.climb.n_spots ? CLI_NO : status;
}

static int walk(struct command_walk *c)
{
	struct walk_link *l = &c->link;
	struct climb_action action;
	int status;

	if (!c->quiet && (!c->json || c->aloud))
		fprintf(stderr, "Looking for hot spots for %.1f s.\n", (double)c->look_ns / 1e9);
	for (;;) {
		climb_next(&l->climb, (double)clock_steady_ns(), &action);
		tell(c);
		if (action.step == CLIMB_DONE)
			break;
		status = walk_link_do(l, &action);
		tell(c);
		if (status != CLI_DONE)
			return status;
	}
	status = walk_link_leave(l);
	return status == CLI_DONE ? answer(c) : status;
}

/* Goes on as dig, which explains the function that is responsible. */
static int go_down(const struct command_walk *c)
{
	const struct climb_spot *s = &c->link.climb.spots[0];
	const struct caller *to = s->verdict.node ? s->verdict.node->method : NULL;
	char pid[16], method[512];

	if (!c->link.climb.n_spots || !to || to->flags & CALLER_NATIVE) {
		fputs("There is no Java method to dig below.\n", stderr);
		return CLI_DONE;
	}
	snprintf(pid, sizeof(pid), "%d", (int)c->target.pid);
	snprintf(method, sizeof(method), "%.*s", SLICE_FMT(sample_node_plain(to->name)));
	fflush(NULL);
	execl("/proc/self/exe", "sonde", "dig", pid, method, c->json ? "--json" : NULL,
	      (char *)NULL);
	return cli_cannot("'sonde dig' cannot be run: %m");
}

static int find_from(struct command_walk *c)
{
	return c->method ? method_arg_resolve(&c->link.client, c->method, METHOD_NOW, &c->from)
			 : CLI_DONE;
}

static void init_plan(struct command_walk *c)
{
	climb_init(&c->link.climb, &(struct climb_options){ .above = c->above,
							    .top = (unsigned)c->top,
							    .from = buf_slice(&c->from),
							    .bound = (unsigned)c->hooks,
							    .sample_ns = (double)c->look_ns,
							    .for_ns = (double)c->for_ns,
							    .calls = (double)c->calls,
							    .most_ns = (double)c->most_ns,
							    .to_root = c->to_root });
}

static int run(struct command_walk *c, const char *target)
{
	int status = target_find_any(target, &c->target);
	struct visit visit = { 0 };

	if (status == CLI_DONE)
		status = visit_begin(&visit, &c->link.client, &c->target);
	if (status != CLI_DONE)
		return status;
	status = find_from(c);
	init_plan(c);
	if (status == CLI_DONE && !c->output)
		visit_will_hook(&visit);
	if (status == CLI_DONE)
		status = walk_link_begin(&c->link, &c->target);
	c->link.rate = (uint32_t)c->rate;
	if (status == CLI_DONE)
		status = walk(c);
	if (client_interrupted())
		fprintf(stderr, "%ssonde: interrupted; its hooks go out again\n",
			isatty(STDERR_FILENO) ? "\n" : "");
	walk_link_end(&c->link);
	visit_end(&visit, &c->link.client);
	if (status == CLI_DONE && c->down)
		status = go_down(c);
	climb_release(&c->link.climb);
	walk_link_release(&c->link);
	buf_release(&c->from);
	return status;
}

static int walk_for_diary(void *ctx)
{
	struct command_walk *c = ctx;

	c->quiet = true;
	return run(c, c->program);
}

static int run_often(struct command_walk *c)
{
	int status = target_find_any(c->program, &c->target);
	static char pid[16];
	struct walk_diary d = { .path = c->output,
				.every_ns = c->every_ns,
				.most_bytes = c->size_mib << 20,
				.json = c->json,
				.daemon = c->daemon,
				.program = c->target.pid,
				.walk = walk_for_diary,
				.ctx = c };

	snprintf(pid, sizeof(pid), "%d", (int)c->target.pid);
	c->program = pid; /* another program of that name may begin */
	return status == CLI_DONE ? walk_diary_write(&d) : status;
}

static const struct verb_option options[] = {
	{ "above", "SHARE", OPTION_SHARE, offsetof(struct command_walk, above),
	  .help = "hot spots have at least this share of the processor time (otherwise 10%)" },
	{ "top", "N", OPTION_NUMBER, offsetof(struct command_walk, top),
	  .help = "at most so many hot spots; so many if none has that share (otherwise 2)",
	  .low = 1, .high = CLIMB_SPOTS_MAX },
	{ "look", "TIME", OPTION_TIME, offsetof(struct command_walk, look_ns),
	  .help = "take samples for so long (otherwise 4s)", .low = 100000000 },
	{ "for", "TIME", OPTION_TIME, offsetof(struct command_walk, for_ns),
	  .help = "end after this time at the latest (otherwise 50s)", .low = 1000000000 },
	{ "calls", "N", OPTION_NUMBER, offsetof(struct command_walk, calls),
	  .help = "go up when a level was measured for so many calls (otherwise 300)", .low = 1 },
	{ "each", "TIME", OPTION_TIME, offsetof(struct command_walk, most_ns),
	  .help = "... or for this time (otherwise 3s)", .low = 300000000 },
	{ "hooks", "N", OPTION_NUMBER, offsetof(struct command_walk, hooks),
	  .help = "at most so many hooks at a time (otherwise 8)", .low = 2,
	  .high = CLIMB_HOOKS_MAX },
	{ "rate", "N", OPTION_NUMBER, offsetof(struct command_walk, rate),
	  .help = "samples a second of a thread that runs (otherwise 1000)", .low = 1,
	  .high = 10000 },
	{ "to-root", NULL, OPTION_FLAG, offsetof(struct command_walk, to_root),
	  .help = "walk on to the root when the answer is clear" },
	{ "down", NULL, OPTION_FLAG, offsetof(struct command_walk, down),
	  .help = "go on with 'sonde dig' below the method that is responsible" },
	{ "output|o", "FILE", OPTION_TEXT, offsetof(struct command_walk, output),
	  .help = "walk again and again, and append the answers to this file" },
	{ "every", "TIME", OPTION_TIME, offsetof(struct command_walk, every_ns),
	  .help = "with -o: from one walk to the next (otherwise 5m)", .low = 1000000000 },
	{ "size", "MIB", OPTION_NUMBER, offsetof(struct command_walk, size_mib),
	  .help = "with -o: the most that FILE and FILE.1 take together (otherwise 16)", .low = 1,
	  .high = 1 << 20 },
	{ "daemon", NULL, OPTION_FLAG, offsetof(struct command_walk, daemon),
	  .help = "with -o: in the background" },
	{ "quiet", NULL, OPTION_FLAG, offsetof(struct command_walk, quiet),
	  .help = "only the tree and the answer" },
	{ "aloud", NULL, OPTION_FLAG, offsetof(struct command_walk, aloud),
	  .help = "the reasoning on stderr also with --json" },
	VERB_JSON(struct command_walk, json, "print one JSON object"),
};

const struct verb verb_walk = {
	.usage = "[OPTION]... [TARGET] [METHOD]",
	.about =
		"Finds out who is responsible for the hot spots of a running program: takes samples, "
		"hooks a hot spot and its callers, measures them, takes the hook below out, and goes "
		"up one level at a time, until the answer is clear or a root is reached: main, the run "
		"method of a thread, a request. There are never more than eight hooks in the program.",
	.options = options,
	.n = COUNT(options),
	.more = "TARGET is a pid, a main class or a jar, not needed when there is only one JVM. With "
		"METHOD (a.b.C::m) the walk begins there.",
	.status = "0 done, 1 nothing is hot, 2 wrong usage, 3 could not.",
	.examples = "sonde walk 4711\n"
		    "sonde walk --above 5% --top 4 shop.jar\n"
		    "sonde walk shop.jar com.shop.Price::sum\n"
		    "sonde walk --daemon -o walks.txt --every 10m 4711",
	.run = cmd_walk,
};

int cmd_walk(int argc, char **argv)
{
	static struct command_walk c;
	bool has_target;
	int status;

	c = (struct command_walk){ .above = 0.1,
				   .top = 2,
				   .hooks = CLIMB_HOOKS_MAX,
				   .calls = 300,
				   .look_ns = 4000000000,
				   .most_ns = 3000000000,
				   .for_ns = 50000000000,
				   .every_ns = 300000000000,
				   .size_mib = 16 };
	status = verb_parse(&verb_walk, argc, argv, &c);
	if (status != CLI_GO_ON)
		return status;
	if (argc - optind > 2)
		return cli_usage(argv[0], "wants a program, and at most one METHOD");
	has_target = argc - optind == 2 || (argc > optind && !strstr(argv[optind], "::"));
	if (argc - optind > has_target)
		c.method = argv[optind + has_target];
	c.program = has_target ? argv[optind] : NULL;
	if (c.daemon && !c.output)
		return cli_usage(argv[0], "--daemon wants -o FILE for what it finds");
	if (c.output && c.down)
		return cli_usage(argv[0], "--down does not go with -o");
	return c.output ? run_often(&c) : run(&c, c.program);
}
