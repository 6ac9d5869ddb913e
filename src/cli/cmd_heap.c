/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_heap.c - "sonde heap": what a JVM's heap is full of, and a dump of it.
 *
 * Both are the JVM's own work, asked for by its attach protocol: no agent is put in. */
#define _GNU_SOURCE /* memmem */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "cli/attach/hotspot.h"
#include "cli/attach/jvms.h"
#include "cli/client/client.h"
#include "cli/look/heap_rows.h"
#include "cli/screen/figures.h"
#include "cli/screen/output.h"
#include "cli/verbs.h"
#include "jvm/proc.h"

enum { HISTOGRAM_MAX = 64 << 20, REPLY_MAX = 1 << 16 };

struct command_heap {
	bool live, json;
	uint64_t top, wait_ns;
	const char *file, *class;
	char path[PATH_MAX]; /* of the file, for the JVM */
	struct target target;
	struct inside in;
	uint64_t begin;
};

static const struct verb_option options[] = {
	{ "live", NULL, OPTION_FLAG, offsetof(struct command_heap, live),
	  .help = "only what is still in use: the JVM collects all garbage before" },
	{ "top", "N", OPTION_NUMBER, offsetof(struct command_heap, top),
	  .help = "the N largest classes, 20 if not given; 0: all" },
	{ "dump", "FILE", OPTION_TEXT, offsetof(struct command_heap, file),
	  .help = "write the whole heap to a new file (HPROF), for its user alone" },
	{ "wait", "TIME", OPTION_TIME, offsetof(struct command_heap, wait_ns),
	  .help = "how long to wait for the JVM, 10m if not given", .low = 1000000 },
	VERB_JSON(struct command_heap, json, "print one JSON object"),
};

const struct verb verb_heap = {
	.usage = "[OPTION]... [TARGET]\n[OPTION]... TARGET CLASS",
	.about =
		"Shows how many objects of each class are in the heap of a running JVM, and their "
		"bytes; CLASS, a part of a name, picks some. All threads of the program stop while "
		"the JVM walks its heap: about a second for each GB, with --live longer; with --dump "
		"for as long as the file takes to be written. No agent is put in.",
	.options = options,
	.n = COUNT(options),
	.more = "A dump holds everything that the program knows, passwords, too. FILE is written by "
		"the JVM, where its user may write; a file that is there is left alone. TARGET is a "
		"pid, a main class or a jar; not needed when there is only one JVM.",
	.status = "0 done, 1 there is no such class in the heap, 2 wrong usage, 3 could not.",
	.examples = "sonde heap 4711\n"
		    "sonde heap --live --top 5 shop.jar\n"
		    "sonde heap 4711 com.shop.\n"
		    "sonde heap --dump /var/tmp/shop.hprof 4711",
	.run = cmd_heap,
};

static void tell_cost(const struct command_heap *w)
{
	struct buf text = { 0 };
	const char *rss;

	if (proc_read(w->target.pid, "status", 1 << 14, &text) >= 0) {
		buf_u8(&text, 0);
		rss = text.err ? NULL : strstr((const char *)text.p, "VmRSS:");
		if (rss) {
			char size[FIGURE_MAX];

			fprintf(stderr,
				"sonde: all threads of %d stop while its heap is %s (it takes %s of "
				"memory in all)%s\n",
				w->target.pid, w->file ? "written" : "walked",
				figure_bytes(size, strtoull(rss + 6, NULL, 10) * 1024),
				w->live ? "; garbage is collected before" : "");
		}
	}
	buf_release(&text);
}

static void waiting(unsigned seconds)
{
	(void)seconds;
}

/* How far the file is; of a dump that is written nobody knows how large it becomes. */
static void on_tick(void *ctx)
{
	const struct command_heap *w = ctx;
	char line[160], size[FIGURE_MAX], age[FIGURE_MAX];
	struct stat st = { 0 };
	int fd = w->file ? inside_file(&w->in, w->path, O_PATH | O_CLOEXEC, 0) : -1;

	if (fd >= 0)
		fstat(fd, &st);
	if (fd >= 0)
		close(fd);
	if (!isatty(STDERR_FILENO) || clock_steady_ns() - w->begin < 1000000000u)
		return;
	snprintf(line, sizeof(line), "the program stands still: %s%s%s",
		 figure_time(age, (double)(clock_steady_ns() - w->begin)),
		 fd >= 0 ? ", written: " : "",
		 fd >= 0 ? figure_bytes(size, (uint64_t)st.st_size) : "");
	output_status(slice_str(line));
}

static int ask(struct command_heap *w, const struct hotspot_request *r, struct buf *reply,
	       struct hotspot_answer *answer)
{
	struct hotspot h = { .in = &w->in,
			     .ns_pid = w->target.ns_pid,
			     .wait_ms = (unsigned)(w->wait_ns / 1000000),
			     .waiting = waiting,
			     .tick = on_tick,
			     .ctx = w };
	struct buf why = { 0 };
	int rc;

	tell_cost(w);
	w->begin = clock_steady_ns();
	rc = hotspot_ask(&h, r, reply);
	if (isatty(STDERR_FILENO))
		output_status(slice_str(""));
	if (rc >= 0 && hotspot_parse(buf_slice(reply), answer) && answer->status == 0)
		return CLI_DONE;
	client_show(&why, rc < 0 ? slice_str(h.why) : buf_slice(reply));
	cli_cannot("cannot look into the heap of %d: %.*s", w->target.pid,
		   SLICE_FMT(buf_slice(&why)));
	buf_release(&why);
	return CLI_CANNOT;
}

/* ---- the histogram ---- */

static int show(const struct command_heap *w, struct slice text)
{
	struct heap_rows rows;
	struct buf out = { 0 };
	bool any = false;
	int status;

	if (heap_rows_read(&rows, text) < 0) {
		heap_rows_release(&rows);
		return cli_no_memory();
	}
	for (size_t i = 0; w->class && i < rows.n && !any; i++) {
		struct slice name = heap_row_at(&rows, i)->class;

		any = memmem(name.p, name.n, w->class, strlen(w->class)) != NULL;
	}
	if (w->json)
		heap_rows_json(&rows, w->class, w->top, &out);
	else
		heap_rows_show(&rows, w->class, w->top, &out);
	status = !cli_print(&out) ? CLI_CANNOT : w->class && !any ? CLI_NO : CLI_DONE;
	if (status == CLI_NO)
		fprintf(stderr,
			"sonde: no object in the heap is of a class with '%s' in its name\n",
			w->class);
	buf_release(&out);
	heap_rows_release(&rows);
	return status;
}

static int histogram(struct command_heap *w)
{
	struct buf reply = { 0 };
	struct hotspot_answer answer;
	int status = ask(w,
			 &(struct hotspot_request){ "inspectheap",
						    { w->live ? "-live" : "-all", "", "" },
						    HISTOGRAM_MAX },
			 &reply, &answer);

	if (status == CLI_DONE)
		status = show(w, answer.text);
	buf_release(&reply);
	return status;
}

/* ---- the dump ---- */

/* As the JVM will see it. */
static int make_path(struct command_heap *w)
{
	char here[PATH_MAX];
	int n, fd;

	if (w->file[0] == '/')
		n = snprintf(w->path, sizeof(w->path), "%s", w->file);
	else if (getcwd(here, sizeof(here)))
		n = snprintf(w->path, sizeof(w->path), "%s/%s", here, w->file);
	else
		return cli_cannot("no directory to write '%s' to: %m", w->file);
	if (n < 0 || (size_t)n >= sizeof(w->path))
		return cli_cannot("the path of '%s' is too long", w->file);
	fd = inside_file(&w->in, w->path, O_PATH | O_NOFOLLOW | O_CLOEXEC, 0);
	if (fd < 0)
		return CLI_DONE;
	close(fd);
	return cli_cannot("%s is there already, and is left alone", w->path);
}

static int dump(struct command_heap *w)
{
	static const char good[] = "Heap dump file created";
	struct buf reply = { 0 }, why = { 0 };
	struct hotspot_answer answer;
	char size[FIGURE_MAX], took[FIGURE_MAX];
	struct stat st = { 0 };
	int status = make_path(w), fd;

	if (status == CLI_DONE)
		status = ask(w,
			     &(struct hotspot_request){ "dumpheap",
							{ w->path, w->live ? "-live" : "-all", "" },
							REPLY_MAX },
			     &reply, &answer);
	if (status == CLI_DONE && !memmem(answer.text.p, answer.text.n, good, sizeof(good) - 1)) {
		client_show(&why, answer.text);
		status = cli_cannot("the JVM could not write %s: %.*s", w->path,
				    SLICE_FMT(buf_slice(&why)));
	}
	fd = status == CLI_DONE ? inside_file(&w->in, w->path, O_PATH | O_CLOEXEC, 0) : -1;
	if (fd >= 0 && fstat(fd, &st) == 0)
		printf("%s: %s, written in %s; it holds everything that the program knows\n",
		       w->path, figure_bytes(size, (uint64_t)st.st_size),
		       figure_time(took, (double)(clock_steady_ns() - w->begin)));
	if (fd >= 0)
		close(fd);
	buf_release(&reply);
	buf_release(&why);
	return status;
}

/* ---- the JVM ---- */

static int check_jvm(struct command_heap *w)
{
	struct arena mem;
	struct jvm jvm;
	int status = CLI_DONE;

	arena_init(&mem);
	if (jvm_read(w->target.pid, &mem, &jvm) < 0)
		status = cli_cannot("%d has ended", w->target.pid);
	else if (jvm.kind != JVM_HOTSPOT || !jvm.is_live || !jvm.catches_quit)
		status = cli_cannot(
			"%d is no HotSpot JVM that can be asked; 'sonde doctor %d' says why",
			w->target.pid, w->target.pid);
	arena_release(&mem);
	return status;
}

static int run(struct command_heap *w, const char *target)
{
	int status = target_find(target, &w->target);

	if (status == CLI_DONE)
		status = check_jvm(w);
	if (status != CLI_DONE)
		return status;
	if (inside_open(&w->in, w->target.pid, w->target.uid, w->target.gid) < 0)
		status = cli_cannot("the files of %d cannot be reached: %s", w->target.pid,
				    strerror(w->in.root_errno));
	else
		status = w->file ? dump(w) : histogram(w);
	inside_close(&w->in);
	return status;
}

int cmd_heap(int argc, char **argv)
{
	struct command_heap w = { .top = 20, .wait_ns = 600000000000ull };
	int status = verb_parse(&verb_heap, argc, argv, &w), n = argc - optind;

	if (status != CLI_GO_ON)
		return status;
	if (n > 2)
		return cli_usage(argv[0], "which heap? [TARGET] or TARGET CLASS");
	w.class = n == 2 ? argv[optind + 1] : NULL;
	if (w.class && w.file)
		return cli_usage(argv[0], "a dump is of all classes");
	return run(&w, n ? argv[optind] : NULL);
}
