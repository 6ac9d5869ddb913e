/* SPDX-License-Identifier: Apache-2.0 */
#include "test_probe.h"

#include "base/tick.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static void watched(uint32_t id, uint64_t at_least)
{
	probe_method_set(id,
			 &(struct probe_how){ .one_in = 1, .data = true, .at_least = at_least });
}

static void fact(uint32_t id, const char *key, const char *value)
{
	probe_fact(id, key, strlen(key), value, strlen(value));
}

/* The next call's facts as "key=value,key=value"; NULL: there is none. */
static const char *take(struct probe_call *c)
{
	static char text[2 * PROBE_FACT_MAX];
	bool value = false;

	if (!probe_ring_take(c))
		return NULL;
	memcpy(text, c->facts, c->facts_n);
	text[c->facts_n] = '\0';
	for (size_t i = 0; i < c->facts_n; i++) {
		if (text[i])
			continue;
		text[i] = !value ? '=' : i + 1 < c->facts_n ? ',' : '\0';
		value = !value;
	}
	return text;
}

PROBE_TEST(probe_hands_out_watched_calls, MIB)
{
	uint64_t before = tick_now(), one, two, three;
	struct probe_call c;

	MUST(!probe_ring_take(&c));
	watched(1, 0);
	watched(2, 0);
	timed(3, 1);
	one = probe_enter(1);
	MUST_INT(one & 1, 1);
	fact(1, "arg", "x");
	two = probe_enter(2);
	fact(2, "inner", "y");
	three = probe_enter(3);
	MUST_INT(three & 1, 0);
	fact(3, "nobody", "asked");
	fact(1, "late", "z"); /* about the outer one, after the inner one's */
	fact(2, "sql", "");
	probe_exit(3, three);
	probe_thrown(2, two);
	fact(1, "result", "7");
	probe_exit(1, one);

	MUST_STR(take(&c), "inner=y,sql=");
	MUST_INT(c.id, 2);
	MUST(c.thrown);
	MUST_INT(c.tid, syscall(SYS_gettid));
	MUST(c.begin >= before && c.begin + c.ticks <= tick_now());
	MUST_STR(take(&c), "arg=x,late=z,result=7");
	MUST_INT(c.id, 1);
	MUST(!c.thrown);
	MUST(!probe_ring_take(&c));

	fact(1, "too", "late");
	call(1);
	MUST_STR(take(&c), "");
	MUST_INT(figures(1).timed, 2);
	MUST_INT(figures(2).errors, 1);
}

PROBE_TEST(probe_hands_out_only_calls_that_are_long_enough, MIB)
{
	struct probe_call c;

	watched(1, UINT64_MAX);
	call(1);
	MUST(!probe_ring_take(&c));
	watched(1, 1);
	call(1);
	MUST(probe_ring_take(&c));
	MUST(!probe_ring_take(&c));
	MUST_INT(figures(1).timed, 2);
}

PROBE_TEST(probe_stops_handing_out_when_nobody_watches, MIB)
{
	struct probe_call c;
	uint64_t token;

	watched(1, 0);
	token = probe_enter(1);
	timed(1, 1);
	probe_exit(1, token);
	MUST(!probe_ring_take(&c));
	MUST_INT(probe_enter(1) & 1, 0);
}

/* Recursion: each frame has its own. */
PROBE_TEST(probe_keeps_facts_of_recursive_calls_apart, MIB)
{
	uint64_t tokens[5];
	struct probe_call c;

	watched(1, 0);
	for (int i = 0; i < 5; i++) {
		char text[2] = { (char)('0' + i), '\0' };

		tokens[i] = probe_enter(1);
		fact(1, "n", text);
	}
	/* The two inner exits never come. */
	probe_exit(1, tokens[2]);
	MUST_STR(take(&c), "n=2");
	fact(1, "more", "m");
	probe_exit(1, tokens[1]);
	probe_exit(1, tokens[0]);
	MUST_STR(take(&c), "n=1,more=m");
	MUST_STR(take(&c), "n=0");
}

PROBE_TEST(probe_cuts_facts_that_do_not_fit, MIB)
{
	static char big[2 * PROBE_FACT_MAX];
	uint64_t one, two;
	struct probe_call c;

	watched(1, 0);
	watched(2, 0);
	for (size_t i = 0; i < sizeof(big); i += 2)
		memcpy(big + i, "\xc3\xa4", 2); /* a letter of two bytes */
	one = probe_enter(1);
	probe_fact(1, "k", 1, big, sizeof(big));
	two = probe_enter(2);
	fact(2, "none", "left");
	probe_exit(2, two);
	probe_exit(1, one);
	MUST_STR(take(&c), "");
	MUST(probe_ring_take(&c));
	MUST(c.facts_n > PROBE_FACT_MAX - 16 && c.facts_n <= PROBE_FACT_MAX);
	MUST_INT(c.facts[c.facts_n - 1], 0);
	MUST_INT(strlen(c.facts + 2) % 2, 0); /* no half letter */
	/* The room is there again. */
	one = probe_enter(1);
	probe_fact(1, "a\0b", 3, "c\0d", 3); /* what would look like two is cut */
	probe_exit(1, one);
	MUST_STR(take(&c), "a=c");
}

PROBE_TEST(probe_drops_calls_when_the_ring_is_full, MIB)
{
	static char big[3000];
	struct probe_state s;
	struct probe_call c;
	unsigned put = 0, taken = 0;

	memset(big, 'x', sizeof(big));
	watched(1, 0);
	for (int round = 0; round < 3; round++) {
		do {
			uint64_t token = probe_enter(1);

			probe_fact(1, "k", 1, big, 100 + put % 2900);
			probe_exit(1, token);
			probe_state_read(&s);
			put++;
		} while (s.ring_dropped < (uint64_t)(round + 1) * 10);
		while (probe_ring_take(&c)) {
			taken++;
			MUST(c.id == 1 && c.facts[2] == 'x' && c.facts[c.facts_n - 2] == 'x');
		}
		MUST_INT(put - taken, s.ring_dropped);
	}
	MUST(taken > 1000);
	MUST_INT(figures(1).timed, put);
}

static void produce(unsigned number)
{
	char text[64];

	for (unsigned i = 0; i < 20000; i++) {
		uint64_t token = probe_enter(number);

		snprintf(text, sizeof(text), "%u-%u%.*s", number, i, (int)i % 20,
			 "....................");
		fact(number, "n", text);
		probe_exit(number, token);
	}
}

static bool all_produced;

static void *produce_all(void *arg)
{
	probe_test_threads(4, produce);
	__atomic_store_n(&all_produced, true, __ATOMIC_RELEASE);
	return arg;
}

PROBE_TEST(probe_ring_keeps_the_records_of_many_threads_whole, MIB)
{
	unsigned next[4] = { 0 }, taken = 0;
	struct probe_state s;
	struct probe_call c;
	pthread_t all;
	bool ended = false;

	for (uint32_t id = 0; id < 4; id++)
		watched(id, 0);
	pthread_create(&all, NULL, produce_all, NULL);
	for (;;) {
		while (probe_ring_take(&c)) {
			unsigned number = 9, i = 0;

			MUST_INT(sscanf(c.facts + 2, "%u-%u", &number, &i), 2);
			MUST(number == c.id && c.id < 4);
			MUST(i >= next[c.id % 4]); /* in order, with gaps where the ring was full */
			next[c.id % 4] = i + 1;
			taken++;
		}
		if (ended)
			break;
		usleep(1000);
		ended = __atomic_load_n(&all_produced, __ATOMIC_ACQUIRE);
	}
	pthread_join(all, NULL);
	probe_state_read(&s);
	MUST_INT(taken + s.ring_dropped, 80000);
	MUST(taken > 0);
}

PROBE_TEST(probe_takes_facts_while_muted, MIB)
{
	struct probe_call c;
	uint64_t token;

	watched(1, 0);
	token = probe_enter(1);
	probe_mute(true);
	fact(1, "k", "v");
	probe_mute(false);
	probe_exit(1, token);
	MUST_STR(take(&c), "k=v");
}

PROBE_TEST(probe_counts_a_stall_once, MIB)
{
	uint64_t one, two;

	timed(1, 1);
	timed(2, 1);
	one = probe_enter(1);
	probe_stalls(tick_now() + 1000000, 2000000000000); /* far too soon */
	MUST_INT(figures(1).stalls, 0);
	probe_stalls((one >> 1) + 5000, 4000);
	MUST_INT(figures(1).stalls, 1);
	two = probe_enter(2);
	probe_stalls((one >> 1) + 5000, 4000);
	probe_stalls((one >> 1) + 6000, 4000);
	MUST_INT(figures(1).stalls, 1);
	MUST_INT(figures(2).stalls, 0);
	probe_stalls((two >> 1) + 9000, 4000);
	MUST_INT(figures(2).stalls, 1);
	probe_exit(2, two);
	probe_exit(1, one);
	probe_stalls(tick_now() + 100000, 1);
	MUST_INT(figures(1).stalls, 1);
	MUST_INT(figures(2).stalls, 1);
}

PROBE_TEST(probe_counts_from_the_reset_on, MIB)
{
	struct probe_figures f;
	uint64_t one;

	timed(1, 1);
	timed(2, 1);
	for (int i = 0; i < 10; i++) {
		one = probe_enter(1);
		call(2);
		probe_thrown(1, one);
	}
	probe_enter(2); /* lost below */
	one = probe_enter(1);
	probe_bytes(1, 9);
	probe_method_reset(1);
	f = figures(1);
	MUST_INT(f.calls, 0);
	MUST_INT(f.errors, 0);
	MUST_INT(f.timed, 0);
	MUST_INT(f.sum, 0);
	MUST_INT(f.bytes, 0);
	MUST(f.min == UINT64_MAX && f.max == 0);
	MUST_INT(histogram_total(1), 0);
	MUST_INT(active(1), 1); /* it still runs */
	probe_exit(1, one);
	MUST_INT(active(1), 0);
	MUST_STR(tree(), "1*0(2*10) 2*1");
	MUST_INT(figures(2).calls, 11);
	call(1);
	f = figures(1);
	MUST_INT(f.calls, 1);
	MUST_INT(f.timed, 1);
	MUST_INT(f.min, f.max);
	MUST_INT(histogram_total(1), 1);
	probe_thread_end();
	probe_sweep();
	MUST_INT(figures(1).calls, 1);
	MUST_INT(active(1), 0);
	MUST_INT(active(2), 0);
	probe_method_reset(2);
	probe_method_reset(1);
	MUST_STR(tree(), "");
	MUST_INT(figures(1).calls + figures(2).calls, 0);
	call(1);
	MUST_STR(tree(), "1*1");
}

static void lose_some(void)
{
	uint64_t one = probe_enter(1);

	probe_enter(2);
	probe_enter(2);
	probe_exit(1, one);
}

PROBE_TEST(probe_reset_keeps_what_runs_apart_from_what_was_lost, MIB)
{
	uint64_t one;

	timed(1, 1);
	timed(2, 1);
	lose_some();
	one = probe_enter(2);
	probe_method_reset(2);
	MUST_INT(active(2), 1);
	MUST_INT(figures(2).lost, 0);
	lose_some(); /* brings its nodes up to date */
	MUST_INT(active(2), 1);
	MUST_INT(figures(2).lost, 2);
	MUST_INT(figures(2).calls, 2);
	probe_exit(2, one);
	MUST_INT(active(2), 0);
}
