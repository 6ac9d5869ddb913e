/* SPDX-License-Identifier: Apache-2.0 */
/* test_agent_compilers.c - threads with the names of compilers, at work and without any. */
#include "agent/hotspot/compilers.h"

#include <pthread.h>
#include <semaphore.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "probe/types.h"
#include "test.h"

struct worker {
	const char *name;
	bool ends, spins; /* told to; atomic */
	sem_t ready, go;
};

static void *work(void *arg)
{
	struct worker *w = arg;

	prctl(PR_SET_NAME, w->name);
	sem_post(&w->ready);
	while (!__atomic_load_n(&w->ends, __ATOMIC_ACQUIRE)) {
		sem_wait(&w->go);
		while (__atomic_load_n(&w->spins, __ATOMIC_ACQUIRE))
			;
	}
	return NULL;
}

static pthread_t begin(struct worker *w)
{
	pthread_t thread;

	sem_init(&w->ready, 0, 0);
	sem_init(&w->go, 0, 0);
	CHECK(pthread_create(&thread, NULL, work, w) == 0);
	sem_wait(&w->ready);
	return thread;
}

static void set_spinning(struct worker *w, bool on)
{
	__atomic_store_n(&w->spins, on, __ATOMIC_RELEASE);
	if (on)
		sem_post(&w->go);
}

static void end(struct worker *w, pthread_t thread)
{
	__atomic_store_n(&w->ends, true, __ATOMIC_RELEASE);
	sem_post(&w->go);
	pthread_join(thread, NULL);
}

TEST(compilers_are_waited_for_until_they_have_nothing_to_do)
{
	struct worker w = { .name = "C2 CompilerThre" };
	pthread_t thread = begin(&w);

	CHECK(compilers_wait(10000, 10000));
	set_spinning(&w, true);
	CHECK(!compilers_wait(10000, 20));
	CHECK(!compilers_wait(20, 10000));
	set_spinning(&w, false);
	CHECK(compilers_wait(10000, 10000));
	end(&w, thread);
}

TEST(what_compilers_run_is_told_once_and_to_their_kind)
{
	struct worker one = { .name = "C1 CompilerThre" }, other = { .name = "JVMCI-native Co" };
	pthread_t first = begin(&one), second = begin(&other);
	struct compilers c;

	compilers_find(&c);
	CHECK_INT(c.n, 2, NULL);
	set_spinning(&one, true);
	CHECK(!compilers_wait(10000, 20));
	set_spinning(&one, false);
	CHECK(compilers_wait(10000, 10000));
	CHECK(compilers_run_by(&c, TYPE_C2) < 20000000u);
	CHECK(compilers_run_by(&c, TYPE_C1) >= 20000000u);
	CHECK(compilers_run_by(&c, TYPE_C1) == 0);
	end(&one, first);
	end(&other, second);
	for (int i = 0; i < 5000 && c.n; i++) { /* the kernel is a little behind */
		(void)compilers_run_by(&c, TYPE_C1);
		(void)compilers_run_by(&c, TYPE_C2);
		usleep(1000);
	}
	CHECK_INT(c.n, 0, "known after their end");
}
