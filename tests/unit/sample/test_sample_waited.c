/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "walk_arch.h"

/* What the handler saw in the thread of the test. */
static volatile int seen;
static volatile int ended; /* not a bool: gcc with UBSan reads one only once */
static int ends[2];

static bool copy(uint64_t address, void *to, size_t n)
{
	memcpy(to, (const void *)(uintptr_t)address, n);
	return true;
}

static void on_signal(int number, siginfo_t *info, void *context)
{
	(void)number, (void)info;
	if (!seen)
		seen = walk_arch_waited(context, copy) ? 1 : 2;
}

static void *reads(void *unused)
{
	char c;

	return read(ends[0], &c, 1) == 1 ? unused : NULL;
}

static void *sleeps(void *unused)
{
	const struct timespec long_time = { 600, 0 };

	while (!ended)
		nanosleep(&long_time, NULL);
	return unused;
}

static void *runs(void *unused)
{
	while (!ended)
		;
	return unused;
}

/* True: a thread in this function is seen to wait. */
static bool waits(void *(*function)(void *))
{
	const struct timespec moment = { 0, 100000000 };
	const struct sigaction ours = { .sa_sigaction = on_signal,
					.sa_flags = SA_SIGINFO | SA_RESTART };
	struct sigaction before;
	pthread_t thread;

	ended = 0;
	seen = 0;
	if (!CHECK(sigaction(SIGUSR2, &ours, &before) == 0) ||
	    !CHECK(pthread_create(&thread, NULL, function, NULL) == 0))
		return false;
	nanosleep(&moment, NULL);
	pthread_kill(thread, SIGUSR2);
	for (int i = 0; i < 100 && !seen; i++)
		nanosleep(&moment, NULL);
	ended = 1;
	pthread_kill(thread, SIGUSR2);
	CHECK(write(ends[1], "x", 1) == 1);
	pthread_join(thread, NULL);
	sigaction(SIGUSR2, &before, NULL);
	CHECK(seen != 0);
	return seen == 1;
}

TEST(a_handler_knows_whether_its_thread_waited)
{
	if (!CHECK(pipe(ends) == 0))
		return;
	CHECK(!waits(runs));
	CHECK(waits(sleeps)); /* ends early */
	CHECK(read(ends[0], &(char[2]){ 0 }, 2) == 2);
	CHECK(waits(reads)); /* begins anew */
	close(ends[0]);
	close(ends[1]);
}
