/* SPDX-License-Identifier: Apache-2.0 */
#include "test_probe.h"

#include "probe/lane.h"

static __thread uint64_t key;
static __thread uint64_t came; /* calls that came to C */

static struct lane_slot *slot(void)
{
	struct lane_slot *slots = probe_lanes();

	return &slots[key * 0x9e3779b97f4a7c15u >> 56];
}

/* What SondeProbe.count() does. */
static void count(uint32_t id)
{
	const struct lane_slot *s = slot();

	if (probe_words.lanes && key) {
		if (s->owner == key + 1) {
			s->counts[id]++;
			return;
		}
		came++;
		if (s->owner == 0 || s->owner == key + 1) {
			probe_lane_count(id, key);
			return;
		}
	}
	probe_count(id);
}

static void light(uint32_t id)
{
	probe_method_set(id, &(struct probe_how){ .one_in = 0 });
}

static void count_times(uint32_t id, unsigned n)
{
	while (n--)
		count(id);
}

PROBE_TEST(lane_first_call_of_a_thread_alone_comes_to_c, MIB)
{
	key = 0x7f0000001000;
	light(1);
	light(2);
	count_times(1, 10);
	count_times(2, 5);
	count_times(1, 10);
	MUST_INT(came, 1);
	MUST_INT(figures(1).calls, 20);
	MUST_INT(figures(2).calls, 5);
	MUST_STR(tree(), "1*20 2*5");
}

PROBE_TEST(lane_knows_methods_that_come_later, MIB)
{
	key = 0x7f0000001000;
	light(1);
	count_times(1, 3);
	light(200000);
	count_times(200000, 4);
	MUST_INT(figures(1).calls, 3);
	MUST_INT(figures(200000).calls, 4);
}

PROBE_TEST(lane_begins_anew_after_a_reset, MIB)
{
	key = 0x7f0000001000;
	light(1);
	light(2);
	count_times(1, 7);
	count_times(2, 7);
	probe_method_reset(1);
	MUST_INT(figures(1).calls, 0);
	count_times(1, 4);
	count_times(2, 4);
	MUST_INT(figures(1).calls, 4);
	MUST_INT(figures(2).calls, 11);
	MUST_STR(tree(), "1*4 2*11");
	MUST_INT(came, 1);
}

PROBE_TEST(lane_ends_when_a_hook_does_more_than_count, MIB)
{
	uint64_t token;

	key = 0x7f0000001000;
	light(1);
	count_times(1, 3);
	timed(2, 1);
	MUST_INT(probe_words.lanes, 0);
	token = probe_enter(2);
	count_times(1, 3);
	probe_exit(2, token);
	light(2);
	MUST_INT(probe_words.lanes, 0);
	MUST_STR(tree(), "1*3 2*1(1*3)");
}

PROBE_TEST(lane_is_closed_to_a_muted_thread, MIB)
{
	key = 0x7f0000001000;
	light(1);
	count_times(1, 3);
	probe_mute(true);
	count_times(1, 3);
	probe_mute(false);
	count_times(1, 3);
	MUST_INT(figures(1).calls, 6);
}

static struct lane_slot *lane_of_one;

static void thread_with_key(unsigned number)
{
	key = 0x7f0000001000 + number % 8 * 0x800;
	count_times(1, 1000);
	count_times(2 + number % 8, 500);
	if (number == 0)
		lane_of_one = slot();
	probe_thread_end();
}

/* Eight keys and 64 threads, so slots change hands, and threads meet in one. */
PROBE_TEST(lane_counts_exactly_in_many_threads, 4 * MIB)
{
	for (uint32_t id = 1; id < 10; id++)
		light(id);
	for (unsigned round = 0; round < 8; round++) {
		probe_test_threads(8, thread_with_key);
		probe_sweep();
	}
	MUST_INT(figures(1).calls, 64 * 1000);
	for (uint32_t id = 2; id < 10; id++)
		MUST_INT(figures(id).calls, 8 * 500);
	MUST_INT(lane_of_one->owner, 0);
	MUST(!lane_of_one->taken);
}

static void thread_that_never_says(unsigned number)
{
	key = 0x7f0000001000;
	count_times(1, 10 + number);
	lane_of_one = slot();
}

PROBE_TEST(lane_of_a_thread_that_ends_without_a_word_is_taken_back, MIB)
{
	light(1);
	probe_test_threads(1, thread_that_never_says);
	MUST_INT(lane_of_one->owner, 0x7f0000001001);
	probe_sweep();
	MUST_INT(lane_of_one->owner, 0);
	probe_test_threads(1, thread_that_never_says);
	MUST_INT(figures(1).calls, 20);
}

PROBE_TEST(lane_is_one_threads_alone, MIB)
{
	struct lane_slot *s;

	key = 0x7f0000001000;
	light(1);
	s = slot();
	s->owner = 5; /* somebody else's */
	count_times(1, 10);
	MUST_INT(came, 10);
	MUST_INT(figures(1).calls, 10);
	MUST(!s->taken);
}

/* Some of its calls were counted by itself, some in C. */
PROBE_TEST(lane_and_nodes_add_up, MIB)
{
	key = 0x7f0000001000;
	light(1);
	light(2);
	count_times(1, 3);
	key = 0;
	count_times(2, 4);
	count_times(1, 5);
	MUST_INT(figures(1).calls, 8);
	MUST_STR(tree(), "1*8 2*4");
	probe_method_reset(1);
	MUST_STR(tree(), "2*4");
	count_times(1, 1);
	key = 0x7f0000001000;
	count_times(1, 2);
	MUST_INT(figures(1).calls, 3);
}

PROBE_TEST(lane_keeps_what_threads_counted_that_have_ended, MIB)
{
	light(1);
	light(3);
	probe_test_threads(1, thread_with_key);
	probe_sweep();
	probe_method_reset(1);
	probe_test_threads(1, thread_with_key);
	MUST_INT(figures(1).calls, 1000);
	light(2);
	MUST_INT(figures(2).calls, 1000);
	MUST_STR(tree(), "1*1000 2*1000");
}

PROBE_TEST(lane_needs_no_memory_for_nodes, 64 << 10)
{
	struct probe_state state;
	uint64_t used;

	key = 0x7f0000001000;
	for (uint32_t id = 1; id < 2000; id++)
		light(id);
	count(1);
	probe_state_read(&state);
	used = state.bytes_used;
	for (uint32_t round = 0; round < 20; round++)
		for (uint32_t id = 1; id < 2000; id++)
			count_times(id, 1 + id % 3);
	for (uint32_t id = 2; id < 2000; id++)
		MUST_INT(figures(id).calls, 20 * (1 + id % 3));
	probe_state_read(&state);
	MUST_INT(state.bytes_used, used);
	MUST_INT(came, 1);
}
