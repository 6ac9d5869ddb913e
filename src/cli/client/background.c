/* SPDX-License-Identifier: Apache-2.0 */
/* background.c - a pipe on which a byte comes, or which ends without one. */
#define _GNU_SOURCE /* pipe2 */
#include "cli/client/background.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "cli/screen/cli.h"

static int await(int fd)
{
	char began;
	ssize_t n;

	do
		n = read(fd, &began, 1);
	while (n < 0 && errno == EINTR);
	close(fd);
	return n == 1 ? CLI_DONE : CLI_CANNOT;
}

/* stdin and stdout lead nowhere; -1 is no harm. */
static void leave_terminal(void)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	(void)setsid();
	dup2(null, STDIN_FILENO);
	dup2(null, STDOUT_FILENO);
	if (null > STDERR_FILENO)
		close(null);
}

int background_begin(int *begun, pid_t *other)
{
	int ends[2];
	pid_t pid;

	if (pipe2(ends, O_CLOEXEC) != 0)
		return cli_cannot("pipe: %m");
	fflush(NULL);
	pid = fork();
	if (pid < 0)
		return cli_cannot("fork: %m");
	close(ends[pid > 0]);
	if (pid > 0) {
		*other = pid;
		return await(ends[0]);
	}
	leave_terminal();
	*begun = ends[1];
	return CLI_GO_ON;
}

void background_go_on(int begun, int log)
{
	(void)!write(begun, "", 1);
	close(begun);
	if (log < 0)
		log = open("/dev/null", O_WRONLY | O_CLOEXEC);
	dup2(log, STDOUT_FILENO);
	dup2(log, STDERR_FILENO);
	if (log > STDERR_FILENO)
		close(log);
}
