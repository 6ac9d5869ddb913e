/* SPDX-License-Identifier: Apache-2.0 */
/* toggle.c - hooks and unhooks a class of a busy program many times, and looks at its memory.
 *
 *	toggle JSON SONDE ROUNDS NAME WAY COMMAND [NAME WAY COMMAND]...
 *
 * COMMAND (for sh) runs Catcher with the agent.  A round adds a rule for all methods of the class
 * and takes it out again, over one connection.  WAY says which rule: "same", or "other", each time
 * one of another level, and the class gets its original code back at once, so that it is redefined
 * twice a round.  Twenty times on the way the program collects its garbage and tells its memory.
 * Memory is flat when the median of the last quarter is at most 2 % and 1 MiB above that of the
 * second quarter; the first may warm up.  In the end `SONDE detach` must prove that the byte code
 * is the original.
 *
 * Exit status: 0 measured, 2 usage, 3 could not. */
#define _GNU_SOURCE
#include "../lib/spread.h"
#include "base/json.h"
#include "wire/wire.h"

#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MIB (1024.0 * 1024)

enum { SAMPLES = 20, QUARTER = SAMPLES / 4, START_MS = 30000, WARM_S = 15 };

enum column { METASPACE, HEAP, CODE, JVM, NATIVE, AGENT, COLUMNS };

static const struct {
	const char *name, *head;
	bool bar;
} columns[COLUMNS] = {
	[METASPACE] = { "metaspace", "metaspace", true },
	[HEAP] = { "heap", "heap after GC", true },
	[CODE] = { "code", "code cache", false }, /* grows as the JIT learns, and is bounded */
	[JVM] = { "jvm", "JVM's accounts", true },
	[NATIVE] = { "native", "process", true },
	[AGENT] = { "agent", "agent", true },
};

struct run {
	const char *name;
	bool other; /* rules, and original code in between */
	pid_t pid;
	FILE *to, *from; /* the program */
	int fd;		 /* the agent */
	struct buf in, out;
	double rows[SAMPLES][COLUMNS];
	unsigned n;
	double calls, wrong;
	double began;
};

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* ---- the program --------------------------------------------------------------------------------- */

static bool program_start(struct run *r, const char *command)
{
	int in[2], out[2];
	char line[64];

	if (pipe2(in, 0) || pipe2(out, 0))
		return false;
	r->pid = fork();
	if (r->pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		dup2(in[0], STDIN_FILENO);
		dup2(out[1], STDOUT_FILENO);
		for (int fd = 3; fd < 64; fd++)
			close(fd);
		execl("/bin/sh", "sh", "-c", command, (char *)NULL);
		_exit(127);
	}
	close(in[0]);
	close(out[1]);
	r->to = fdopen(in[1], "w");
	r->from = fdopen(out[0], "r");
	return r->pid > 0 && r->to && r->from && fgets(line, sizeof(line), r->from) &&
	       strcmp(line, "ready\n") == 0;
}

/* Memory that is the process's alone, in bytes; 0: not to be had.  Files, like the JVM's library,
 * do not count: how much of them is in memory, and whose it is, depends on what else runs. */
static double program_memory(const struct run *r)
{
	char path[64], line[256];
	double kib = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/smaps_rollup", (int)r->pid);
	f = fopen(path, "r");
	while (f && fgets(line, sizeof(line), f) && sscanf(line, "Anonymous: %lf", &kib) != 1)
		;
	if (f)
		fclose(f);
	return kib * 1024;
}

/* ---- the agent ----------------------------------------------------------------------------------- */

static bool agent_open(struct run *r)
{
	struct sockaddr_un to = { .sun_family = AF_UNIX };

	snprintf(to.sun_path, sizeof(to.sun_path), "/tmp/.sonde_pid%d", (int)r->pid);
	for (int ms = 0; ms < START_MS; ms += 10) {
		r->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
		if (connect(r->fd, (struct sockaddr *)&to, sizeof(to)) == 0) {
			wire_put_hello(&r->out, &(struct wire_hello){ .magic = WIRE_MAGIC,
								      .version = WIRE_VERSION });
			return true;
		}
		close(r->fd);
		usleep(10000);
	}
	perror(to.sun_path);
	return false;
}

/* Takes what the agent sends up to `done`; the status, or -1. */
static int agent_wait(struct run *r, struct wire_status *status)
{
	struct wire_done done = { 0 };
	struct slice payload;
	unsigned type;

	for (;;) {
		long n = wire_frame(buf_slice(&r->in), &type, &payload);
		uint8_t *room;
		ssize_t got;

		if (n < 0)
			return -1;
		if (n > 0) {
			if (type == WIRE_status && status)
				wire_get_status(payload, status);
			if (type == WIRE_done) {
				wire_get_done(payload, &done);
				if (done.status)
					fprintf(stderr, "toggle: %.*s\n", SLICE_FMT(done.text));
			}
			memmove(r->in.p, r->in.p + n, r->in.n - (size_t)n);
			r->in.n -= (size_t)n;
			if (type == WIRE_done)
				return (int)done.status;
			continue;
		}
		room = buf_room(&r->in, 65536);
		got = room ? read(r->fd, room, 65536) : -1;
		if (got <= 0)
			return -1;
		r->in.n += (size_t)got;
	}
}

/* Sends what is in r->out, waits for the answer. */
static bool agent_ask(struct run *r, struct wire_status *status)
{
	for (size_t at = 0; at < r->out.n;) {
		ssize_t n = send(r->fd, r->out.p + at, r->out.n - at, MSG_NOSIGNAL);

		if (n <= 0)
			return false;
		at += (size_t)n;
	}
	buf_clear(&r->out);
	return agent_wait(r, status) == 0;
}

static bool toggle(struct run *r, unsigned round)
{
	static const char *const rules[] = {
		"hook Catcher::* timed",
		"hook Catcher::* light",
		"hook Catcher::* full",
		"hook Catcher::* timed 1/10\nskip Catcher::plain",
	};

	wire_put_hook(&r->out,
		      &(struct wire_hook){ .rules = slice_str(rules[r->other ? round % 4 : 0]),
					   .origin = slice_str("toggle") });
	if (!agent_ask(r, NULL))
		return false;
	wire_put_unhook(&r->out, &(struct wire_unhook){ .pattern = slice_str("all"),
							.flags = r->other ? UNHOOK_NOW : 0 });
	return agent_ask(r, NULL);
}

/* The first round is a long one: where there is a cheaper way to C, the agent takes it after some
 * millions of calls, once, and that needs memory of its own. */
static bool warm_up(struct run *r)
{
	struct wire_status status = { 0 };

	wire_put_hook(&r->out, &(struct wire_hook){ .rules = slice_str("hook Catcher::* timed"),
						    .origin = slice_str("toggle") });
	if (!agent_ask(r, NULL))
		return false;
	for (int k = 0; k < WARM_S && !status.fast; k++) {
		sleep(1);
		wire_put_ask_status(&r->out, &(struct wire_ask_status){ 0 });
		if (!agent_ask(r, &status))
			return false;
	}
	wire_put_unhook(&r->out, &(struct wire_unhook){ .pattern = slice_str("all") });
	return agent_ask(r, NULL);
}

/* ---- figures ------------------------------------------------------------------------------------- */

static bool sample(struct run *r, unsigned round)
{
	double *row = r->rows[r->n++];
	struct wire_status status = { 0 };
	char line[256];

	fputs("\n", r->to);
	fflush(r->to);
	if (!fgets(line, sizeof(line), r->from) ||
	    sscanf(line, "%lf %lf %lf %lf %lf %lf", &row[METASPACE], &row[HEAP], &row[CODE],
		   &row[JVM], &r->calls, &r->wrong) != 6)
		return false;
	wire_put_ask_status(&r->out, &(struct wire_ask_status){ 0 });
	if (!agent_ask(r, &status))
		return false;
	row[AGENT] = (double)status.memory;
	row[NATIVE] = program_memory(r);
	printf("%7u %7.0f", round, now() - r->began);
	for (int c = 0; c < COLUMNS; c++)
		printf(" %14.2f", row[c] / MIB);
	printf("\n");
	fflush(stdout);
	return true;
}

static double median(const struct run *r, enum column c, unsigned from)
{
	double v[QUARTER];

	for (unsigned i = 0; i < QUARTER; i++)
		v[i] = r->rows[from + i][c];
	return spread_of(v, QUARTER).median;
}

static void tell(struct run *r, struct buf *bars, struct json *j, bool detached)
{
	json_put_open(j, r->name, '{');
	for (int c = 0; c < COLUMNS; c++) {
		double early = median(r, (enum column)c, QUARTER) / MIB;
		double late = median(r, (enum column)c, SAMPLES - QUARTER) / MIB;

		json_put_open(j, columns[c].name, '[');
		for (unsigned i = 0; i < SAMPLES; i++)
			json_double(j, r->rows[i][c]);
		json_close(j, ']');
		if (columns[c].bar)
			buf_printf(bars,
				   "toggle/%s-%s: %.2f MiB in the second quarter, %.2f in the last "
				   "(bar: + 2 %% + 1 MiB) %s\n",
				   columns[c].name, r->name, early, late,
				   late > 0 && late <= early * 1.02 + 1 ? "met" : "short");
	}
	json_put_double(j, "calls", r->calls);
	json_put_double(j, "wrong", r->wrong);
	json_put_double(j, "seconds", now() - r->began);
	json_put_bool(j, "detached", detached);
	json_close(j, '}');
	buf_printf(bars, "toggle/answers-%s: %.0f wrong of %.0f (bar: 0) %s\n", r->name, r->wrong,
		   r->calls, r->wrong == 0 && r->calls > 0 ? "met" : "short");
	buf_printf(bars, "toggle/original-%s: byte code after detach %s (bar: proved) %s\n",
		   r->name, detached ? "proved to be the original" : "NOT the original",
		   detached ? "met" : "short");
}

static bool measure(struct run *r, unsigned rounds, const char *command)
{
	if (!program_start(r, command) || !agent_open(r) || !warm_up(r)) {
		fprintf(stderr, "toggle: the program of %s did not start\n", r->name);
		return false;
	}
	printf("\nJDK %s; MiB after so many rounds and seconds\n%7s %7s", r->name, "rounds",
	       "seconds");
	for (int c = 0; c < COLUMNS; c++)
		printf(" %14s", columns[c].head);
	printf("\n");
	r->began = now();
	for (unsigned i = 1; i <= rounds; i++) {
		if (!toggle(r, i) || (i % (rounds / SAMPLES) == 0 && !sample(r, i))) {
			fprintf(stderr, "toggle: round %u of %s failed\n", i, r->name);
			return false;
		}
	}
	return r->n == SAMPLES;
}

static bool detach(const struct run *r, const char *sonde)
{
	char command[4200];

	snprintf(command, sizeof(command), "%s detach %d >&2", sonde, (int)r->pid);
	return system(command) == 0;
}

int main(int argc, char **argv)
{
	unsigned rounds = argc > 3 ? (unsigned)atoi(argv[3]) / SAMPLES * SAMPLES : 0;
	struct buf bars = { 0 }, out = { 0 };
	struct json j = json_to(&out);
	FILE *f;
	int rc = 0;

	if (argc < 7 || (argc - 4) % 3 || rounds == 0) {
		fputs("usage: toggle JSON SONDE ROUNDS NAME WAY COMMAND [NAME WAY COMMAND]...\n",
		      stderr);
		return 2;
	}
	json_open(&j, '{');
	json_put_u64(&j, "rounds", rounds);
	for (int i = 4; i + 2 < argc && rc == 0; i += 3) {
		struct run r = { .name = argv[i],
				 .other = strcmp(argv[i + 1], "other") == 0,
				 .fd = -1 };

		if (measure(&r, rounds, argv[i + 2]))
			tell(&r, &bars, &j, detach(&r, argv[2]));
		else
			rc = 3;
		if (r.pid > 0) {
			kill(r.pid, SIGKILL);
			waitpid(r.pid, NULL, 0);
		}
		buf_release(&r.in);
		buf_release(&r.out);
	}
	json_close(&j, '}');
	buf_u8(&out, '\n');
	printf("\n%.*s", SLICE_FMT(buf_slice(&bars)));
	f = fopen(argv[1], "w");
	if (!f || fwrite(out.p, 1, out.n, f) != out.n || fclose(f)) {
		perror(argv[1]);
		rc = 3;
	}
	buf_release(&bars);
	buf_release(&out);
	return rc;
}
