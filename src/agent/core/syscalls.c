/* SPDX-License-Identifier: Apache-2.0 */
/* syscalls.c - looks for filters in /proc, which takes plain calls only.
 *
 * What a filter does at a call can be found out only by making it.  A child process could do that
 * and die in our place, and is not used: the kernel writes an audit record for the death, which
 * somebody is paid to look at; a child that shares our memory would dump a core as large as the
 * program; one that does not would copy the tables of gigabytes of pages while the program waits;
 * and fork() or wait4() may be what the filter does not expect.  So each filter counts as one that
 * kills, also the harmless ones of containers: what is behind this can be done without. */
#include "agent/core/syscalls.h"

#include <dirent.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "agent/core/task.h"
#include "base/mem.h"

/* "Seccomp:\t0": none.  The line stands behind that of the groups, of which there may be many. */
static bool is_free(pid_t tid, char *text, size_t cap)
{
	const char *line = task_text(tid, "status", text, cap) ? strstr(text, "\nSeccomp:\t")
							       : NULL;

	return line && line[10] == '0';
}

/* Threads may have filters of their own.  One that has ended meanwhile has none. */
bool syscalls_filtered(void)
{
	enum { CAP = 64 << 10 };
	DIR *dir = opendir("/proc/self/task");
	char *text = mem_alloc(CAP);
	bool filtered = !dir || !text, any = false;
	const struct dirent *e;

	while (!filtered && (e = readdir(dir))) {
		pid_t tid = (pid_t)atoi(e->d_name);

		if (tid <= 0 || is_free(tid, text, CAP)) {
			any |= tid > 0;
			continue;
		}
		filtered = task_text(tid, "comm", text, CAP); /* it is still there */
	}
	if (dir)
		closedir(dir);
	mem_free(text);
	return filtered || !any;
}

bool syscalls_be_polite(bool polite)
{
	if (syscalls_filtered())
		return false;
	(void)sched_setscheduler(0, polite ? SCHED_BATCH : SCHED_OTHER, &(struct sched_param){ 0 });
	return true;
}
