/* SPDX-License-Identifier: Apache-2.0 */
#include "test_probe.h"

#include "base/tick.h"

#include <string.h>

/* Two carriers take turns: what one does, the other sees. */
static unsigned turn;
static void *kept;
static uint64_t one, two;

static void wait_for(unsigned n)
{
	while (__atomic_load_n(&turn, __ATOMIC_ACQUIRE) != n)
		__asm__ volatile("" ::: "memory");
}

static void next(void)
{
	__atomic_fetch_add(&turn, 1, __ATOMIC_RELEASE);
}

static void methods(uint32_t n)
{
	for (uint32_t id = 1; id <= n; id++)
		timed(id, 1);
}

static void move_over(unsigned number)
{
	if (number == 0) {
		uint64_t own = probe_enter(9); /* the carrier's own call */

		probe_mount(NULL);
		one = probe_enter(1);
		two = probe_enter(2);
		call(3);
		kept = probe_unmount();
		MUST(kept != NULL);
		MUST_INT(active(1), 1);
		call(4); /* by the carrier: below its own call */
		probe_exit(9, own);
		next();
		return;
	}
	wait_for(1);
	probe_mount(kept);
	call(3);
	probe_exit(2, two);
	probe_exit(1, one);
	MUST(!probe_unmount());
	call(4);
}

PROBE_TEST(probe_follows_a_virtual_thread_to_another_carrier, MIB)
{
	struct probe_state s;

	methods(9);
	probe_test_threads(2, move_over);
	probe_sweep();
	MUST_STR(tree(), "9*1(4*1) 1*1(2*1(3*2)) 4*1");
	for (uint32_t id = 1; id <= 9; id++)
		MUST_INT(active(id), 0);
	MUST_INT(figures(1).timed, 1);
	MUST_INT(figures(2).timed, 1);
	MUST_INT(figures(3).timed, 2);
	MUST_INT(figures(1).below, figures(2).sum);
	MUST_INT(figures(2).below, figures(3).sum);
	probe_state_read(&s);
	MUST_INT(s.strayed, 0);
	MUST_INT(s.lost, 0);
}

PROBE_TEST(probe_times_virtual_threads_without_memory, 0)
{
	struct probe_state s;

	methods(9);
	probe_mount(NULL);
	one = probe_enter(1);
	two = probe_enter(2);
	MUST(!probe_unmount());
	probe_mount(NULL);
	probe_exit(2, two);
	probe_exit(1, one);
	MUST(!probe_unmount());
	MUST_INT(figures(1).timed, 1);
	MUST_INT(figures(2).timed, 1);
	MUST_INT(active(1), 0);
	MUST_INT(active(2), 0);
	MUST(figures(1).min >= figures(2).max);
	probe_state_read(&s);
	MUST_INT(s.strayed, 2);
	MUST_INT(s.lost, 0);
}

PROBE_TEST(probe_loses_the_calls_of_a_dropped_virtual_thread, MIB)
{
	methods(9);
	probe_mount(NULL);
	probe_enter(1);
	probe_enter(2);
	kept = probe_unmount();
	MUST_INT(active(1), 1);
	probe_drop(kept);
	MUST_INT(active(1), 0);
	MUST_INT(active(2), 0);
	MUST_INT(figures(2).lost, 1);
}

PROBE_TEST(probe_survives_mounts_that_nobody_told_of, MIB)
{
	methods(9);
	probe_mount(NULL);
	one = probe_enter(1);
	probe_mount(NULL); /* the unmount was missed */
	call(2);
	MUST(!probe_unmount());
	MUST(!probe_unmount());
	probe_exit(1, one);
	MUST_INT(figures(1).timed, 1);
	MUST_INT(active(1), 0);
	MUST_STR(tree(), "1*1 2*1");
	one = probe_enter(1); /* an unmount without a mount takes what there is */
	kept = probe_unmount();
	MUST(kept != NULL);
	call(2);
	probe_mount(kept);
	probe_exit(1, one);
	MUST(!probe_unmount());
	MUST_STR(tree(), "1*2 2*2");
	MUST_INT(active(1), 0);
}

/* Each of many virtual threads blocks inside hooked calls, all at once. */
PROBE_TEST(probe_keeps_ten_thousand_virtual_threads_apart, 4 * MIB)
{
	enum { N = 10000 };
	static void *away[N];
	static uint64_t outer[N], inner[N];
	struct probe_state s;
	uint64_t used = 0;

	methods(9);
	for (int round = 0; round < 3; round++) {
		for (int i = 0; i < N; i++) {
			probe_mount(NULL);
			outer[i] = probe_enter(1 + (uint32_t)i % 3);
			inner[i] = probe_enter(5);
			away[i] = probe_unmount();
			MUST(away[i] != NULL);
		}
		MUST_INT(active(5), N);
		for (int i = N - 1; i >= 0; i--) {
			probe_mount(away[i]);
			probe_exit(5, inner[i]);
			probe_exit(1 + (uint32_t)i % 3, outer[i]);
			MUST(!probe_unmount());
		}
		MUST_INT(active(5), 0);
		probe_state_read(&s);
		if (round == 0)
			used = s.bytes_used;
		MUST(s.bytes_used <
		     used + used / 20); /* a call that took long widens a histogram */
	}
	MUST_INT(figures(5).timed, 3 * N);
	MUST_INT(s.strayed, 0);
	MUST_INT(s.lost, 0);
	MUST_STR(tree(), "1*10002(5*10002) 2*9999(5*9999) 3*9999(5*9999)");
}

PROBE_TEST(probe_loses_contexts_not_times_of_too_many_virtual_threads, 64 << 10)
{
	enum { N = 10000 };
	static void *away[N];
	static uint64_t tokens[N];

	methods(9);
	for (int i = 0; i < N; i++) {
		probe_mount(NULL);
		tokens[i] = probe_enter(1);
		away[i] = probe_unmount();
	}
	MUST_INT(active(1), N);
	for (int i = 0; i < N; i++) {
		probe_mount(away[i]);
		probe_exit(1, tokens[i]);
		MUST(!probe_unmount());
	}
	MUST_INT(active(1), 0);
	MUST_INT(figures(1).timed, N);
	MUST_INT(figures(1).calls, N);
}

/* Facts, sampled calls and full stacks move, too. */
PROBE_TEST(probe_moves_all_that_belongs_to_a_call, MIB)
{
	struct probe_call c;
	struct probe_figures f;
	uint64_t tokens[PROBE_DEPTH];

	probe_method_set(1, &(struct probe_how){ .one_in = 1, .data = true });
	timed(2, 2);
	timed(3, 1);
	probe_mount(NULL);
	one = probe_enter(1);
	probe_fact(1, "a", 1, "b", 1);
	do
		two = probe_enter(2);
	while (!two);
	kept = probe_unmount();
	probe_mount(NULL);
	probe_fact(1, "x", 1, "y", 1); /* of nobody */
	MUST(!probe_unmount());
	probe_enter(3); /* the carrier's: now the depth is another one */
	probe_mount(kept);
	probe_fact(1, "c", 1, "d", 1);
	probe_exit(2, two);
	probe_exit(1, one);
	MUST(!probe_unmount());
	MUST(probe_ring_take(&c));
	MUST_INT(c.facts_n, 8);
	MUST(memcmp(c.facts, "a\0b\0c\0d", 8) == 0);
	f = figures(2);
	MUST_INT(f.weight, 2);
	MUST_INT(f.weighted, 2 * f.sum);

	probe_mount(NULL);
	for (int i = 0; i < PROBE_DEPTH; i++)
		tokens[i] = probe_enter(3);
	kept = probe_unmount();
	probe_enter(3);
	probe_mount(kept); /* there is less room than it needs */
	for (int i = PROBE_DEPTH - 1; i >= 0; i--)
		probe_exit(3, tokens[i]);
	MUST(!probe_unmount());
	MUST_INT(active(3), 2);
	MUST_INT(figures(3).lost, 0);
}

PROBE_TEST(probe_mounts_on_a_full_stack, MIB)
{
	uint64_t tokens[PROBE_DEPTH];

	methods(9);
	for (int i = 0; i < PROBE_DEPTH; i++)
		tokens[i] = probe_enter(1);
	probe_mount(NULL);
	two = probe_enter(2);
	MUST(!probe_unmount());
	probe_mount(NULL);
	probe_exit(2, two);
	MUST(!probe_unmount());
	for (int i = PROBE_DEPTH - 1; i >= 0; i--)
		probe_exit(1, tokens[i]);
	MUST_INT(figures(1).timed, PROBE_DEPTH);
	MUST_INT(figures(2).timed, 1);
	MUST_INT(active(1), 0);
	MUST_INT(active(2), 0);
}

PROBE_TEST(probe_sees_stalls_of_virtual_threads_when_they_come_back, MIB)
{
	uint64_t old;

	methods(9);
	probe_mount(NULL);
	old = probe_enter(1);
	probe_stalls((old >> 1) + 100, 50);
	MUST_INT(figures(1).stalls, 1);
	two = probe_enter(2);
	kept = probe_unmount();
	probe_stalls((two >> 1) + 100, 50);
	MUST_INT(figures(2).stalls, 0);
	probe_mount(kept);
	MUST_INT(figures(1).stalls, 1);
	MUST_INT(figures(2).stalls, 1);
	probe_stalls((two >> 1) + 200, 50);
	MUST_INT(figures(2).stalls, 1);
}
