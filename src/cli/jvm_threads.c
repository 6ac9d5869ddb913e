/* SPDX-License-Identifier: Apache-2.0 */
/* jvm_threads.c - sums over /proc/PID/task: schedstat has the time on a processor and the time
 * spent waiting for one, comm the thread's name, by which the JVM's own threads are known. */
#include "cli/jvm_threads.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plan/threads.h"

static const char *read_line(const char *task, const char *tid, const char *file, char text[100])
{
	char path[400];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s/%s", task, tid, file);
	f = fopen(path, "re");
	if (!f || !fgets(text, 100, f))
		text[0] = '\0';
	if (f)
		fclose(f);
	return text;
}

static void add_thread(const char *task, const char *tid, struct jvm_threads *out)
{
	char name[100], stat[100], *end;
	uint64_t run, delay;

	run = strtoull(read_line(task, tid, "schedstat", stat), &end, 10);
	delay = strtoull(end, NULL, 10);
	switch (thread_kind(read_line(task, tid, "comm", name))) {
	case THREAD_PROGRAM:
		out->run_ns += run;
		out->delay_ns += delay;
		break;
	case THREAD_OWN:
		out->own_ns += run;
		break;
	case THREAD_JIT:
		out->jit_ns += run;
		break;
	default:
		break;
	}
}

void jvm_threads_read(pid_t pid, struct jvm_threads *out)
{
	struct dirent *e;
	char task[64];
	DIR *dir;

	*out = (struct jvm_threads){ 0 };
	snprintf(task, sizeof(task), "/proc/%d/task", (int)pid);
	dir = opendir(task);
	while (dir && (e = readdir(dir)))
		if (e->d_name[0] != '.')
			add_thread(task, e->d_name, out);
	if (dir)
		closedir(dir);
}
