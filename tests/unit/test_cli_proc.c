/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include <pthread.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include "cli/proc.h"

static uint64_t own_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* What is told of this process while the thread, which is called that, has run for some ms. */
static void *run_as(void *name)
{
	static uint64_t told;

	prctl(PR_SET_NAME, name);
	while (own_ns() < 30000000)
		continue;
	told = proc_compilers_ns(getpid());
	return &told;
}

static uint64_t told_of(const char *name)
{
	pthread_t t;
	void *told = NULL;

	if (!CHECK_INT(pthread_create(&t, NULL, run_as, (void *)(uintptr_t)name), 0, name))
		return 0;
	pthread_join(t, &told);
	return *(uint64_t *)told;
}

TEST(what_a_jvms_compilers_have_run_is_known_and_nobody_elses)
{
	if (access("/proc/self/schedstat", R_OK) != 0)
		SKIP("the kernel does not tell what a thread has run");
	CHECK(told_of("C2 CompilerThre") >= 20000000);
	CHECK(told_of("C1 CompilerThre") >= 20000000);
	CHECK_INT(told_of("main"), 0, "no compiler");
	CHECK_INT(proc_compilers_ns(-1), 0, "nobody");
}
