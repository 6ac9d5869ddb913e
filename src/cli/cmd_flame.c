/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_flame.c - "sonde flame": samples of a running program as a flame graph, in one file. */
#include <getopt.h>
#include <stddef.h>
#include <stdio.h>

#include "base/plural.h"
#include "cli/hot/flame_page.h"
#include "cli/outside/feed.h"
#include "cli/screen/private.h"
#include "cli/verbs.h"

struct command_flame {
	struct sampled_wish wish;
	const char *file, *other; /* other: of stacks to compare with */
};

static const struct verb_option options[] = {
	{ "output|o", "FILE", OPTION_TEXT, offsetof(struct command_flame, file),
	  .help = "the page, flame.html if not given" },
	SAMPLED_OPTIONS(struct command_flame),
	{ "compare", "FILE|TIME", OPTION_TEXT, offsetof(struct command_flame, other),
	  .help = "colour by what differs from the stacks in this file, or from another time of the "
		  "same history" },
};

const struct verb verb_flame = {
	.usage = "[OPTION]... [TARGET]",
	.about =
		"Writes a flame graph of a running program: one web page that needs nothing else, with "
		"search, zoom, and the callers and callees of a function. Wide is what takes long; "
		"below a function is what it calls.",
	.options = options,
	.n = COUNT(options),
	.more = "TARGET is a pid, a main class or a jar, not needed when there is only one JVM; or a "
		"file of collapsed stacks (.collapsed, .folded, .txt), as 'sonde hot -o' and other "
		"profilers write them, a recording of the JDK (.jfr), or a directory of 'sonde record'.",
	.status = "0 done, 1 nothing ran, 2 wrong usage, 3 could not.",
	.examples = "sonde flame 4711 -o shop.html\n"
		    "sonde flame stacks.collapsed -o stacks.html\n"
		    "sonde flame new.collapsed --compare old.collapsed",
	.run = cmd_flame,
};

static int write_page(const struct command_flame *c, const struct sampled *s,
		      const struct sampled *before)
{
	FILE *file = private_fopen(c->file);
	struct buf out = { 0 };
	bool good;

	if (!file)
		return cli_cannot("%s: %m", c->file);
	flame_page_put(&out, s, before);
	good = !out.err && fwrite(out.p, 1, out.n, file) == out.n;
	good &= fclose(file) == 0;
	buf_release(&out);
	if (!good)
		return cli_cannot("%s: cannot be written", c->file);
	printf("%s: %llu sample%s\n", c->file, (unsigned long long)s->profile.total,
	       plural(s->profile.total));
	return CLI_DONE;
}

static int run(const struct command_flame *c)
{
	struct sampled s, other;
	int status;

	sampled_init(&s);
	sampled_init(&other);
	status = feed_compared(&s, &other, &c->wish, c->other);
	if (status == CLI_DONE && !s.profile.total) {
		fprintf(stderr, "sonde: %s: no samples\n", s.name);
		status = CLI_NO;
	}
	if (status == CLI_DONE)
		status = write_page(c, &s, c->other ? &other : NULL);
	sampled_release(&s);
	sampled_release(&other);
	return status;
}

int cmd_flame(int argc, char **argv)
{
	struct command_flame c = { .file = "flame.html" };
	const char *target;
	int status = verb_parse_target(&verb_flame, argc, argv, &c, &target);

	if (status != CLI_GO_ON)
		return status;
	status = sampled_settle(&c.wish, argv[0], target);
	if (status != CLI_GO_ON)
		return status;
	return run(&c);
}
