/* SPDX-License-Identifier: Apache-2.0 */
/* threads.c - a thread's stack is what lies below its thread-local variables in the same mapping; of the
 * main thread it is the mapping that the kernel names so. */
#include "native/threads.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "native/native.h"

static bool has_ended(int32_t tid)
{
	return syscall(SYS_tgkill, getpid(), tid, 0) < 0 && errno == ESRCH;
}

static void find_stack(struct native_thread *t)
{
	FILE *f = fopen("/proc/self/maps", "re");
	bool is_main = t->tid == getpid();
	unsigned long low, high;
	char line[4200];

	while (f && fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%lx-%lx", &low, &high) != 2 ||
		    (is_main ? !strstr(line, "[stack]") : t->marker - low >= high - low))
			continue;
		t->stack = low; /* what lies above the variables may go while the thread runs */
		__atomic_store_n(&t->stack_n, (is_main ? high : t->marker) - low, __ATOMIC_RELEASE);
	}
	if (f)
		fclose(f);
}

void threads_tend(void)
{
	for (struct native_thread *t = native_threads; t < native_threads + THREADS_MAX; t++) {
		int32_t tid = __atomic_load_n(&t->tid, __ATOMIC_ACQUIRE);

		if (tid && has_ended(tid))
			native_thread_gone(t);
		else if (tid && !t->stack_n)
			find_stack(t);
	}
}
