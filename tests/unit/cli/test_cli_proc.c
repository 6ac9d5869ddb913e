/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include <pthread.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "jvm/proc.h"

static pthread_barrier_t counted;

static void *be_worker(void *arg)
{
	prctl(PR_SET_NAME, "test-worker");
	pthread_barrier_wait(&counted); /* all have the name */
	pthread_barrier_wait(&counted);
	return arg;
}

TEST(threads_are_counted_by_name_and_the_main_one_once)
{
	char before[16];
	pthread_t t[2];

	pthread_barrier_init(&counted, NULL, 3);
	for (int i = 0; i < 2; i++)
		CHECK_INT(pthread_create(&t[i], NULL, be_worker, NULL), 0, "began");
	pthread_barrier_wait(&counted);
	CHECK_INT(proc_count_threads(getpid(), "test-worker"), 2, "workers");
	CHECK_INT(proc_count_threads(getpid(), "test-work"), 0, "a part of the name");
	prctl(PR_GET_NAME, before);
	prctl(PR_SET_NAME, "test-main"); /* it is the process's name, too */
	CHECK_INT(proc_count_threads(getpid(), "test-main"), 1, "main");
	prctl(PR_SET_NAME, before);
	CHECK_INT(proc_count_threads(-1, "test-worker"), 0, "of nobody");
	pthread_barrier_wait(&counted);
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
	pthread_barrier_destroy(&counted);
}
