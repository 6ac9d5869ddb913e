/* SPDX-License-Identifier: Apache-2.0 */
/* Calls that are measured alone. */
#include "probe/solo.h"

#include "test_probe.h"

#include <time.h>

static const uint32_t both[] = { 5, 9 };

/* As Java begins a call: blank ones before it. */
static uint64_t enter(uint32_t id)
{
	uint64_t token = solo_enter(id);

	while ((token & SOLO_BLANK) == SOLO_BLANK) {
		solo_exit(id, token);
		token = solo_enter(id);
	}
	return token;
}

PROBE_TEST(solo_measures_one_call_at_a_time_and_gives_the_word_back, MIB)
{
	uint64_t token;

	MUST_INT(enter(5), 0);
	solo_begin(both, 2, 100, UINT64_MAX);
	MUST_INT(probe_words.solo, 1);
	token = enter(9);
	MUST(token & SOLO_TOKEN);
	MUST_INT(probe_words.solo, 0);
	MUST_INT(enter(9), 0);
	MUST_INT(enter(5), 0);
	solo_exit(5, token);
	MUST_INT(probe_words.solo, 0);
	solo_exit(9, token);
	MUST_INT(probe_words.solo, 1);
	MUST_INT(solo_sum(0).calls, 0);
	MUST_INT(solo_sum(1).calls, 1);
	MUST(solo_end());
	MUST_INT(enter(5), 0);
}

PROBE_TEST(solo_does_not_take_out_what_interrupted_a_blank_call, MIB)
{
	uint64_t token, since;

	for (int i = 0; i < 100; i++) { /* how long blank ones are */
		solo_begin(both, 2, 1, UINT64_MAX);
		solo_exit(5, enter(5));
		MUST(solo_end());
	}
	solo_begin(both, 2, 1, UINT64_MAX);
	token = solo_enter(5);
	while ((token & SOLO_BLANK) == SOLO_BLANK) {
		since = probe_now();
		while (probe_now() - since < 1000000)
			;
		solo_exit(5, token);
		token = solo_enter(5);
	}
	solo_exit(5, token);
	MUST_INT(solo_sum(0).calls, 1);
	MUST(solo_sum(0).blank < 500000);
}

/* How many of so many calls are measured. */
static int measured_of(uint32_t id, int calls)
{
	int measured = 0;

	for (int i = 0; i < calls; i++) {
		uint64_t token = enter(id);

		measured += token != SOLO_TOKEN;
		if (token)
			solo_exit(id, token);
		MUST_INT(probe_words.solo, 1);
	}
	return measured;
}

PROBE_TEST(solo_lets_calls_of_short_methods_pass_in_between, MIB)
{
	int n;

	solo_way(5, &(struct solo_way){ .rest = 9 });
	solo_begin(both, 2, 100000, UINT64_MAX);
	n = measured_of(5, 10000);
	MUST(n > 900 && n < 1100);
	MUST_INT(measured_of(9, 100), 100);
	solo_way(5, &(struct solo_way){ 0 });
	MUST_INT(measured_of(5, 100), 100);
	MUST(solo_end());
}

PROBE_TEST(solo_sees_calls_alike_that_differ_by_turns, MIB)
{
	int kinds[4] = { 0 };

	solo_way(5, &(struct solo_way){
			    .rest = 7 }); /* with a fixed number all would be of one kind */
	solo_begin(both, 2, 100000, UINT64_MAX);
	for (int i = 0; i < 16000; i++)
		kinds[i % 4] += measured_of(5, 1);
	for (int i = 0; i < 4; i++)
		MUST(kinds[i] > 400 && kinds[i] < 600);
	solo_way(5, &(struct solo_way){ 0 });
	MUST(solo_end());
}

PROBE_TEST(solo_waits_for_the_last_call_or_gives_it_up, MIB)
{
	uint64_t token, other;

	solo_begin(both, 2, 100, UINT64_MAX);
	token = enter(5);
	MUST(!solo_end());
	solo_exit(5, token);
	MUST(solo_end());
	MUST_INT(solo_sum(0).calls, 1);
	solo_begin(both, 2, 100, UINT64_MAX);
	token = enter(9);
	MUST(!solo_end());
	MUST_INT(solo_cut(), 1);
	solo_begin(both, 2, 100, UINT64_MAX);
	other = enter(5);
	solo_exit(9, token); /* late: it is nobody's business any more */
	MUST_INT(probe_words.solo, 0);
	MUST_INT(solo_sum(1).calls, 0);
	solo_exit(5, other);
	MUST_INT(solo_sum(0).calls, 1);
}

PROBE_TEST(solo_ends_after_as_many_calls_as_are_wanted, MIB)
{
	solo_begin(both, 2, 2, UINT64_MAX);
	solo_exit(5, enter(5));
	MUST(!solo_is_over());
	solo_exit(5, enter(5));
	MUST(solo_is_over());
	MUST_INT(enter(5), 0);
	MUST(solo_end());
	MUST_INT(solo_sum(0).calls, 2);
}

PROBE_TEST(solo_ends_by_itself_when_its_time_is_over, MIB)
{
	uint64_t token, soon = probe_now() + 50000000;

	solo_begin(both, 2, 100, soon);
	token = enter(5);
	MUST(token & SOLO_TOKEN);
	while (probe_now() < soon)
		;
	MUST(!solo_is_over());
	solo_exit(5, token);
	MUST(solo_is_over());
	MUST_INT(solo_sum(0).calls, 1);
	MUST(solo_sum(0).max == solo_sum(0).ticks);
	solo_begin(both, 2, 100, 1);
	MUST_INT(enter(5), 0);
	MUST(solo_is_over());
	MUST_INT(solo_sum(0).calls, 0);
}

PROBE_TEST(solo_marks_are_counted_and_nothing_is_measured, MIB)
{
	solo_mark(5);
	solo_begin(both, 2, 0, UINT64_MAX);
	MUST_INT(enter(5), 0);
	MUST_INT(probe_words.solo, 1); /* gates that are open at times let them through */
	for (int i = 0; i < 7; i++)
		solo_mark(9);
	MUST(solo_end());
	solo_mark(9);
	MUST_INT(solo_sum(0).calls, 0);
	MUST_INT(solo_sum(1).calls, 7);
}

PROBE_TEST(solo_does_not_see_muted_threads_nor_calls_that_are_taken_back, MIB)
{
	uint64_t token;

	solo_begin(both, 2, 100, UINT64_MAX);
	probe_mute(true);
	MUST_INT(enter(5), 0);
	probe_mute(false);
	token = enter(5);
	solo_forget(5, token);
	MUST_INT(probe_words.solo, 1);
	MUST_INT(solo_sum(0).calls, 0);
}

static uint64_t taken[4];

static void hammer(unsigned number)
{
	for (int i = 0; i < 20000; i++) {
		uint64_t token = enter(both[number & 1]);

		if (token) {
			taken[number]++;
			solo_exit(both[number & 1], token);
		}
	}
}

PROBE_TEST(solo_counts_each_call_once_whoever_comes, MIB)
{
	solo_begin(both, 2, UINT64_MAX, UINT64_MAX);
	probe_test_threads(4, hammer);
	MUST(solo_end());
	MUST_INT(solo_sum(0).calls, taken[0] + taken[2]);
	MUST_INT(solo_sum(1).calls, taken[1] + taken[3]);
	MUST(taken[0] + taken[1] + taken[2] + taken[3] > 1000);
}

PROBE_TEST(solo_measures_blank_calls_before_each_call, MIB)
{
	uint64_t token, soon;

	solo_begin(both, 2, 100, UINT64_MAX);
	token = solo_enter(5);
	MUST((token & SOLO_BLANK) == SOLO_BLANK);
	MUST_INT(solo_enter(9), 0); /* nobody else may */
	solo_exit(5, token);
	MUST_INT(solo_sum(0).calls, 0);
	token = enter(5);
	MUST((token & SOLO_BLANK) == SOLO_TOKEN);
	soon = probe_now() + 100000000;
	while (probe_now() < soon)
		;
	solo_exit(5, token);
	MUST_INT(solo_sum(0).calls, 1);
	MUST(solo_sum(0).blank > 0 && solo_sum(0).blank < solo_sum(0).ticks);
}

PROBE_TEST(solo_is_not_confused_by_a_blank_call_that_does_not_go_on, MIB)
{
	uint64_t token;

	solo_begin(both, 2, 100, UINT64_MAX);
	token = solo_enter(5);
	solo_exit(5, token);
	MUST(!solo_end());
	MUST_INT(solo_cut(), 0);
	solo_begin(both, 2, 100, UINT64_MAX);
	MUST_INT(solo_enter(5), 0); /* it comes late */
	token = enter(5);
	solo_exit(5, token);
	MUST_INT(solo_sum(0).calls, 1);
}

/* Calls of 2 ms, in which the thread waits or works; with other threads beside it. */
static uint64_t asked_of(bool waits)
{
	const struct timespec rest = { .tv_nsec = 2000000 };
	uint64_t token, end;

	solo_way(5, &(struct solo_way){ .is_long = true });
	solo_begin(both, 2, 100, UINT64_MAX);
	token = enter(5);
	end = probe_now() + 2000000;
	while (!waits && probe_now() < end)
		;
	if (waits)
		nanosleep(&rest, NULL);
	solo_exit(5, token);
	MUST(solo_end());
	MUST_INT(solo_sum(0).calls, 1);
	MUST(solo_sum(0).ticks > 0);
	solo_way(5, &(struct solo_way){ 0 });
	return solo_sum(0).asked;
}

PROBE_TEST(solo_asks_long_calls_for_their_processor_unless_they_wait, MIB)
{
	MUST_INT(asked_of(true), 0);
	for (int i = 0; i < 100 && !asked_of(false); i++)
		; /* a machine may make a thread give its processor up, but not each time */
	MUST_INT(solo_sum(0).asked, 1);
}
