/* SPDX-License-Identifier: Apache-2.0 */
/* run_child.c - runs a program as if the caller had started it.
 *
 * It keeps our standard streams, process group and terminal, so Ctrl-C and Ctrl-Z reach it by
 * themselves.  A signal that another process sent to us alone is handed on.  We take signals by
 * sigwaitinfo(), because that tells which of the two it was, and change no handlers. */
#define _GNU_SOURCE /* pipe2 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/run/run.h"

static const int passed_on[] = { SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2 };

static int not_started(const char *name, int why)
{
	if (why == ENOENT && !strchr(name, '/'))
		return cli_cannot("%s: no such program in PATH", name);
	return cli_cannot("%s: %s", name, strerror(why));
}

/* In the child; returns only errno. */
static int become(char **argv, const sigset_t *mask, const struct sigaction *on_child)
{
	sigaction(SIGCHLD, on_child, NULL);
	sigprocmask(SIG_SETMASK, mask, NULL);
	execvp(argv[0], argv);
	return errno;
}

static int status_of(int status)
{
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

static int wait_for(pid_t child, const sigset_t *set)
{
	for (;;) {
		siginfo_t info;
		int sig = sigwaitinfo(set, &info), status;
		pid_t got = waitpid(child, &status, WNOHANG);

		if (got == child)
			return status_of(status);
		if (got < 0 && errno != EINTR)
			return cli_cannot("the program was lost: %s", strerror(errno));
		/* What the terminal sends, it sends to the whole group. */
		if (sig > 0 && sig != SIGCHLD && info.si_code <= 0 && info.si_pid != child)
			kill(child, sig);
	}
}

/* The child tells by the pipe why it could not become the program; nothing: it could. */
static int started(int from, int *why)
{
	ssize_t n;

	do
		n = read(from, why, sizeof(*why));
	while (n < 0 && errno == EINTR);
	return n == (ssize_t)sizeof(*why) ? -1 : 0;
}

int run_child(char **argv)
{
	struct sigaction plain = { .sa_handler = SIG_DFL }, before;
	sigset_t set, mask;
	int tell[2], why = 0, status;
	pid_t child;

	if (pipe2(tell, O_CLOEXEC) < 0)
		return cli_cannot("no pipe: %s", strerror(errno));
	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	for (size_t i = 0; i < COUNT(passed_on); i++)
		sigaddset(&set, passed_on[i]);
	sigprocmask(SIG_BLOCK, &set, &mask);
	sigaction(SIGCHLD, &plain, &before); /* were it ignored, the status would be lost */
	child = fork();
	if (child == 0) {
		why = become(argv, &mask, &before);
		_exit(write(tell[1], &why, sizeof(why)) < 0 ? 126 : 127);
	}
	close(tell[1]);
	if (child < 0) {
		status = cli_cannot("no new process: %s", strerror(errno));
	} else if (started(tell[0], &why) < 0) {
		waitpid(child, &status, 0);
		status = not_started(argv[0], why);
	} else {
		status = wait_for(child, &set);
	}
	close(tell[0]);
	sigaction(SIGCHLD, &before, NULL);
	/* The mask stays: what was meant for the program must not end us before we have tidied
	 * up. */
	return status;
}
