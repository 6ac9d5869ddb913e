/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_threads.c - "sonde threads": what the threads of a running program do, and wait for. */
#include <getopt.h>
#include <stdio.h>

#include "base/clock.h"
#include "cli/attach/target.h"
#include "cli/client/visit.h"
#include "cli/look/thread_show.h"
#include "cli/screen/term.h"
#include "cli/verbs.h"

enum { FRAMES = 8, FRAMES_MOST = 1024 };

struct command_threads {
	uint64_t for_ns, top, stacks, frames;
	bool json;
	const char *thread; /* number or name, or NULL */
};

static const struct verb_option options[] = {
	{ "for", "TIME", OPTION_TIME, offsetof(struct command_threads, for_ns),
	  .help = "over how long processor time is measured, 1s if not given; Ctrl-C ends it earlier",
	  .low = 100 * 1000 * 1000 },
	{ "top", "N", OPTION_NUMBER, offsetof(struct command_threads, top),
	  .help = "the N busiest threads, 20 if not given; 0: all" },
	{ "stacks", "N", OPTION_NUMBER, offsetof(struct command_threads, stacks),
	  .help = "the N stacks that most threads share, 5 if not given; 0: all" },
	{ "frames", "N", OPTION_NUMBER, offsetof(struct command_threads, frames),
	  .help = "frames of a stack, 8 if not given", .low = 1, .high = FRAMES_MOST },
	VERB_JSON(struct command_threads, json, "print one JSON object"),
};

const struct verb verb_threads = {
	.usage = "[OPTION]... [TARGET]\n[OPTION]... TARGET THREAD",
	.about =
		"Shows what the threads of a running JVM do: processor time by thread, states, the "
		"lock that a thread waits for and who holds it, deadlocks, and which threads stand "
		"at the same place. With THREAD, a number or a name, it shows that one with its whole "
		"stack. The agent is put in for as long as that takes; all threads are stopped for a "
		"moment, twice.",
	.options = options,
	.n = COUNT(options),
	.more = "TARGET is a pid, a main class or a jar; not needed when there is only one JVM. THREAD "
		"is a number as in the column #, a name, or a part of one name. Virtual threads are "
		"not among the rows, as the JVM lists none; those that run are seen in their carriers.",
	.status = "0 done, 1 there is no such thread, 2 wrong usage, 3 could not.",
	.examples = "sonde threads 4711\n"
		    "sonde threads --for 10s --top 5 shop.jar\n"
		    "sonde threads 4711 http-nio-8080-exec-4",
	.run = cmd_threads,
};

static bool take(void *ctx, unsigned type, struct slice payload)
{
	struct thread_look *s = ctx;
	struct wire_thread row;

	if (type == WIRE_thread && wire_get_thread(payload, &row) >= 0)
		thread_look_take(s, &row);
	else if (type == WIRE_vitals)
		wire_get_vitals(payload, &s->vitals);
	return true;
}

static int look(struct client *c, struct thread_look *s, const struct wire_ask_threads *ask)
{
	int status;

	wire_put_ask_threads(&c->out, ask);
	status = client_ask(c, take, s);
	return status == CLI_DONE && s->err ? cli_no_memory() : status;
}

/* Until the time is over, or Ctrl-C, or the agent has something to say, which is that it goes. */
static void pass_time(struct client *c, uint64_t ns)
{
	unsigned type;
	struct slice payload;

	client_next(c, (int)(ns / 1000000), &type, &payload);
}

static int print_one(const struct command_threads *w, struct thread_view *v)
{
	bool several;
	const struct thread_seen *t = thread_look_find(v->set, w->thread, &several);
	struct thread_seen *row[1];
	struct thread_look one = *v->set;
	struct buf out = { 0 };
	int status = CLI_DONE;

	if (!t) {
		fprintf(stderr,
			several ? "sonde: '%s' is a part of several threads' names; say which\n"
				: "sonde: no thread is called '%s', nor has that number\n",
			w->thread);
		return several ? CLI_USAGE : CLI_NO;
	}
	row[0] = (struct thread_seen *)t;
	one.v = row;
	one.n = 1;
	v->top = 0;
	if (w->json)
		thread_json(&(struct thread_view){ .set = &one,
						   .before = v->before,
						   .pid = v->pid,
						   .wall_ns = v->wall_ns },
			    &out);
	else
		thread_show_one(v, t, &out);
	status = cli_print(&out) ? CLI_DONE : CLI_CANNOT;
	buf_release(&out);
	return status;
}

static int print(const struct command_threads *w, struct thread_view *v)
{
	struct buf out = { 0 };
	int status;

	if (w->thread)
		return print_one(w, v);
	if (w->json)
		thread_json(v, &out);
	else
		thread_show(v, &out);
	status = cli_print(&out) ? CLI_DONE : CLI_CANNOT;
	buf_release(&out);
	return status;
}

static int compare(const struct command_threads *w, struct client *c)
{
	struct thread_look before, after;
	uint64_t begin = clock_steady_ns(), end;
	int status;

	thread_look_init(&before);
	thread_look_init(&after);
	status = look(c, &before, &(struct wire_ask_threads){ 0 });
	if (status == CLI_DONE) {
		pass_time(c, w->for_ns);
		end = clock_steady_ns();
		status = look(c, &after,
			      &(struct wire_ask_threads){ .frames = w->thread ? FRAMES_MOST
									      : (uint32_t)w->frames,
							  .flags = w->thread ? THREADS_LINES : 0 });
	}
	if (status == CLI_DONE && thread_look_compare(&after, &before, end - begin) < 0)
		status = cli_no_memory();
	if (status == CLI_DONE)
		status = print(w, &(struct thread_view){ .set = &after,
							 .before = &before,
							 .pid = c->pid,
							 .wall_ns = end - begin,
							 .top = w->top,
							 .stacks = w->stacks,
							 .frames = w->frames,
							 .width = term_columns() });
	thread_look_release(&before);
	thread_look_release(&after);
	return status;
}

int cmd_threads(int argc, char **argv)
{
	struct command_threads w = {
		.for_ns = 1000000000, .top = 20, .stacks = 5, .frames = FRAMES
	};
	int status = verb_parse(&verb_threads, argc, argv, &w), n = argc - optind;
	struct client client = { .fd = -1 };
	struct visit visit = { 0 };
	struct target t;

	if (status != CLI_GO_ON)
		return status;
	if (n > 2)
		return cli_usage(argv[0], "which threads? [TARGET] or TARGET THREAD");
	w.thread = n == 2 ? argv[optind + 1] : NULL;
	status = visit_find(&visit, &client, n ? argv[optind] : NULL, &t);
	if (status != CLI_DONE)
		return status;
	client.quiet = true; /* all there is to say is in the threads */
	status = compare(&w, &client);
	visit_end(&visit, &client);
	return status;
}
