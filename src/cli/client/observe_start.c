/* SPDX-License-Identifier: Apache-2.0 */
/* observe_start.c - "sonde run" as a child, and the JVM that comes of it.
 *
 * COMMAND may be a script, so the JVM is looked for among all processes below the child. */
#include "cli/client/observe_start.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/attach/jvms.h"
#include "cli/screen/cli.h"
#include "jvm/proc.h"

enum { LOOK_US = 50000, STAT_MAX = 1024 };

/* 0: not known. */
static pid_t parent_of(pid_t pid)
{
	struct buf text = { 0 };
	pid_t parent = 0;
	char *end;

	if (proc_read(pid, "stat", STAT_MAX, &text) >= 0) {
		buf_u8(&text, 0);
		end = text.err ? NULL : strrchr((char *)text.p, ')'); /* "(name) S 17 ..." */
		if (end && strlen(end) > 4)
			parent = (pid_t)strtol(end + 4, NULL, 10);
	}
	buf_release(&text);
	return parent;
}

static bool is_below(pid_t pid, pid_t above)
{
	for (int i = 0; i < 64 && pid > 1; i++) {
		if (pid == above)
			return true;
		pid = parent_of(pid);
	}
	return false;
}

static bool find_jvm(pid_t child, struct target *out)
{
	struct jvms all = { 0 };
	bool found = false;

	if (jvms_read(&all) >= 0)
		for (size_t i = 0; i < all.n && !found; i++) {
			found = all.v[i].has_socket && is_below(all.v[i].target.pid, child);
			if (found)
				*out = all.v[i].target;
		}
	jvms_release(&all);
	return found;
}

static void become(char **command)
{
	size_t n = 0;
	char **argv;

	while (command[n])
		n++;
	argv = calloc(n + 4, sizeof(*argv));
	if (argv) {
		argv[0] = (char *)(uintptr_t) "sonde";
		argv[1] = (char *)(uintptr_t) "run";
		argv[2] = (char *)(uintptr_t) "--";
		memcpy(argv + 3, command, n * sizeof(*argv));
		execv("/proc/self/exe", argv);
	}
	_exit(CLI_CANNOT);
}

int observe_start(char **command, pid_t *child, struct target *out)
{
	pid_t pid = fork();

	*child = 0;
	if (pid == 0)
		become(command);
	if (pid < 0)
		return cli_cannot("no process for '%s'", command[0]);
	while (!find_jvm(pid, out)) {
		int status;

		if (waitpid(pid, &status, WNOHANG) == pid) {
			if (WIFEXITED(status) && WEXITSTATUS(status) == CLI_CANNOT)
				return CLI_CANNOT; /* it has said why */
			return cli_cannot("'%s' ended before a JVM in it could be watched",
					  command[0]);
		}
		usleep(LOOK_US);
	}
	*child = pid;
	return CLI_DONE;
}

void observe_start_end(pid_t child)
{
	int status;

	while (child && waitpid(child, &status, 0) < 0)
		if (errno != EINTR)
			return;
}
