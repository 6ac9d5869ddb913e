/* SPDX-License-Identifier: Apache-2.0 */
/* contestant.h - a contestant of rounds.c as a process: start it, ask it, let it wait, end it.
 *
 * It answers each line with one that begins with "@ "; what else it prints goes into its log.
 * While it is not its turn, it is stopped, so that no thread of its disturbs the others; and it
 * dies with the driver, stopped or not. */
#ifndef PROBE_CONTESTANT_H
#define PROBE_CONTESTANT_H

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

struct contestant {
	const char *command; /* for sh; it should exec */
	char log[512];	     /* where its other output goes */
	pid_t pid;	     /* 0: does not run */
	int to, from;
	FILE *log_out;
	char in[1024]; /* read, and not yet taken */
	size_t in_n;
};

static inline int64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static inline bool contestant_start(struct contestant *c)
{
	int in[2], out[2], log;

	log = open(c->log, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0644);
	if (log < 0 || pipe2(in, O_CLOEXEC) || pipe2(out, O_CLOEXEC)) {
		perror(c->log);
		return false;
	}
	c->log_out = fdopen(log, "a");
	c->pid = fork();
	if (c->pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		dup2(in[0], STDIN_FILENO);
		dup2(out[1], STDOUT_FILENO);
		dup2(log, STDERR_FILENO);
		execl("/bin/sh", "sh", "-c", c->command, (char *)NULL);
		_exit(127);
	}
	close(in[0]);
	close(out[1]);
	c->to = in[1];
	c->from = out[0];
	c->in_n = 0;
	return c->pid > 0 && c->log_out;
}

/* The next line, without its end.  False: it said nothing in time, or has ended. */
static inline bool contestant_line(struct contestant *c, char *line, size_t cap, int64_t until)
{
	for (;;) {
		char *end = memchr(c->in, '\n', c->in_n);
		struct pollfd p = { .fd = c->from, .events = POLLIN };
		int64_t left = until - now_ms();
		ssize_t n;

		if (end || c->in_n == sizeof(c->in)) {
			size_t len = end ? (size_t)(end - c->in) : c->in_n;
			size_t used = end ? len + 1 : len;

			snprintf(line, cap, "%.*s", (int)len, c->in);
			memmove(c->in, c->in + used, c->in_n -= used);
			return true;
		}
		if (left <= 0 || poll(&p, 1, (int)left) <= 0)
			return false;
		n = read(c->from, c->in + c->in_n, sizeof(c->in) - c->in_n);
		if (n <= 0)
			return false;
		c->in_n += (size_t)n;
	}
}

/* Says a line (NULL: nothing) and waits for the answer, which is put into answer without its
 * mark. */
static inline bool contestant_ask(struct contestant *c, const char *what, char *answer, size_t cap)
{
	int64_t until = now_ms() + 60000;
	char line[1024];

	if (what && dprintf(c->to, "%s\n", what) < 0)
		return false;
	while (contestant_line(c, line, sizeof(line), until)) {
		if (strncmp(line, "@ ", 2) == 0) {
			snprintf(answer, cap, "%.*s", (int)cap - 1, line + 2);
			return true;
		}
		fprintf(c->log_out, "%s\n", line);
		fflush(c->log_out);
	}
	return false;
}

static inline void contestant_pause(struct contestant *c, bool pause)
{
	if (c->pid > 0)
		kill(c->pid, pause ? SIGSTOP : SIGCONT);
}

/* Closes its input and gives it some seconds to go by itself. */
static inline void contestant_end(struct contestant *c)
{
	int64_t until = now_ms() + 10000;
	char line[1024];

	if (c->pid <= 0)
		return;
	contestant_pause(c, false);
	close(c->to);
	while (contestant_line(c, line, sizeof(line), until))
		fprintf(c->log_out, "%s\n", line);
	if (now_ms() >= until)
		kill(c->pid, SIGKILL);
	waitpid(c->pid, NULL, 0);
	close(c->from);
	fclose(c->log_out);
	c->pid = 0;
}

#endif
