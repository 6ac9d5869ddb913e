/* SPDX-License-Identifier: Apache-2.0 */
/* jvm_threads.c - sums over /proc/PID/task: schedstat has the time on a processor and the time
 * spent waiting for one, comm the thread's name, by which the JVM's own threads are known. */
#include "jvm/jvm_threads.h"

#include <stdlib.h>

#include "jvm/proc.h"
#include "jvm/thread_kind.h"

static void add_thread(pid_t pid, const char *tid, struct jvm_threads *out)
{
	char name[PROC_THREAD_LINE], stat[PROC_THREAD_LINE], *end;
	uint64_t run, delay;

	run = strtoull(proc_thread_line(pid, tid, "schedstat", stat), &end, 10);
	delay = strtoull(end, NULL, 10);
	switch (thread_kind(proc_thread_line(pid, tid, "comm", name))) {
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
	DIR *dir = proc_threads(pid);
	const char *tid;

	*out = (struct jvm_threads){ 0 };
	while ((tid = proc_next_thread(dir)))
		add_thread(pid, tid, out);
	if (dir)
		closedir(dir);
}
