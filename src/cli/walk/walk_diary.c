/* SPDX-License-Identifier: Apache-2.0 */
/* walk_diary.c - one process for each walk, whose answer comes through a pipe.
 *
 * The program is known by a descriptor (pidfd), so that no other process of the same number is taken for
 * it.  A walk that is cut short gets SIGINT, as by Ctrl-C: then it takes its hooks out. */
#define _GNU_SOURCE /* memmem, pipe2 */
#include "cli/walk/walk_diary.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/plural.h"
#include "cli/client/background.h"
#include "cli/screen/cli.h"

enum { NAMES = 64, NAME_N = 200, LOOK_MS = 1000, ROOM = 64 << 10 };

struct diary {
	const struct walk_diary *to;
	int file, program;
	uint64_t walks, without; /* without: nobody was named */
	struct {
		char name[NAME_N];
		uint64_t n;
	} named[NAMES];
	unsigned n_named;
	bool failed;
};

static volatile sig_atomic_t asked_to_end;

static void on_end(int sig)
{
	(void)sig;
	asked_to_end = 1;
}

/* False: it is time to end. */
static bool wait_ns(const struct diary *d, uint64_t ns)
{
	uint64_t end = clock_steady_ns() + ns, now;

	while (!asked_to_end && (now = clock_steady_ns()) < end) {
		struct pollfd p = { .fd = d->program, .events = POLLIN };
		uint64_t left = (end - now) / 1000000 + 1;

		if (poll(&p, 1, left < LOOK_MS ? (int)left : LOOK_MS) > 0)
			return false;
	}
	return !asked_to_end;
}

/* ---- the file ------------------------------------------------------------------------------ */

static int open_file(const char *path)
{
	return open(path, O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0600);
}

/* What is full becomes FILE.1, in place of the one before. */
static void make_room(struct diary *d, size_t more)
{
	char old[4096];
	struct stat st;

	if (fstat(d->file, &st) != 0 || (uint64_t)st.st_size + more <= d->to->most_bytes / 2 ||
	    snprintf(old, sizeof(old), "%s.1", d->to->path) >= (int)sizeof(old) ||
	    rename(d->to->path, old) != 0)
		return;
	close(d->file);
	d->file = open_file(d->to->path);
}

static void put(struct diary *d, struct buf *out)
{
	bool good;

	make_room(d, out->n);
	good = !out->err && d->file >= 0 && write(d->file, out->p, out->n) == (ssize_t)out->n;
	if (!good && !d->failed)
		fprintf(stderr, "sonde: %s: cannot be written: %m\n", d->to->path);
	d->failed = !good;
	buf_clear(out);
}

static void put_time(struct buf *out)
{
	time_t now = time(NULL);
	struct tm t;
	char text[40] = "";

	if (gmtime_r(&now, &t))
		strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &t);
	buf_text(out, text);
}

/* ---- who was responsible ------------------------------------------------------------------- */

static bool ends_name(const uint8_t *p, size_t n)
{
	return n < 2 || *p == ';' || *p == '\n' || *p == '\\' ||
	       (n > 2 && *p == ',' && isdigit(p[2])) || (n >= 7 && memcmp(p, " itself", 7) == 0);
}

/* The name in the answer's line; also where the text stands in JSON. */
static struct slice responsible_in(struct slice answer)
{
	static const char line[] = "Responsible: ";
	const uint8_t *p = memmem(answer.p, answer.n, line, sizeof(line) - 1);
	struct slice name = { NULL, 0 };
	size_t left;

	if (!p)
		return name;
	name.p = p + sizeof(line) - 1;
	left = answer.n - (size_t)(name.p - answer.p);
	while (name.n < left && !ends_name(name.p + name.n, left - name.n))
		name.n++;
	return slice_starts(name, slice_str("nobody")) ? (struct slice){ NULL, 0 } : name;
}

static void count(struct diary *d, struct slice name)
{
	char text[NAME_N];

	d->walks++;
	if (!name.n) {
		d->without++;
		return;
	}
	snprintf(text, sizeof(text), "%.*s", SLICE_FMT(name));
	for (unsigned i = 0; i < d->n_named; i++)
		if (strcmp(d->named[i].name, text) == 0) {
			d->named[i].n++;
			return;
		}
	if (d->n_named == NAMES) {
		d->without++;
		return;
	}
	memcpy(d->named[d->n_named].name, text, sizeof(text));
	d->named[d->n_named++].n = 1;
}

static void put_sum(struct diary *d)
{
	struct buf out = { 0 };
	struct json j = json_to(&out);

	if (d->to->json) {
		json_open(&j, '{');
		json_put_u64(&j, "walks", d->walks);
		json_put_open(&j, "responsible", '[');
		for (unsigned i = 0; i < d->n_named; i++) {
			json_open(&j, '{');
			json_put_text(&j, "method", d->named[i].name);
			json_put_u64(&j, "walks", d->named[i].n);
			json_close(&j, '}');
		}
		json_close(&j, ']');
		json_close(&j, '}');
	} else {
		put_time(&out);
		buf_printf(&out,
			   " the end; %llu walk%s, responsible:", (unsigned long long)d->walks,
			   plural(d->walks));
		for (unsigned i = 0; i < d->n_named; i++)
			buf_printf(&out, " %s in %llu,", d->named[i].name,
				   (unsigned long long)d->named[i].n);
		buf_printf(&out, " nobody in %llu", (unsigned long long)d->without);
	}
	buf_u8(&out, '\n');
	put(d, &out);
	buf_release(&out);
}

/* ---- one walk ------------------------------------------------------------------------------ */

/* In a group of its own: Ctrl-C is for the one that waits for it. */
static pid_t start(const struct diary *d, int *from)
{
	int ends[2];
	pid_t pid;

	if (pipe2(ends, O_CLOEXEC) != 0)
		return -1;
	fflush(NULL);
	pid = fork();
	if (pid == 0) {
		int status;

		(void)setpgid(0, 0);
		signal(SIGINT, SIG_DFL);
		signal(SIGTERM, SIG_DFL);
		dup2(ends[1], STDOUT_FILENO);
		status = d->to->walk(d->to->ctx);
		fflush(NULL);
		_exit(status);
	}
	close(ends[1]);
	*from = ends[0];
	if (pid < 0)
		close(ends[0]);
	return pid;
}

/* All that it prints. */
static void collect(int from, pid_t walker, struct buf *out)
{
	bool told = false;

	for (;;) {
		struct pollfd p = { .fd = from, .events = POLLIN };
		uint8_t *room;
		ssize_t n;

		if (asked_to_end && !told)
			told = kill(walker, SIGINT) == 0;
		if (poll(&p, 1, LOOK_MS) <= 0)
			continue;
		room = buf_room(out, ROOM);
		n = room ? read(from, room, ROOM) : 0;
		if (n <= 0 && !(n < 0 && errno == EINTR))
			return;
		out->n += n > 0 ? (size_t)n : 0;
	}
}

static void put_answer(struct diary *d, const struct buf *answer, int status, double seconds)
{
	struct slice text = buf_slice(answer);
	struct buf out = { 0 };

	while (text.n && text.p[text.n - 1] == '\n')
		text.n--;
	if (d->to->json) {
		buf_text(&out, "{\"at\":\"");
		put_time(&out);
		buf_printf(&out, "\",\"seconds\":%.1f,\"status\":%d,\"walk\":", seconds, status);
		buf_put(&out, text.n ? text : slice_str("null"));
		buf_text(&out, "}\n");
	} else {
		put_time(&out);
		buf_printf(&out, " after %.1f s:%s\n", seconds, text.n ? "" : " no answer");
		buf_put(&out, text);
		buf_text(&out, text.n ? "\n\n" : "\n");
	}
	put(d, &out);
	buf_release(&out);
}

/* False: no process can be made. */
static bool walk_once(struct diary *d)
{
	uint64_t began = clock_steady_ns();
	struct buf answer = { 0 };
	int from = -1, status = 0;
	pid_t pid = start(d, &from);

	if (pid < 0)
		return false;
	collect(from, pid, &answer);
	close(from);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	status = WIFEXITED(status) ? WEXITSTATUS(status) : CLI_CANNOT;
	if (!asked_to_end || answer.n) { /* else it was cut short */
		put_answer(d, &answer, status, (double)(clock_steady_ns() - began) / 1e9);
		count(d, responsible_in(buf_slice(&answer)));
	}
	buf_release(&answer);
	return true;
}

/* ---- all of them --------------------------------------------------------------------------- */

static int write_all(struct diary *d)
{
	struct sigaction act = { .sa_handler = on_end };
	uint64_t began;

	sigaction(SIGTERM, &act, NULL);
	sigaction(SIGINT, &act, NULL);
	do {
		began = clock_steady_ns();
		if (!walk_once(d))
			return cli_cannot("fork: %m");
		began = clock_steady_ns() - began;
	} while (wait_ns(d, began < d->to->every_ns ? d->to->every_ns - began : 1));
	put_sum(d);
	return d->failed ? CLI_CANNOT : CLI_DONE;
}

static int go_to_background(int *begun)
{
	pid_t pid = 0;
	int status = background_begin(begun, &pid);

	if (status == CLI_DONE)
		printf("process %d walks until it gets SIGTERM: kill %d\n", (int)pid, (int)pid);
	return status;
}

int walk_diary_write(const struct walk_diary *to)
{
	static struct diary d;
	int status = CLI_GO_ON, begun = -1;

	d = (struct diary){ .to = to, .file = open_file(to->path) };
	if (d.file < 0)
		return cli_cannot("%s: %m", to->path);
	d.program = (int)syscall(SYS_pidfd_open, to->program, 0);
	if (d.program < 0)
		status = cli_cannot("process %d: %m", (int)to->program);
	if (status == CLI_GO_ON && to->daemon)
		status = go_to_background(&begun);
	if (status == CLI_GO_ON) {
		if (begun >= 0)
			background_go_on(begun, -1);
		status = write_all(&d);
	}
	close(d.file);
	if (d.program >= 0)
		close(d.program);
	return status;
}
