/* SPDX-License-Identifier: Apache-2.0 */
#include "test_probe.h"

#include "base/tick.h"

#include <pthread.h>
#include <sched.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void hundred_thousand(unsigned number)
{
	for (unsigned i = 0; i < 50000; i++) {
		uint64_t token = probe_enter(1);

		call(2 + number % 2);
		probe_exit(1, token);
	}
	if (number % 2)
		probe_thread_end(); /* the others die without a word */
}

PROBE_TEST(probe_adds_up_threads_exactly, 4 * MIB)
{
	struct probe_state s;

	for (uint32_t id = 1; id <= 3; id++)
		timed(id, 1);
	probe_test_threads(8, hundred_thousand);
	MUST_INT(figures(1).calls, 400000);
	probe_sweep();
	probe_state_read(&s);
	MUST_INT(s.threads, 0);
	MUST_INT(s.lost, 0);
	MUST_INT(s.strayed, 0);
	MUST_INT(figures(1).calls, 400000);
	MUST_INT(figures(1).timed, 400000);
	MUST_INT(figures(2).timed, 200000);
	MUST_INT(figures(3).timed, 200000);
	MUST_INT(histogram_total(1), 400000);
	MUST_INT(histogram_total(2), 200000);
	MUST(strncmp(tree(), "1*400000(", 9) == 0);
	MUST(strstr(tree(), "2*200000") != NULL);
	MUST(strstr(tree(), "3*200000") != NULL);
}

static void ten_calls(unsigned number)
{
	(void)number;
	for (int i = 0; i < 10; i++) {
		uint64_t token = probe_enter(1);

		probe_count(2);
		probe_exit(1, token);
	}
	probe_count(2);
	probe_thrown(2, 0);
	probe_bytes(1, 5);
}

static void add_calls(void *ctx, uint32_t id, unsigned depth, const struct probe_figures *f)
{
	(void)id;
	(void)depth;
	*(uint64_t *)ctx += f->calls;
}

/* With those that have no context: none is missing, none there twice. */
static uint64_t calls_in_tree(void)
{
	uint64_t calls = 0;

	MUST_INT(probe_tree(add_calls, &calls), 0);
	return calls;
}

/* Threads that have died keep their blocks until somebody sweeps, so that there are none left. */
PROBE_TEST(probe_is_exact_without_a_block_for_each_thread, 16 * MIB)
{
	enum { THREADS = PROBE_THREADS + 100 };
	struct probe_state s;

	timed(1, 1);
	timed(2, 0);
	for (unsigned i = 0; i < THREADS; i++)
		probe_test_threads(1, ten_calls);
	probe_state_read(&s);
	MUST_INT(s.threads, PROBE_THREADS);
	MUST_INT(s.threads_shared, 100);
	MUST_INT(s.strayed, 0);
	for (int round = 0; round < 2; round++) {
		MUST_INT(figures(1).calls, 10 * THREADS);
		MUST_INT(figures(1).timed, 10 * THREADS);
		MUST_INT(figures(1).bytes, 5 * THREADS);
		MUST_INT(figures(2).calls, 11 * THREADS);
		MUST_INT(figures(2).errors, THREADS);
		MUST_INT(histogram_total(1), 10 * THREADS);
		MUST_INT(active(1), 0);
		MUST_INT(calls_in_tree(), 21 * THREADS);
		probe_sweep();
	}
	probe_state_read(&s);
	MUST_INT(s.threads, 0);
	probe_test_threads(1, ten_calls); /* there are blocks again */
	probe_state_read(&s);
	MUST_INT(s.threads, 1);
	MUST_INT(s.threads_shared, 100);
}

static void every_figure(unsigned number)
{
	for (uint32_t i = 0; i < 2000; i++) {
		uint64_t outer = probe_enter(1 + i % 50), inner;

		inner = probe_enter(100 + i % 37);
		probe_bytes(100 + i % 37, 1);
		probe_count(200 + i % 11);
		if (i % 10 == number)
			probe_thrown(100 + i % 37, inner);
		else
			probe_exit(100 + i % 37, inner);
		probe_exit(1 + i % 50, outer);
	}
}

static void every_figure_is_there(unsigned threads)
{
	struct probe_figures sum = { .min = UINT64_MAX };
	uint64_t counted = 0;

	for (uint32_t id = 1; id < 300; id++) {
		struct probe_figures f = figures(id);

		MUST(f.timed == 0 || f.min <= f.max);
		MUST(f.below <= f.sum);
		probe_figures_add(&sum, &f);
		counted += id >= 200 ? f.calls : 0;
	}
	MUST_INT(sum.calls, threads * 6000);
	MUST_INT(sum.timed, threads * 4000);
	MUST_INT(sum.begun, threads * 4000);
	MUST_INT(sum.weight, threads * 4000);
	MUST_INT(sum.errors, threads * 200);
	MUST_INT(sum.bytes, threads * 2000);
	MUST_INT(sum.lost, 0);
	MUST_INT(counted, threads * 2000);
	MUST_INT(calls_in_tree(), sum.calls);
}

static void short_of_memory(void)
{
	struct probe_state s;

	for (uint32_t id = 1; id < 300; id++)
		timed(id, id < 200);
	probe_test_threads(4, every_figure);
	every_figure_is_there(4);
	probe_sweep();
	every_figure_is_there(4);
	probe_test_threads(4, every_figure);
	probe_sweep();
	every_figure_is_there(8);
	probe_state_read(&s);
	MUST(s.nodes_refused > 0);
	MUST_INT(s.strayed, 0);
	MUST(s.bytes_used <= s.bytes_total);
	MUST(tree() != NULL);
}

PROBE_TEST(probe_is_exact_with_no_memory_at_all, 0)
{
	short_of_memory();
}

PROBE_TEST(probe_is_exact_with_two_pages, 8192)
{
	short_of_memory();
}

PROBE_TEST(probe_is_exact_with_memory_for_one_thread, 64 << 10)
{
	short_of_memory();
}

PROBE_TEST(probe_loses_nothing_with_memory, 16 * MIB)
{
	struct probe_state s;
	uint64_t used;

	for (uint32_t id = 1; id < 300; id++)
		timed(id, id < 200);
	for (unsigned round = 1; round <= 20; round++) {
		probe_test_threads(4, every_figure);
		probe_sweep();
		if (round == 1)
			probe_state_read(&s);
	}
	every_figure_is_there(80);
	MUST_INT(s.nodes_refused, 0);
	used = s.bytes_used;
	MUST(used > 0);
	probe_state_read(&s);
	MUST(s.bytes_used < used + used / 4); /* pages come back; histograms may have grown */
}

static void ends_inside(unsigned number)
{
	(void)number;
	probe_enter(1);
	probe_enter(2);
	if (number)
		probe_thread_end();
}

PROBE_TEST(probe_loses_the_calls_of_a_thread_that_ends_inside, MIB)
{
	struct probe_state s;

	timed(1, 1);
	timed(2, 1);
	probe_test_threads(2, ends_inside);
	MUST_INT(active(1), 2);
	probe_sweep();
	MUST_INT(active(1), 0);
	MUST_INT(active(2), 0);
	MUST_INT(figures(2).lost, 2);
	MUST_INT(figures(2).calls, 2);
	probe_state_read(&s);
	MUST_INT(s.lost, 4);
	probe_test_threads(2, ends_inside); /* in the same blocks */
	probe_sweep();
	MUST_INT(figures(1).lost, 4);
	MUST_STR(tree(), "1*4(2*4)");
}

PROBE_TEST(probe_has_times_below_and_losses_without_memory, 0)
{
	timed(1, 1);
	timed(2, 1);
	timed(3, 1);
	timed(4, 1);
	for (int i = 0; i < 100; i++) {
		uint64_t token = probe_enter(3);

		call(4);
		probe_exit(3, token);
	}
	MUST_INT(figures(3).below, figures(4).sum);
	probe_test_threads(2, ends_inside);
	MUST_INT(active(2), 2);
	probe_sweep();
	MUST_INT(active(1), 0);
	MUST_INT(figures(2).lost, 2);
	MUST_STR(tree(), "262144*204"); /* PROBE_PRUNED: all of them have no context */
}

static bool stop;

static void churn(unsigned number)
{
	for (uint32_t i = 0; !__atomic_load_n(&stop, __ATOMIC_RELAXED) || i < 20000; i++) {
		uint64_t token = probe_enter(1 + i % 23);

		call(100 + (i * 7 + number) % 19);
		if (token)
			probe_exit(1 + i % 23, token);
		if (i % 5000 == 4999) {
			probe_thread_end();
			sched_yield();
		}
	}
}

static void ignore(void *ctx, uint32_t id, unsigned depth, const struct probe_figures *f)
{
	uint64_t *calls = ctx;

	(void)depth;
	if (id < 100)
		*calls += f->calls;
}

static void *read_all(void *arg)
{
	uint64_t last = 0;

	for (int i = 0; i < 60; i++) {
		uint64_t calls = 0;
		uint32_t id = (uint32_t)i * 3 + 1;

		probe_sweep();
		probe_stalls(tick_now(), 1000);
		MUST_INT(probe_tree(ignore, &calls), 0);
		MUST(calls >= last);
		last = calls;
		MUST(active(id) < 8);
		calls = 0;
		MUST_INT(probe_methods(ignore, &calls), 0);
		MUST(calls >= last);
		if (id > 100)
			probe_method_reset(id);
		timed(id, (uint32_t)(i % 3));
		sched_yield();
	}
	__atomic_store_n(&stop, true, __ATOMIC_RELAXED);
	return arg;
}

/* Figures only grow, whatever the threads do meanwhile.  Contexts are few enough for all of them to
 * stay. */
PROBE_TEST(probe_can_be_read_while_it_runs, 4 * MIB)
{
	pthread_t reader;

	for (uint32_t id = 1; id < 200; id++)
		timed(id, 1);
	pthread_create(&reader, NULL, read_all, NULL);
	probe_test_threads(4, churn);
	pthread_join(reader, NULL);
	probe_sweep();
	for (uint32_t id = 1; id < 200; id++)
		MUST_INT(active(id), 0);
}

PROBE_TEST(probe_goes_on_in_a_forked_child, MIB)
{
	uint64_t token;
	int status = -1;
	pid_t pid;

	timed(1, 1);
	token = probe_enter(1);
	pid = fork();
	if (pid == 0) {
		probe_exit(1, token);
		call(1);
		_exit(figures(1).timed == 2 ? 0 : 1);
	}
	waitpid(pid, &status, 0);
	MUST_INT(status, 0);
	probe_exit(1, token);
	MUST_INT(figures(1).timed, 1);
}
