/* SPDX-License-Identifier: Apache-2.0 */
/* vitals.c - sums over /proc/self/task.  schedstat has the time on a processor and the time spent
 * waiting for one; comm is the thread's name, by which HotSpot's own threads are known. */
#include "agent/hotspot/vitals.h"

#include <dirent.h>
#include <stdlib.h>

#include "agent/core/task.h"
#include "jvm/thread_kind.h"

enum { THREADS_MAX = 4096 };

static void add_thread(struct vitals *v, pid_t tid)
{
	char stat[100], name[40];
	uint64_t run, delay;
	char *end;

	if (!task_text(tid, "schedstat", stat, sizeof(stat)) ||
	    !task_text(tid, "comm", name, sizeof(name)))
		return;
	run = strtoull(stat, &end, 10);
	delay = strtoull(end, NULL, 10);
	v->threads++;
	v->cpu += run;
	switch (thread_kind(name)) {
	case THREAD_GC:
		v->gc_cpu += run;
		break;
	case THREAD_JIT:
		v->jit_cpu += run;
		break;
	case THREAD_OWN:
		v->own_cpu += run;
		break;
	default: /* compilers and collectors may wait: the program does not wait with them */
		v->delay += delay;
		break;
	}
}

void vitals_read(struct vitals *v)
{
	DIR *dir = opendir("/proc/self/task");
	const struct dirent *e;

	*v = (struct vitals){ 0 };
	while (dir && v->threads < THREADS_MAX && (e = readdir(dir)))
		if (e->d_name[0] != '.')
			add_thread(v, (pid_t)atoi(e->d_name));
	if (dir)
		closedir(dir);
}
