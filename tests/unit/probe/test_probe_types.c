/* SPDX-License-Identifier: Apache-2.0 */
/* Sequences of method types: three methods, two transitions, and the time between these. */
#include "test_probe.h"

#include "base/tick.h"
#include "probe/types.h"

enum {
	OUTER = 1, /* compiled by C1 */
	INNER,	   /* compiled by C2, static */
	FAILS,	   /* interpreted */
	METERED,
	C1 = TYPE_C1,
	C2 = TYPE_C2 | TYPE_STATIC,
	SLOW = TYPE_INTERPRETED,
	NONE = TYPE_UNKNOWN,
	ENTER = TRANSITION_ENTER,
	RETURN = TRANSITION_RETURN,
	THROW = TRANSITION_THROW,
};

static const uint64_t borders[] = { 1ull << 40, 1ull << 41,
				    1ull << 42 }; /* ticks: nothing takes so long */

struct seen {
	struct types_sequence all[64];
	unsigned n;
};

static void keep(void *ctx, const struct types_sequence *s)
{
	struct seen *seen = ctx;

	if (seen->n < 64)
		seen->all[seen->n++] = *s;
}

static struct seen read_all(void)
{
	struct seen seen = { .n = 0 };

	types_read(keep, &seen);
	return seen;
}

/* One sequence; its calls are 0 when it was not seen. */
static struct types_sequence find(unsigned a, unsigned first, unsigned b, unsigned second,
				  unsigned c)
{
	struct seen seen = read_all();

	for (unsigned i = 0; i < seen.n; i++) {
		const struct sequence *s = &seen.all[i].s;

		if (s->types[0] == a && s->types[1] == b && s->types[2] == c &&
		    s->transitions[0] == first && s->transitions[1] == second)
			return seen.all[i];
	}
	return (struct types_sequence){ 0 };
}

static uint64_t calls_of(unsigned a, unsigned first, unsigned b, unsigned second, unsigned c)
{
	return find(a, first, b, second, c).calls;
}

/* OUTER calls INNER twice, which is two times five events. */
static void rounds(unsigned n)
{
	while (n-- > 0) {
		uint64_t out = probe_enter(OUTER);

		call(INNER);
		call(INNER);
		probe_exit(OUTER, out);
	}
}

static void set_up(uint32_t one_in)
{
	timed(OUTER, one_in);
	timed(INNER, one_in);
	timed(FAILS, one_in);
	probe_method_set(METERED, &(struct probe_how){ .one_in = 1, .meter = true });
	types_set(OUTER, C1);
	types_set(INNER, C2);
	types_set(FAILS, SLOW);
	types_set(METERED, TYPE_C2);
}

PROBE_TEST(all_sequences_of_three_types_and_two_transitions_are_told_apart, MIB)
{
	set_up(1);
	MUST_INT(types_watch(true, borders), 0);
	rounds(101);
	MUST_INT(types_watch(false, NULL), 0);
	MUST_INT(calls_of(C1, ENTER, C2, RETURN, C1), 202);
	MUST_INT(calls_of(C2, RETURN, C1, ENTER, C2), 101);
	MUST_INT(calls_of(NONE, ENTER, C1, ENTER, C2), 101);
	MUST_INT(calls_of(C2, RETURN, C1, RETURN, NONE),
		 100); /* the last is put down by the next */
	MUST_INT(calls_of(C1, RETURN, NONE, ENTER, C1), 100);
	MUST_INT(read_all().n, 5);
}

/* A leaf's sequence is its own time, as its figures have it. */
PROBE_TEST(the_time_of_a_sequence_is_that_of_the_middle_method, MIB)
{
	struct types_sequence s;

	set_up(1);
	MUST_INT(types_watch(true, borders), 0);
	rounds(1000);
	s = find(C1, ENTER, C2, RETURN, C1);
	MUST_INT(s.min, figures(INNER).min);
	MUST(s.low >= s.min && s.low <= figures(INNER).max);
	MUST_INT(s.s.length, 0);
}

PROBE_TEST(while_sequences_are_watched_all_calls_are_timed, MIB)
{
	set_up(1000);
	MUST_INT(types_watch(true, borders), 0);
	rounds(100);
	MUST_INT(calls_of(C1, ENTER, C2, RETURN, C1), 200);
	MUST_INT(figures(INNER).timed, 200);
	MUST_INT(types_watch(false, NULL), 0);
	rounds(1000);
	MUST(figures(INNER).timed < 300);
	MUST_INT(calls_of(C1, ENTER, C2, RETURN, C1), 200);
}

PROBE_TEST(exits_by_exception_are_transitions_of_their_own, MIB)
{
	set_up(1);
	MUST_INT(types_watch(true, borders), 0);
	for (int i = 0; i < 51; i++) {
		uint64_t out = probe_enter(OUTER);

		probe_thrown(FAILS, probe_enter(FAILS));
		probe_exit(OUTER, out);
	}
	MUST_INT(calls_of(C1, ENTER, SLOW, THROW, C1), 51);
	MUST_INT(calls_of(SLOW, THROW, C1, RETURN, NONE), 50);
	MUST_INT(calls_of(C1, ENTER, SLOW, RETURN, C1), 0);
}

/* Its own reading of meters is in its caller's time. */
PROBE_TEST(what_a_metered_call_is_part_of_does_not_count, MIB)
{
	set_up(1);
	MUST_INT(types_watch(true, borders), 0);
	for (int i = 0; i < 20; i++) {
		uint64_t out = probe_enter(OUTER);

		call(METERED);
		call(INNER);
		probe_exit(OUTER, out);
	}
	MUST_INT(calls_of(NONE, ENTER, C1, ENTER, C2), 0);
	MUST_INT(calls_of(C1, ENTER, C2, RETURN, C1), 20);
}

/* Calls that began before are not seen to end: what comes after them follows nothing. */
PROBE_TEST(a_call_that_began_before_is_no_event, MIB)
{
	uint64_t out, in;

	set_up(1);
	out = probe_enter(OUTER);
	in = probe_enter(OUTER);
	MUST_INT(types_watch(true, borders), 0);
	call(INNER);
	probe_exit(OUTER, in);
	call(INNER);
	probe_exit(OUTER, out);
	call(OUTER);
	call(OUTER);
	MUST_INT(calls_of(C1, ENTER, C2, RETURN, C1), 2);
	MUST_INT(calls_of(C2, RETURN, C1, ENTER, C2), 0);
	MUST_INT(calls_of(C2, RETURN, C1, RETURN, C1), 0);
	MUST_INT(calls_of(C1, RETURN, NONE, ENTER, C1), 1);
}

/* As the agent does when what is under way is waited for. */
PROBE_TEST(an_entry_that_moves_its_begin_moves_it_for_sequences, MIB)
{
	set_up(1);
	types_set(INNER, C2 | TYPE_SETTLED);
	MUST_INT(types_watch(true, borders), 0);
	for (int i = 0; i < 100; i++) {
		uint64_t out = probe_enter(OUTER), in = probe_enter(INNER), since = in >> 1;

		for (uint64_t until = tick_now() + 50000; tick_now() < until;)
			;
		in = probe_shift(INNER, in, since);
		probe_exit(INNER, in);
		probe_exit(OUTER, out);
	}
	MUST_INT(calls_of(C1, ENTER, C2, RETURN, C1), 100);
	MUST(find(C1, ENTER, C2, RETURN, C1).s.settled);
	MUST(find(C1, ENTER, C2, RETURN, C1).min < 50000);
	MUST_INT(calls_of(NONE, ENTER, C1, ENTER, C2),
		 0); /* one of the two waits, the other does not */
}

PROBE_TEST(what_was_seen_is_kept_until_it_is_forgotten, MIB)
{
	set_up(1);
	rounds(500);
	MUST_INT(read_all().n, 0);
	for (uint64_t i = 1; i < 4; i++) {
		MUST_INT(types_watch(true, borders), 0);
		rounds(100);
		MUST_INT(types_watch(false, NULL), 0);
		MUST_INT(calls_of(C1, ENTER, C2, RETURN, C1), i * 200);
	}
	types_forget();
	MUST_INT(read_all().n, 0);
	MUST_INT(types_missed(), 0);
}

static void in_a_thread(unsigned number)
{
	(void)number;
	rounds(1000);
	probe_thread_end();
}

PROBE_TEST(threads_add_to_the_same_sequences, MIB)
{
	set_up(1);
	MUST_INT(types_watch(true, borders), 0);
	probe_test_threads(4, in_a_thread);
	MUST_INT(calls_of(C1, ENTER, C2, RETURN, C1), 8000);
	MUST_INT(calls_of(C2, RETURN, C1, ENTER, C2), 4000);
}
