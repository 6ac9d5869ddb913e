/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include <pthread.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "base/clock.h"
#include "jvm/jvm_threads.h"

/* What is told of this process once a thread of that name has run for some ms. */
struct named {
	const char *name;
	struct jvm_threads told;
};

static void *run_as(void *arg)
{
	struct named *n = arg;

	prctl(PR_SET_NAME, n->name);
	while (clock_ns(CLOCK_THREAD_CPUTIME_ID) < 30000000)
		continue;
	jvm_threads_read(getpid(), &n->told);
	return NULL;
}

static struct jvm_threads told_of(const char *name)
{
	struct named n = { .name = name };
	pthread_t t;

	if (CHECK_INT(pthread_create(&t, NULL, run_as, &n), 0, name))
		pthread_join(t, NULL);
	return n.told;
}

TEST(what_a_thread_has_run_counts_for_what_it_is_by_its_name)
{
	const uint64_t least = 20000000;
	struct jvm_threads main_alone, t;

	if (access("/proc/self/schedstat", R_OK) != 0)
		SKIP("the kernel does not tell what a thread has run");
	jvm_threads_read(getpid(), &main_alone);
	t = told_of("C1 CompilerThre");
	CHECK(t.jit_ns >= least && t.own_ns == 0);
	t = told_of("C2 CompilerThre");
	CHECK(t.jit_ns >= least && t.own_ns == 0);
	t = told_of("sonde");
	CHECK(t.own_ns >= least && t.jit_ns == 0);
	t = told_of("http-nio-8080");
	CHECK(t.run_ns >= main_alone.run_ns + least && t.jit_ns == 0 && t.own_ns == 0);
}

TEST(threads_of_a_process_that_is_not_there_have_run_for_nothing)
{
	struct jvm_threads t = { 1, 1, 1, 1 };

	jvm_threads_read(-1, &t);
	CHECK(t.run_ns == 0 && t.delay_ns == 0 && t.own_ns == 0 && t.jit_ns == 0);
}
