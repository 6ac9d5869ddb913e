/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_top.c - "sonde top": the hottest functions and threads of a running program, live. */
#include <getopt.h>
#include <stddef.h>
#include <stdio.h>

#include "base/clock.h"
#include "cli/client/live.h"
#include "cli/outside/feed.h"
#include "cli/screen/term.h"
#include "cli/top/top_keys.h"
#include "cli/top/top_view.h"
#include "cli/verbs.h"

enum { SECOND = 1000000000 };

struct command_top {
	struct sampled_wish wish;
	uint64_t rate, most, every_ns, over_ns, pages;
	bool plain, threads;
	struct sampled s;
	struct feed feed;
	struct lately lately;
	struct ranking r;
	struct top_list l;
	struct top_look look;
	struct lately_time end; /* of the last part */
};

static int build(struct command_top *c, char why[200])
{
	struct ranking fresh;
	int rc;

	lately_sum(&c->lately, c->look.page == TOP_THREADS ? 0 : c->look.thread, &c->s.profile);
	rc = c->s.profile.err ? c->s.profile.err : ranking_build(&fresh, &c->s.profile);
	if (rc == 0) {
		ranking_release(&c->r);
		c->r = fresh;
		if (top_list_build(&c->l, &c->look, &c->s, &c->r))
			return CLI_DONE;
	}
	snprintf(why, 200, "out of memory");
	return CLI_CANNOT;
}

/* On a terminal that waits for keys, by live_run: what has come until now; else for a page. */
static int take(struct command_top *c, char why[200])
{
	uint64_t end = clock_steady_ns() + (term_is_live() ? 0 : c->every_ns);
	int status = feed_take(&c->feed, 0, why);

	while (status == CLI_DONE && !client_interrupted() && clock_steady_ns() < end)
		status = feed_take(&c->feed, 100, why);
	return status;
}

static bool end_part(struct command_top *c)
{
	const struct lately_time end = { clock_steady_ns(), c->s.state.wall_ns, c->s.state.cpu_ns };
	const struct lately_time time = { end.seen_ns - c->end.seen_ns,
					  end.wall_ns - c->end.wall_ns,
					  end.cpu_ns - c->end.cpu_ns };

	c->end = end;
	return lately_add(&c->lately, &c->s.profile, &time);
}

static int ask(void *ctx, char why[200])
{
	struct command_top *c = ctx;
	int status;

	profile_forget_stacks(&c->s.profile);
	status = take(c, why);
	if (status != CLI_DONE)
		return status;
	if (!end_part(c)) {
		snprintf(why, 200, "out of memory");
		return CLI_CANNOT;
	}
	return c->look.paused ? CLI_DONE : build(c, why);
}

static void show(void *ctx, struct buf *out, unsigned columns, unsigned rows)
{
	struct command_top *c = ctx;
	const struct top_view v = { .s = &c->s,
				    .lately = &c->lately,
				    .r = &c->r,
				    .l = &c->l,
				    .look = &c->look,
				    .most = (size_t)c->most,
				    .is_jvm = !c->feed.is_outside };

	top_view_put(&v, out, columns, rows);
	if (!rows)
		buf_u8(out, '\n'); /* between two pages */
}

static bool key(void *ctx, int pressed)
{
	struct command_top *c = ctx;
	enum top_does does =
		top_keys_press(&c->look, &c->l, &c->r, pressed, top_view_rows(term_rows()));
	char why[200];

	if (does == TOP_FORGET)
		lately_release(&c->lately);
	if (does != TOP_SAME)
		(void)build(c, why); /* when memory is out, the next round says so */
	return true;
}

static bool typing(void *ctx)
{
	return ((const struct command_top *)ctx)->look.typing;
}

static const struct verb_option options[] = {
	{ "every", "TIME", OPTION_TIME, offsetof(struct command_top, every_ns),
	  .help = "how often the picture is new, 1s if not given", .low = SECOND / 10 },
	{ "over", "TIME", OPTION_TIME, offsetof(struct command_top, over_ns),
	  .help = "the time that is shown, up to now: 10s if not given", .low = SECOND / 10 },
	{ "rate", "N", OPTION_NUMBER, offsetof(struct command_top, rate),
	  .help = "samples a second of a thread that runs, 1000 if not given", .low = 1,
	  .high = 10000 },
	{ "threads", NULL, OPTION_FLAG, offsetof(struct command_top, threads),
	  .help = "begin with the threads" },
	{ "plain", NULL, OPTION_FLAG, offsetof(struct command_top, plain),
	  .help = "pages of text one after the other, as where no terminal is" },
	{ "n", "N", OPTION_NUMBER, offsetof(struct command_top, pages),
	  .help = "end after N pages; means --plain", .low = 1 },
	{ "top", "N", OPTION_NUMBER, offsetof(struct command_top, most),
	  .help = "so many rows of a page, 20 if not given", .low = 1, .high = 1000000 },
};

const struct verb verb_top = {
	.usage = "[OPTION]... [TARGET]",
	.about =
		"Shows which functions and threads of a running program use the processors, over the last "
		"seconds, anew each second. Samples are taken as by 'sonde hot'; nothing is hooked.",
	.options = options,
	.n = COUNT(options),
	.more = "Keys: arrows move, Enter shows the callers and callees of a function or the functions of a "
		"thread, Esc goes back, s sorts by self or total, t shows threads, / filters, p stops the "
		"picture, h shows all keys, q ends.\n\n"
		"TARGET is a pid, a main class or a jar, not needed when there is only one JVM; or the pid of "
		"any other program, which the kernel samples without an agent.",
	.status = "0 done, 2 wrong usage, 3 could not, or the program ended.",
	.examples = "sonde top 4711\n"
		    "sonde top --threads shop.jar\n"
		    "sonde top -n 1 --over 5s --every 5s shop.jar",
	.run = cmd_top,
};

static int run(struct command_top *c)
{
	bool plain = c->plain || c->pages || !term_is();
	const struct live live = { .interval_ms = plain ? 0 : (unsigned)(c->every_ns / 1000000),
				   .ask = ask,
				   .show = show,
				   .key = key,
				   .typing = typing,
				   .plain = plain,
				   .pages = c->pages };
	int status;

	sampled_init(&c->s);
	lately_init(&c->lately, (unsigned)((c->over_ns + c->every_ns - 1) / c->every_ns));
	status = feed_begin(&c->feed, &c->s, &c->wish);
	c->end.seen_ns = clock_steady_ns();
	if (status == CLI_DONE)
		status = live_run(&live, c);
	feed_end(&c->feed);
	top_list_release(&c->l);
	ranking_release(&c->r);
	lately_release(&c->lately);
	sampled_release(&c->s);
	return status;
}

int cmd_top(int argc, char **argv)
{
	struct command_top c = { .every_ns = SECOND, .over_ns = 10 * (uint64_t)SECOND, .most = 20 };
	const char *target;
	int status = verb_parse_target(&verb_top, argc, argv, &c, &target);

	if (status != CLI_GO_ON)
		return status;
	if (c.every_ns > 3600 * (uint64_t)SECOND || c.over_ns / c.every_ns >= LATELY_PARTS)
		return cli_usage(argv[0], "--over is at most %d times --every, and that an hour",
				 LATELY_PARTS);
	c.wish.target = target;
	c.wish.rate = (uint32_t)c.rate;
	c.look.page = c.threads ? TOP_THREADS : TOP_FUNCTIONS;
	return run(&c);
}
