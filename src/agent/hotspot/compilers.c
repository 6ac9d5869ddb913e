/* SPDX-License-Identifier: Apache-2.0 */
/* compilers.c - known by their names, which the kernel shows.  The JVM begins and ends them as it
 * needs them. */
#include "agent/hotspot/compilers.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "agent/core/task.h"
#include "base/clock.h"
#include "jvm/thread_kind.h"
#include "probe/types.h"

enum {
	LOOK_MS = 1000, /* for threads that have come */
	STILL_MS = 2,	/* one that sleeps for so long has nothing to do, and is not just held up */
	PAUSE_MS = 10,
};

static void sleep_ms(int ms)
{
	nanosleep(&(struct timespec){ .tv_nsec = ms * 1000000L }, NULL);
}

/* What a thread of this process has run.  The clock's number is made as pthread_getcpuclockid makes
 * it, which wants a pthread_t. */
static bool thread_ns(pid_t tid, uint64_t *ns)
{
	clockid_t clock = (clockid_t)((~(unsigned)tid << 3) | 6);
	struct timespec t;

	if (clock_gettime(clock, &t) != 0)
		return false;
	*ns = (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
	return true;
}

static bool is_known(const struct compilers *c, pid_t tid)
{
	for (unsigned i = 0; i < c->n; i++)
		if (c->all[i].tid == tid)
			return true;
	return false;
}

/* Adds those that are not known. */
static void look(struct compilers *c)
{
	DIR *dir = opendir("/proc/self/task");
	const struct dirent *e;
	char name[64];

	c->looked = clock_steady_ns();
	while (dir && c->n < COMPILERS_MAX && (e = readdir(dir))) {
		pid_t tid = (pid_t)atoi(e->d_name);

		if (tid <= 0 || is_known(c, tid) || !task_text(tid, "comm", name, sizeof(name)) ||
		    thread_kind(name) != THREAD_JIT)
			continue;
		c->all[c->n++] = (struct compiler){ .tid = tid,
						    .type = strncmp(name, "C1", 2) == 0 ? TYPE_C1
											: TYPE_C2 };
	}
	if (dir)
		closedir(dir);
}

void compilers_find(struct compilers *c)
{
	c->n = 0;
	look(c);
	for (unsigned i = 0; i < c->n; i++)
		thread_ns(c->all[i].tid, &c->all[i].ns);
}

uint64_t compilers_run_by(struct compilers *c, unsigned type)
{
	uint64_t sum = 0, now;

	if (clock_steady_ns() - c->looked > LOOK_MS * 1000000u)
		look(c);
	for (unsigned i = 0; i < c->n; i++) {
		struct compiler *one = &c->all[i];

		if (one->type != type)
			continue;
		if (!thread_ns(one->tid, &now)) { /* it has ended */
			*one = c->all[--c->n];
			i--;
			continue;
		}
		sum += now > one->ns ? now - one->ns : 0;
		one->ns = now;
	}
	return sum;
}

/* "123 (C2 CompilerThre) S 1 ..." */
static bool is_asleep(const struct compiler *c)
{
	char text[64];
	const char *state = task_text(c->tid, "stat", text, sizeof(text)) ? strrchr(text, ')')
									  : NULL;

	return !state || strncmp(state, ") S", 3) == 0;
}

static bool are_asleep(const struct compilers *c)
{
	for (unsigned i = 0; i < c->n; i++)
		if (!is_asleep(&c->all[i]))
			return false;
	return true;
}

static uint64_t run_by_all(struct compilers *c)
{
	return compilers_run_by(c, TYPE_C1) + compilers_run_by(c, TYPE_C2);
}

/* Clocks are cheap to read and the states of threads are not: those of threads that have run are
 * not looked at. */
bool compilers_wait(int ms, int run_ms)
{
	uint64_t begin = clock_steady_ns(), run = 0, more = 0;
	struct compilers c;

	compilers_find(&c);
	for (;;) {
		if (!more && are_asleep(&c)) {
			sleep_ms(STILL_MS);
			more = run_by_all(&c);
			if (!more && are_asleep(&c))
				return true;
			run += more;
		}
		if (clock_steady_ns() - begin >= (uint64_t)ms * 1000000u ||
		    run >= (uint64_t)run_ms * 1000000u)
			return false;
		sleep_ms(PAUSE_MS);
		more = run_by_all(&c);
		run += more;
	}
}
