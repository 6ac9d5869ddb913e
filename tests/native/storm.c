/* SPDX-License-Identifier: Apache-2.0 */
/* storm.c - 64 threads call functions while hooks go in and out of them.
 *
 *     storm ROUNDS SECONDS
 *
 * Six functions are hooked and let go ROUNDS times, or for that long.  A seventh stays hooked: each of its calls must be
 * counted, and timed if a stub is left for it.  Some threads leave hooked functions by longjmp, some make threads that end below
 * hooked functions, some get a signal every few milliseconds whose handler calls them, on a stack of its
 * own.  Prints what was found, and ends with 0 if results are right, nothing is lost, no call is left open
 * and memory has stopped growing. */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "native/native.h"
#include "native/near.h"
#include "native/objects.h"
#include "native/site.h"
#include "native/swap.h"
#include "native/threads.h"

#if __has_attribute(noclone) /* clang makes no copies for certain arguments */
#define VICTIM __attribute__((noinline, noclone, visibility("default")))
#else
#define VICTIM __attribute__((noinline, visibility("default")))
#endif

enum { THREADS = 64, GROWTH = 2 << 20 };

static volatile long sink;
static uint64_t made, wrong; /* calls of storm_steady; results that were not right */
static bool ending;

VICTIM long storm_add(long a, long b);
VICTIM long storm_add(long a, long b)
{
	sink = a;
	return a + b;
}

VICTIM long storm_tail(long n);
VICTIM long storm_tail(long n)
{
	sink = n;
	return storm_add(n, 1);
}

VICTIM double storm_many(int a, double b, int c, double d, long e, long f, long g, long h, long i);
VICTIM double storm_many(int a, double b, int c, double d, long e, long f, long g, long h, long i)
{
	sink = e;
	return a + b + c + d + (double)(e + f + g + h + i);
}

VICTIM long storm_fib(long n);
static long (*volatile fib)(long n) = storm_fib;
VICTIM long storm_fib(long n)
{
	return n < 2 ? n : fib(n - 1) + fib(n - 2);
}

VICTIM long storm_steady(long n);
VICTIM long storm_steady(long n)
{
	sink = n;
	return 3 * n;
}

static const char *const moving[] = { "storm_add", "storm_tail", "storm_many",
				      "storm_fib", "storm_jump", "storm_end" };

/* ---- threads ------------------------------------------------------------------------------ */

static __thread jmp_buf back;
static void (*volatile jump)(long depth);

VICTIM void storm_jump(long depth);
VICTIM void storm_jump(long depth)
{
	if (!depth)
		longjmp(back, 1);
	storm_fib(2);
	jump(depth - 1);
	sink = depth;
}

static void check(bool right)
{
	if (!right)
		__atomic_fetch_add(&wrong, 1, __ATOMIC_RELAXED);
}

static void call_all(long i)
{
	check(storm_add(i, 3) == i + 3);
	check(storm_tail(i) == i + 1);
	check(storm_fib(5) == 5);
	check(storm_many(1, 2.5, 3, 4.5, i, 6, 7, 8, 9) == (double)(41 + i));
	check(storm_steady(i) == 3 * i);
	__atomic_fetch_add(&made, 1, __ATOMIC_RELAXED);
}

static void jump_over(long depth)
{
	if (setjmp(back) == 0)
		storm_jump(depth);
}

VICTIM void storm_end(void *result);
VICTIM void storm_end(void *result)
{
	sink = 1;
	jump_over(2);
	pthread_exit(result);
}

static void *end_below(void *result)
{
	call_all(7);
	storm_end(result);
	return NULL;
}

static void on_tick(int sig)
{
	(void)sig;
	call_all(5);
}

/* The thread's own timer, and a stack for its handler. */
static void take_signals(char *stack, size_t n)
{
	struct sigevent to = { .sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGUSR1 };
	struct itimerspec every = { { 0, 3000000 }, { 0, 3000000 } };
	stack_t s = { .ss_sp = stack, .ss_size = n };
	timer_t timer;

	to._sigev_un._tid = (int)native_gettid();
	sigaltstack(&s, NULL);
	if (timer_create(CLOCK_MONOTONIC, &to, &timer) == 0)
		timer_settime(timer, 0, &every, NULL);
}

static void *work(void *which)
{
	static char stacks[THREADS][64 << 10];
	static const struct timespec pause = { 0, 2000000 };
	size_t me = (size_t)which;

	if (me % 4 == 1)
		take_signals(stacks[me], sizeof(stacks[me]));
	for (long i = 0; !__atomic_load_n(&ending, __ATOMIC_RELAXED); i++) {
		pthread_t t;
		void *got = NULL;

		for (int k = 0; k < 20; k++)
			call_all(i + k);
		if (me % 4 == 2)
			jump_over(4);
		if (me % 16 == 3 && pthread_create(&t, NULL, end_below, &made) == 0) {
			pthread_join(t, &got);
			check(got == &made);
		}
		nanosleep(&pause, NULL);
	}
	return NULL;
}

/* ---- hooks -------------------------------------------------------------------------------- */

static struct objects objects;

static uint32_t hook(const char *name, enum site_mode mode)
{
	struct object *in = objects_at(&objects, (uintptr_t)storm_add);
	struct site_function f = { .name = name };
	const struct function *found = NULL;
	const char *why = "it has no symbol";
	uint32_t number = 0;

	if (in && object_open(in) >= 0)
		found = functions_named(&in->functions, slice_str(name));
	if (found) {
		f.at = in->bias + found->addr;
		f.size = found->size;
		f.module = in->name;
		number = site_hook(&f, mode, &why);
	}
	if (!number) {
		printf("%s is not hooked: %s\n", name, why);
		exit(2);
	}
	return number;
}

static size_t resident(void)
{
	FILE *f = fopen("/proc/self/statm", "re");
	size_t all = 0, pages = 0;

	if (!f || fscanf(f, "%zu %zu", &all, &pages) != 2)
		exit(2);
	fclose(f);
	return pages * (size_t)sysconf(_SC_PAGESIZE);
}

/* Once round; the kinds of hooks change from round to round. */
static void in_and_out(unsigned round)
{
	uint32_t n[COUNT(moving)];

	for (size_t i = 0; i < COUNT(moving); i++)
		n[i] = hook(moving[i], (round + i) % 3 ? SITE_TIMED : SITE_COUNT);
	if (round % 8 == 0)
		usleep(1000);
	for (size_t i = 0; i < COUNT(moving); i++)
		if (!site_unhook(n[i])) {
			printf("%s cannot be let go\n", moving[i]);
			exit(2);
		}
	threads_tend();
}

static uint64_t calls_of(uint32_t number, uint64_t *timed)
{
	uint64_t calls = native_sites[number].spilled;

	*timed = 0;
	for (size_t t = 0; t < THREADS_MAX; t++)
		for (size_t i = 0; i < CELLS; i++)
			if ((native_threads[t].cells[i].key & 0xffff) == number) {
				calls += native_threads[t].cells[i].calls;
				*timed += native_threads[t].cells[i].timed;
			}
	return calls;
}

/* Calls for which there was no stub, or no place for what a thread has counted. */
static uint64_t untimed(uint32_t steady)
{
	uint64_t n = native_sites[steady].spilled;

	for (size_t t = 0; t < THREADS_MAX; t++)
		n += native_threads[t].untimed;
	return n;
}

/* Is all well?  before, near_before: memory when a quarter was done. */
static bool judge(uint32_t steady, size_t before, size_t near_before)
{
	size_t grown = resident() > before ? resident() - before : 0;
	struct swap_state pages;
	uint64_t calls, timed;

	calls = calls_of(steady, &timed);
	swap_look(&pages);
	printf("%llu calls made, %llu counted, %llu timed, %llu of all functions not; %llu wrong; %u open; "
	       "%zu KiB more memory; %zu pages differ\n",
	       (unsigned long long)made, (unsigned long long)calls, (unsigned long long)timed,
	       (unsigned long long)untimed(steady), (unsigned long long)wrong, native_open_calls(),
	       grown >> 10, pages.different);
	return calls == made && timed <= made && made - timed <= untimed(steady) && !wrong &&
	       !native_open_calls() && grown <= GROWTH && near_bytes() == near_before &&
	       !pages.different;
}

/* How many of them a thread comes to use depends on when others are seen to have ended. */
static void touch_thread_tables(void)
{
	volatile char *p = (volatile char *)native_threads;

	for (size_t i = 0; i < sizeof(native_threads); i += 4096)
		p[i] = p[i];
}

static void storm(unsigned rounds, time_t seconds, uint32_t steady, bool *good)
{
	size_t before = 0, near_before = 0;
	pthread_t threads[THREADS];
	time_t begun = time(NULL);
	unsigned round = 0;

	for (size_t i = 0; i < THREADS; i++)
		if (pthread_create(&threads[i], NULL, work, (void *)i) != 0)
			exit(2);
	for (; round < rounds && time(NULL) < begun + seconds; round++) {
		in_and_out(round);
		if (!before && (round >= rounds / 4 || time(NULL) >= begun + seconds / 4)) {
			before = resident();
			near_before = near_bytes();
		}
	}
	__atomic_store_n(&ending, true, __ATOMIC_RELAXED);
	for (size_t i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	threads_tend();
	printf("%u rounds of %zu hooks in %lld s; ", round, COUNT(moving),
	       (long long)(time(NULL) - begun));
	*good = judge(steady, before, near_before);
}

int main(int argc, char **argv)
{
	struct sigaction act = { .sa_handler = on_tick, .sa_flags = SA_RESTART | SA_ONSTACK };
	bool good = false;
	uint32_t steady;

	if (argc != 3 || objects_read(&objects) < 0)
		return 2;
	jump = storm_jump;
	sigaction(SIGUSR1, &act, NULL);
	native_mute();
	touch_thread_tables();
	steady = hook("storm_steady", SITE_TIMED);
	storm((unsigned)strtoul(argv[1], NULL, 10), (time_t)strtol(argv[2], NULL, 10), steady,
	      &good);
	return site_unhook(steady) && good ? 0 : 1;
}
