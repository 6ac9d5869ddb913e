/* SPDX-License-Identifier: Apache-2.0 */
#include "test_probe.h"

#include "probe/lane.h"

static __thread uint64_t key;
static __thread uint64_t came; /* calls that came to C */

static struct lane_slot *slot(void)
{
	struct lane_slot *slots = probe_lanes().slots;

	return &slots[key * 0x9e3779b97f4a7c15u >> 56];
}

/* What SondeProbe.count() does. */
static void count(uint32_t id)
{
	const struct lane_slot *s = slot();

	if (probe_words.lanes && key) {
		if (s->owner == key + 1 && s->generation == *probe_lanes().generation &&
		    s->table[id]) {
			++*s->table[id];
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

PROBE_TEST(lane_first_call_of_a_method_alone_comes_to_c, MIB)
{
	key = 0x7f0000001000;
	light(1);
	light(2);
	count_times(1, 10);
	count_times(2, 5);
	count_times(1, 10);
	MUST_INT(came, 2);
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
	MUST_INT(came, 4);
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

/* When memory is short, nodes are taken out and used again for others. */
PROBE_TEST(lane_is_closed_when_nodes_are_taken_out, 64 << 10)
{
	uint64_t sum = 0;

	key = 0x7f0000001000;
	for (uint32_t id = 1; id < 2000; id++)
		light(id);
	for (uint32_t round = 0; round < 20; round++)
		for (uint32_t id = 1; id < 2000; id++)
			count_times(id, 1 + id % 3);
	for (uint32_t id = 1; id < 2000; id++) {
		MUST_INT(figures(id).calls, 20 * (1 + id % 3));
		sum += figures(id).calls;
	}
	MUST(sum > 0);
}
