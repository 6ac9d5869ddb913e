/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_record.c - "sonde record": samples of a running program for as long as it runs, one file a minute.
 *
 * The file of a minute is written when the minute of the clock is over, and at the end.  Stacks are kept
 * from one to the next, as the agent names those that it has told before; when they have become many,
 * all begins anew. */
#define _GNU_SOURCE /* O_NOFOLLOW */
#include <fcntl.h>
#include <getopt.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "cli/client/background.h"
#include "cli/hot/history.h"
#include "cli/hot/when.h"
#include "cli/outside/feed.h"
#include "cli/screen/figures.h"
#include "cli/verbs.h"

enum { RATE = 20, SIZE_MIB = 256, STACKS_KEPT = 100000, WAIT_MS = 1000, MS = 1000000 };
#define SECOND UINT64_C(1000000000)

struct command_record {
	struct sampled_wish wish;
	const char *dir;
	uint64_t size_mib, every_ns;
	bool samples, daemon;
	int begun; /* of a daemon: background.h; -1: none */
	struct history history;
	struct sampled s;
	struct feed feed;
	struct wire_stacks_state told; /* sums that were written already */
	uint64_t began_ns;	       /* of the next file, since 1970 */
	uint64_t end_ns;	       /* 0: none */
	struct wire_stacks_state all;  /* sums of all files */
	bool failed;		       /* the last file could not be written, which was said */
};

static volatile sig_atomic_t asked_to_end;

static void on_term(int signal)
{
	(void)signal;
	asked_to_end = 1;
}

/* ---- a file -------------------------------------------------------------------------------- */

static uint64_t grown(uint64_t *told, uint64_t now)
{
	uint64_t more = now > *told ? now - *told : 0;

	*told = now;
	return more;
}

static struct stretch_facts facts_of(struct command_record *c)
{
	const struct wire_stacks_state *m = &c->s.state;
	struct stretch_facts f = { .began_ns = c->began_ns,
				   .cpu_ns = grown(&c->told.cpu_ns, m->cpu_ns),
				   .own_ns = grown(&c->told.own_ns, m->own_ns),
				   .lost = grown(&c->told.lost, m->lost),
				   .period_ns = m->period_ns,
				   .samples = c->s.samples,
				   .left_out = c->s.left_out,
				   .mode = c->s.mode,
				   .threads = m->threads,
				   .pid = (uint32_t)c->s.pid,
				   .name = slice_str(c->s.name),
				   .engine = m->engine };
	uint64_t now = clock_ns(CLOCK_REALTIME);

	f.wall_ns = now > f.began_ns ? now - f.began_ns : 0;
	for (unsigned i = 0; i < WALK_ENDS && i < STRETCH_SUMS; i++)
		f.ends[i] = c->s.ends[i];
	for (unsigned i = 0; i < STACK_STATES && i < STRETCH_SUMS; i++)
		f.states[i] = c->s.states[i];
	c->began_ns = now;
	return f;
}

/* What went wrong is said once, until it goes well again: a full disk may be so for hours. */
static void write_file(struct command_record *c)
{
	struct stretch_facts f = facts_of(c);
	int err = history_write(&c->history, &f, &c->s.profile, c->size_mib << 20);

	if (err && !c->failed)
		fprintf(stderr, "sonde: %s: cannot be written: %s\n", c->dir, strerror(err));
	c->failed = err != 0;
	c->all.samples += f.samples;
	c->all.wall_ns += f.wall_ns;
	c->all.cpu_ns += f.cpu_ns;
	c->all.own_ns += f.own_ns;
	sampled_begin_anew(&c->s);
}

/* ---- a session ----------------------------------------------------------------------------- */

static void daemon_has_begun(struct command_record *c)
{
	static const int flags = O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC;

	if (c->begun >= 0)
		background_go_on(c->begun, openat(c->history.fd, "record.log", flags, 0600));
	c->begun = -1;
}

static bool is_over(const struct command_record *c)
{
	return client_interrupted() || asked_to_end ||
	       (c->end_ns && clock_steady_ns() >= c->end_ns);
}

static int wait_ms(const struct command_record *c, uint64_t cut)
{
	uint64_t real = clock_ns(CLOCK_REALTIME), now = clock_steady_ns(), left = WAIT_MS;

	if (cut > real && (cut - real) / MS < left)
		left = (cut - real) / MS;
	if (c->end_ns > now && (c->end_ns - now) / MS < left)
		left = (c->end_ns - now) / MS;
	return (int)left + 1;
}

/* Takes samples until time is over or there are too many stacks.  CLI_GO_ON: the latter; CLI_DONE; or
 * an exit status, with the reason. */
static int take(struct command_record *c, char why[200])
{
	uint64_t cut = (c->began_ns / c->every_ns + 1) * c->every_ns;
	int status = CLI_DONE;

	while (status == CLI_DONE && !is_over(c) && c->s.profile.n_stacks < STACKS_KEPT) {
		status = feed_take(&c->feed, wait_ms(c, cut), why);
		if (c->s.profile.err)
			return snprintf(why, 200, "%s", err_text(c->s.profile.err)), CLI_CANNOT;
		if (clock_ns(CLOCK_REALTIME) < cut)
			continue;
		write_file(c);
		cut = (c->began_ns / c->every_ns + 1) * c->every_ns;
	}
	return status == CLI_DONE && !is_over(c) ? CLI_GO_ON : status;
}

static int session(struct command_record *c)
{
	char why[200] = "";
	int status;

	sampled_init(&c->s);
	c->told = (struct wire_stacks_state){ 0 };
	status = feed_begin(&c->feed, &c->s, &c->wish);
	c->began_ns = clock_ns(CLOCK_REALTIME);
	if (status == CLI_DONE) {
		daemon_has_begun(c);
		status = take(c, why);
		write_file(c);
		if (status > CLI_DONE) {
			fprintf(stderr, "sonde: %s: these were its last samples\n", why);
			status = CLI_DONE;
		}
	}
	feed_end(&c->feed);
	sampled_release(&c->s);
	return status;
}

static void say_sums(const struct command_record *c)
{
	char n[2 * FIGURE_MAX], wall[FIGURE_MAX], bytes[FIGURE_MAX], agent[FIGURE_MAX],
		own[FIGURE_MAX];
	double all = c->all.wall_ns ? (double)c->all.wall_ns : 1;
	uint64_t cpu = clock_ns(CLOCK_PROCESS_CPUTIME_ID);

	printf("%s: %s in %s; ", c->dir, figure_of(n, c->all.samples, "sample"),
	       figure_time(wall, all));
	printf("%s with %s; ", figure_of(n, c->history.files, "file"),
	       figure_bytes(bytes, c->history.bytes));
	if (!c->feed.is_outside)
		printf("the agent's thread took %s of a processor, ",
		       figure_share(agent, (double)c->all.own_ns / all));
	printf("sonde itself %s\n", figure_share(own, (double)cpu / all));
}

static int run(struct command_record *c)
{
	struct sigaction act = { .sa_handler = on_term };
	int status = history_begin(&c->history, c->dir);

	if (status == CLI_DONE) {
		sigaction(SIGTERM, &act, NULL);
		if (c->wish.for_given)
			c->end_ns = clock_steady_ns() + c->wish.for_ns;
		do
			status = session(c);
		while (status == CLI_GO_ON);
		if (status == CLI_DONE)
			say_sums(c);
	}
	history_end(&c->history);
	return status == CLI_DONE && c->failed ? CLI_CANNOT : status;
}

static int run_daemon(struct command_record *c)
{
	pid_t pid = 0;
	int status = background_begin(&c->begun, &pid);

	if (status == CLI_GO_ON)
		return run(c);
	if (status == CLI_DONE)
		printf("process %d writes to %s until it gets SIGTERM: kill %d\n", (int)pid, c->dir,
		       (int)pid);
	return status;
}

/* ---- the verb ------------------------------------------------------------------------------ */

static const struct verb_option options[] = {
	{ "output|o", "DIR", OPTION_TEXT, offsetof(struct command_record, dir),
	  .help = "the directory of the history; created if it does not exist" },
	{ "samples", NULL, OPTION_FLAG, offsetof(struct command_record, samples),
	  .help = "record samples (the default)" },
	{ "size", "MIB", OPTION_NUMBER, offsetof(struct command_record, size_mib),
	  .help = "how large all files together may become, 256 if not given; the oldest go first",
	  .low = 1, .high = 1 << 20 },
	{ "every", "TIME", OPTION_TIME, offsetof(struct command_record, every_ns),
	  .help = "the time one file covers, 1m if not given", .low = SECOND,
	  .high = 3600 * SECOND },
	{ "rate", "N", OPTION_NUMBER, offsetof(struct command_record, wish.rate),
	  .help = "samples a second of a thread, 20 if not given", .low = 1, .high = 1000 },
	{ "wall", NULL, OPTION_FLAG, offsetof(struct command_record, wish.wall),
	  .help = "by the clock: threads that wait count as well as those that run" },
	{ "threads", NULL, OPTION_FLAG, offsetof(struct command_record, wish.threads),
	  .help = "each thread is the outermost caller in its stacks" },
	VERB_FOR(struct command_record, wish.for_ns,
		 "end after that; else when the program ends, or by Ctrl-C or SIGTERM"),
	{ "daemon", NULL, OPTION_FLAG, offsetof(struct command_record, daemon),
	  .help = "go to the background as soon as samples come" },
};

const struct verb verb_record = {
	.usage = "[OPTION]... -o DIR [TARGET]",
	.about =
		"Keeps a history of where a running program spends its time: samples at a low rate, for days, "
		"in a directory bounded by size. 'sonde hot DIR --at 14:05' says what was hot then, and 'sonde "
		"hot DIR --at 14:05 --compare yesterday' what has changed.",
	.options = options,
	.n = COUNT(options),
	.more = "TARGET is a pid, a main class or a jar, not needed when there is only one JVM; or the "
		"pid of any other program.",
	.status = "0 done, or the program has ended; 2 wrong usage, 3 could not.",
	.examples = "sonde record --samples --daemon -o /var/lib/shop.history shop.jar\n"
		    "sonde record --rate 5 --size 1024 -o history 4711",
	.run = cmd_record,
};

int cmd_record(int argc, char **argv)
{
	struct command_record c = {
		.wish.rate = RATE, .size_mib = SIZE_MIB, .every_ns = 60 * SECOND, .begun = -1
	};
	const char *target;
	int status = verb_parse_target(&verb_record, argc, argv, &c, &target);

	if (status != CLI_GO_ON)
		return status;
	if (!c.dir)
		return cli_usage(argv[0], "-o DIR is missing: where the history is to be kept");
	status = sampled_settle(&c.wish, argv[0], target);
	if (status != CLI_GO_ON)
		return status;
	c.wish.slow = true;
	return c.daemon ? run_daemon(&c) : run(&c);
}
