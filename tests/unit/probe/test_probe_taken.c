/* SPDX-License-Identifier: Apache-2.0 */
/* Time in which a thread has no processor. */
#define _GNU_SOURCE /* sched_setaffinity */
#include <pthread.h>
#include <sched.h>
#include <time.h>

#include "probe/taken.h"
#include "test.h"

static int64_t work_for(uint64_t ns)
{
	uint64_t wall = 0;
	struct taken begin;
	int64_t away = 0;

	taken_begin(&begin);
	while (wall < ns)
		away = taken_end(&begin, &wall);
	return away;
}

static void *work(void *arg)
{
	(void)arg;
	return work_for(300000000) < 0 ? NULL : arg;
}

/* A valgrind or an emulator has its threads wait for each other: then nothing is known, which is
 * right. */
TEST(of_two_threads_that_share_a_processor_each_is_kept_from_running)
{
	cpu_set_t before, one;
	int64_t away;
	pthread_t other;
	size_t cpu = 0;

	CHECK_INT(sched_getaffinity(0, sizeof(before), &before), 0, NULL);
	while (!CPU_ISSET(cpu, &before))
		cpu++;
	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	CHECK_INT(sched_setaffinity(0, sizeof(one), &one), 0, NULL);
	CHECK_INT(pthread_create(&other, NULL, work, &cpu), 0, NULL);
	away = work_for(200000000);
	pthread_join(other, NULL);
	sched_setaffinity(0, sizeof(before), &before);
	CHECK(away < 0 || away > 20000000);
}

TEST(a_thread_that_waits_is_not_kept_from_running)
{
	const struct timespec rest = { .tv_nsec = 3000000 };
	struct taken begin;
	uint64_t wall;

	taken_begin(&begin);
	nanosleep(&rest, NULL);
	CHECK(taken_end(&begin, &wall) < 0);
	CHECK(wall >= 3000000);
}
