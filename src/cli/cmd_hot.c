/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_hot.c - "sonde hot": where a running program spends its time, by samples. */
#include <getopt.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "cli/hot/compare.h"
#include "cli/hot/hot_show.h"
#include "cli/screen/cli.h"
#include "cli/outside/feed.h"
#include "cli/screen/private.h"
#include "cli/screen/term.h"
#include "export/collapsed.h"
#include "cli/verbs.h"
#include "export/pprof.h"

struct command_hot {
	struct sampled_wish wish;
	uint64_t top;
	bool no_lines;
	struct hot_view view;
	bool json;
	const char *file, *other; /* other: of stacks to compare with */
};

static bool ends_with(const char *text, const char *end)
{
	size_t n = strlen(text), m = strlen(end);

	return n > m && strcmp(text + n - m, end) == 0;
}

static bool is_pprof(const char *path)
{
	return ends_with(path, ".pprof") || ends_with(path, ".pb");
}

static int write_file(const struct command_hot *c, const struct sampled *s)
{
	const struct sampled_mode *mode = sampled_mode(s->mode);
	const struct pprof_about about = { .type = mode->type,
					   .unit = mode->unit,
					   .counts = mode->counts,
					   .value_each = s->mode == STACKS_CPU ? s->state.period_ns
									       : 1,
					   .period = s->state.period_ns,
					   .time_ns = s->began_ns,
					   .duration_ns = s->state.wall_ns };
	FILE *file = private_fopen(c->file);
	struct buf out = { 0 };
	bool good;

	if (!file)
		return cli_cannot("%s: %m", c->file);
	if (is_pprof(c->file))
		pprof_put(&out, &s->profile, &about);
	else
		collapsed_put(&out, &s->profile);
	good = !out.err && fwrite(out.p, 1, out.n, file) == out.n;
	good &= fclose(file) == 0;
	buf_release(&out);
	return good ? CLI_DONE : cli_cannot("%s: cannot be written", c->file);
}

static int print(struct command_hot *c, const struct sampled *s)
{
	struct ranking r;
	struct buf out = { 0 };
	int status = CLI_DONE;

	if (ranking_build(&r, &s->profile) < 0)
		return cli_cannot("out of memory");
	c->view.s = s;
	c->view.r = &r;
	if (c->json) {
		hot_json(&c->view, &out);
	} else {
		if (hot_has_about(s))
			hot_put_about(s, &out);
		(void)hot_show(&c->view, &out);
	}
	if (!cli_print(&out))
		status = CLI_CANNOT;
	buf_release(&out);
	ranking_release(&r);
	return status;
}

static int print_compared(struct command_hot *c, const struct sampled *s, const struct ranking *now,
			  const struct ranking *before)
{
	struct buf out = { 0 };
	size_t n;
	struct compared *all = compare_rankings(now, before, &n);
	int status = CLI_DONE;

	if (!all)
		return cli_cannot("out of memory");
	if (!c->json && hot_has_about(s))
		hot_put_about(s, &out);
	if (c->json)
		compare_json(all, n, &out);
	else
		compare_show(&c->view, all, n, &out);
	if (!cli_print(&out))
		status = CLI_CANNOT;
	buf_release(&out);
	mem_free(all);
	return status;
}

static int compare(struct command_hot *c, const struct sampled *s, const struct sampled *other)
{
	struct ranking now, before;
	int status;

	if (ranking_build(&now, &s->profile) < 0)
		return cli_cannot("out of memory");
	if (ranking_build(&before, &other->profile) < 0) {
		ranking_release(&now);
		return cli_cannot("out of memory");
	}
	status = print_compared(c, s, &now, &before);
	ranking_release(&now);
	ranking_release(&before);
	return status;
}

static int run(struct command_hot *c)
{
	struct sampled s, other;
	int status;

	sampled_init(&s);
	sampled_init(&other);
	status = feed_compared(&s, &other, &c->wish, c->other);
	if (status == CLI_DONE && c->file)
		status = write_file(c, &s);
	if (status == CLI_DONE)
		status = c->other ? compare(c, &s, &other) : print(c, &s);
	if (status == CLI_DONE && !s.profile.total) {
		fprintf(stderr, "sonde: %s: no samples\n", s.name);
		status = CLI_NO;
	}
	sampled_release(&s);
	sampled_release(&other);
	return status;
}

static int set_option(void *self, const char *name, int which, const char *value)
{
	struct command_hot *c = self;

	(void)which;
	if (!is_pprof(value) && !sampled_is_file(value))
		return cli_usage(
			name,
			"-o: the end of '%s' does not say what it is to be: .collapsed, .folded, "
			".txt, .pprof or .pb",
			value);
	c->file = value;
	return CLI_DONE;
}

static const struct verb_option options[] = {
	SAMPLED_OPTIONS(struct command_hot),
	{ "top", "N", OPTION_NUMBER, offsetof(struct command_hot, top),
	  .help = "so many functions, 20 if not given", .low = 1, .high = 1000000 },
	{ "above", "SHARE", OPTION_SHARE, offsetof(struct command_hot, view.above),
	  .help = "all functions with at least this share: 1%" },
	{ "no-lines", NULL, OPTION_FLAG, offsetof(struct command_hot, no_lines),
	  .help = "without the lines of callers and callees" },
	{ "output|o", "FILE", OPTION_OWN, 'o',
	  .help = "write all stacks: .collapsed, .folded or .txt (one line each), .pprof or .pb" },
	{ "compare", "FILE|TIME", OPTION_TEXT, offsetof(struct command_hot, other),
	  .help = "say what differs from the stacks in this file (-o FILE.collapsed wrote it), or from "
		  "another time of the same history" },
	VERB_JSON(struct command_hot, json, "print one JSON object"),
};

const struct verb verb_hot = {
	.usage = "[OPTION]... [TARGET]",
	.about =
		"Shows in which functions a running program spends its time: Java methods, compiled "
		"or interpreted, inlined ones told apart, the JVM's own code and native libraries. "
		"Nothing is hooked: threads are looked at by the clock, wherever they are, not at "
		"safepoints only.",
	.options = options,
	.n = COUNT(options),
	.more = "TARGET is a pid, a main class or a jar, not needed when there is only one JVM; the "
		"pid of any other program, which the kernel samples without an agent; or a file of stacks that -o FILE.collapsed has written; a recording of the JDK (.jfr); or a "
		"directory of 'sonde record'.",
	.status = "0 done, 1 nothing ran, 2 wrong usage, 3 could not.",
	.examples = "sonde hot 4711\n"
		    "sonde hot --for 30s --above 2% shop.jar\n"
		    "sonde hot -o shop.collapsed shop.jar",
	.run = cmd_hot,
	.set = set_option,
};

int cmd_hot(int argc, char **argv)
{
	struct command_hot c = { .top = 20 };
	const char *target;
	int status = verb_parse_target(&verb_hot, argc, argv, &c, &target);

	if (status != CLI_GO_ON)
		return status;
	status = sampled_settle(&c.wish, argv[0], target);
	if (status != CLI_GO_ON)
		return status;
	c.view.top = (size_t)c.top;
	c.view.lines = !c.no_lines;
	c.view.width = term_columns();
	c.view.utf8 = term_utf8();
	return run(&c);
}
