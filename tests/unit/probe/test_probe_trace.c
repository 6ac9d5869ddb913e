/* SPDX-License-Identifier: Apache-2.0 */
#include "test_probe.h"

#include "base/tick.h"
#include "probe/trace.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

enum { KEEP_ALL = 1 };

static void trace_all(size_t bytes)
{
	MUST_INT(probe_trace_start(&(struct probe_tracing){ .one_in = KEEP_ALL, .bytes = bytes }),
		 0);
}

/* A transaction as text: "1(2 3!(4)) | 5", newest part last; calls as in tree(), '!' thrown, '~'
 * without end, parts with what they were handed over in, as in "1(2) 2>3". */
static char text[1 << 16];
static size_t text_n;
static uint32_t n_calls, ids[1 << 15], parents[1 << 15], shown_parts;
static uint32_t part_call[64], part_from[64], part_number[64], part_first[64];
static bool bad;

static void put(const char *s)
{
	size_t n = strlen(s);

	if (text_n + n < sizeof(text))
		memcpy(text + text_n, s, n + 1), text_n += n;
}

static void visit_part(void *ctx, const struct probe_trace_part *p)
{
	(void)ctx;
	bad |= p->end && p->end < p->begin;
	bad |= p->begin && p->begin < p->submitted;
	part_number[shown_parts % 64] = p->part;
	part_from[shown_parts % 64] = p->from;
	part_call[shown_parts % 64] = p->call;
	part_first[shown_parts % 64] = n_calls;
	if (shown_parts++)
		put(" | ");
}

static void visit_call(void *ctx, const struct probe_trace_call *c)
{
	uint32_t at = n_calls - part_first[(shown_parts - 1) % 64];
	char one[32];

	(void)ctx;
	bad |= c->end && c->end < c->begin;
	bad |= c->parent > at;
	if (n_calls < 1 << 15)
		ids[n_calls] = c->id, parents[n_calls] = c->parent;
	snprintf(one, sizeof(one), "%s%u%s%s<%u", at ? " " : "", c->id,
		 c->flags & TRACE_THROWN ? "!" : "", c->end ? "" : "~", c->parent);
	put(one);
	n_calls++;
}

static const char *shown(struct probe_trace *t)
{
	struct probe_trace_visitor v = { visit_part, visit_call, NULL };

	text_n = shown_parts = n_calls = 0;
	text[0] = '\0';
	if (!probe_trace_take(t))
		return "none";
	probe_trace_read(t, &v);
	probe_trace_give(t);
	return text;
}

PROBE_TEST(a_transaction_has_the_calls_below_its_root, MIB)
{
	uint64_t one, two, before;
	struct probe_trace t;

	for (uint32_t id = 1; id <= 4; id++)
		timed(id, 1);
	call(1);
	MUST_STR(shown(&t), "none");
	trace_all(0);
	before = tick_now();
	one = probe_enter(1);
	two = probe_enter(2);
	call(3);
	probe_exit(2, two);
	call(3);
	MUST_STR(shown(&t), "none");
	probe_exit(1, one);
	MUST_STR(shown(&t), "1<0 2<1 3<2 3<1");
	MUST(!bad);
	MUST_INT(t.root, 1);
	MUST(t.begin >= before && t.begin + t.ticks <= tick_now());
	MUST_INT(t.flags & (TRACE_FAILED | TRACE_CUT | TRACE_LOST | TRACE_OPEN), 0);
	MUST_STR(shown(&t), "none");
	MUST_INT(figures(3).timed, 2);
	probe_trace_stop();
	call(1);
	MUST_STR(shown(&t), "none");
}

PROBE_TEST(exceptions_and_recursion_are_right_in_a_transaction, MIB)
{
	uint64_t token[5];
	struct probe_trace t;

	timed(1, 1);
	timed(2, 7); /* every call is seen all the same */
	trace_all(0);
	for (int i = 0; i < 5; i++)
		token[i] = probe_enter(1);
	for (int i = 4; i >= 3; i--)
		probe_thrown(1, token[i]);
	for (int i = 0; i < 3; i++)
		call(2);
	for (int i = 2; i >= 0; i--)
		probe_exit(1, token[i]);
	MUST_STR(shown(&t), "1<0 1<1 1<2 1!<3 1!<4 2<3 2<3 2<3");
	MUST(!(t.flags & TRACE_FAILED));
	token[0] = probe_enter(1);
	probe_thrown(1, token[0]);
	MUST_STR(shown(&t), "1!<0");
	MUST(t.flags & TRACE_FAILED);
}

PROBE_TEST(exits_that_never_came_are_seen_in_a_transaction, MIB)
{
	uint64_t one, two;
	struct probe_trace t;

	for (uint32_t id = 1; id <= 3; id++)
		timed(id, 1);
	trace_all(0);
	one = probe_enter(1);
	two = probe_enter(2);
	probe_enter(3);
	probe_enter(3);
	probe_exit(2, two);
	call(3);
	probe_exit(1, one);
	MUST_STR(shown(&t), "1<0 2<1 3~<2 3~<3 3<1");
	MUST(!bad);
}

PROBE_TEST(only_marked_methods_are_roots, MIB)
{
	uint64_t one, two;
	struct probe_trace t;

	for (uint32_t id = 1; id <= 3; id++)
		timed(id, 1);
	MUST_INT(probe_trace_start(&(struct probe_tracing){ .one_in = 1, .marked = true }), 0);
	probe_trace_root(2, true);
	call(1);
	one = probe_enter(1);
	two = probe_enter(2);
	call(2);
	call(3);
	probe_exit(2, two);
	call(3);
	probe_exit(1, one);
	MUST_STR(shown(&t), "2<0 2<1 3<1");
	MUST_STR(shown(&t), "none");
}

PROBE_TEST(a_lost_root_gives_way_to_the_next, MIB)
{
	struct probe_trace t;

	timed(1, 1);
	timed(2, 1);
	MUST_INT(probe_trace_start(&(struct probe_tracing){ .one_in = 1, .marked = true }), 0);
	probe_trace_root(2, true);
	for (int i = 0; i < 2; i++) {
		uint64_t one = probe_enter(1);

		if (i == 0)
			probe_enter(2);
		else
			call(2);
		probe_exit(1, one);
	}
	/* the second root is told first: kept ones come out newest first */
	MUST_STR(shown(&t), "2<0");
	MUST(!(t.flags & TRACE_LOST));
	MUST_STR(shown(&t), "2~<0");
	MUST(t.flags & TRACE_LOST);
}

PROBE_TEST(a_full_buffer_cuts_the_transaction, MIB)
{
	uint64_t one;
	struct probe_trace t;
	struct probe_trace_counts n;

	timed(1, 1);
	timed(2, 1);
	trace_all(4096); /* 16 chunks of 10 calls */
	one = probe_enter(1);
	for (int i = 0; i < 1000; i++)
		call(2);
	probe_exit(1, one);
	shown(&t);
	MUST_INT(n_calls, 160);
	MUST_INT(t.missed, 1001 - 160);
	MUST(t.flags & TRACE_CUT);
	MUST(!bad);
	for (int k = 0; k < 1000; k++) { /* nothing was lost of the memory */
		one = probe_enter(1);
		for (int i = 0; i < 99; i++)
			call(2);
		probe_exit(1, one);
		shown(&t);
		MUST_INT(n_calls, 100);
		MUST_INT(t.missed, 0);
	}
	probe_trace_counts(&n);
	MUST_INT(n.begun, 1001);
	MUST_INT(n.ended, 1001);
	MUST_INT(n.kept, 1001);
	MUST_INT(n.passed, 0);
}

PROBE_TEST(slow_and_failed_transactions_are_kept_and_others_counted, MIB)
{
	uint64_t one;
	struct probe_trace t;
	struct probe_trace_counts n;

	timed(1, 1);
	MUST_INT(probe_trace_start(&(struct probe_tracing){ .at_least = 1ull << 40 }), 0);
	for (int i = 0; i < 10000; i++)
		call(1);
	MUST_STR(shown(&t), "none");
	one = probe_enter(1);
	probe_thrown(1, one);
	MUST_STR(shown(&t), "1!<0");
	probe_trace_counts(&n);
	MUST_INT(n.ended, 10001);
	MUST_INT(n.kept, 1);
	MUST_INT(n.failed, 1);
	MUST_INT(
		probe_trace_start(&(struct probe_tracing){ .at_least = 1ull << 40, .one_in = 100 }),
		0);
	for (int i = 0; i < 1000; i++)
		call(1);
	probe_trace_counts(&n);
	MUST_INT(n.kept, 10);
	MUST_INT(probe_trace_start(&(struct probe_tracing){ 0 }), 0);
	for (int i = 0; i < 100; i++)
		call(1);
	probe_trace_sweep(0);
	while (probe_trace_take(&t))
		probe_trace_give(&t);
	probe_trace_counts(&n);
	MUST(n.slow > 0);
	one = probe_enter(1);
	for (uint64_t end = tick_now() + 100 * n.slow; tick_now() < end;)
		;
	probe_exit(1, one);
	shown(&t);
	MUST(t.flags & TRACE_SLOW);
}

/* ---- across threads ---------------------------------------------------------------------- */

static uint64_t works[1000];

static void run_work(unsigned number)
{
	MUST(probe_trace_begin(works[number]));
	call(3);
	probe_trace_end(works[number]);
	call(4); /* is in no transaction: a root of its own */
}

PROBE_TEST(work_goes_on_in_another_thread, MIB)
{
	uint64_t one, two;
	struct probe_trace t;

	for (uint32_t id = 1; id <= 4; id++)
		timed(id, 1);
	trace_all(0);
	one = probe_enter(1);
	two = probe_enter(2);
	works[0] = probe_trace_submit();
	MUST(works[0] != 0);
	MUST(probe_trace_is_in());
	MUST(!probe_trace_begin(probe_trace_submit())); /* it is in that one already */
	probe_exit(2, two);
	probe_test_threads(1, run_work);
	MUST_STR(shown(&t), "4<0");
	MUST(!probe_trace_begin(works[0])); /* once only */
	MUST_STR(shown(&t), "none");
	probe_exit(1, one);
	MUST_STR(shown(&t), "3<0 | 1<0 2<1");
	MUST_INT(part_call[0], 2);
	MUST_INT(part_from[0], part_number[1]);
	MUST_INT(part_from[1], part_number[1]);
	MUST(!bad);
	MUST_INT(probe_trace_submit(), 0);
}

PROBE_TEST(a_transaction_waits_for_its_parts_but_not_forever, MIB)
{
	struct probe_trace t;
	uint64_t one;

	for (uint32_t id = 1; id <= 4; id++)
		timed(id, 1);
	trace_all(0);
	one = probe_enter(1);
	works[0] = probe_trace_submit();
	works[1] = probe_trace_submit();
	probe_exit(1, one);
	MUST_STR(shown(&t), "none");
	MUST(probe_trace_begin(works[1]));
	one = probe_enter(2);
	probe_trace_sweep(1);
	MUST_STR(shown(&t), "none");
	probe_trace_sweep(tick_now());
	MUST_STR(shown(&t), "2~<0 |  | 1<0");
	MUST(t.flags & TRACE_OPEN);
	call(3); /* is not put down any more, nor mixed into another */
	probe_exit(2, one);
	probe_trace_end(works[1]);
	MUST(!probe_trace_begin(works[0]));
	call(4);
	MUST_STR(shown(&t), "4<0");
	MUST_STR(shown(&t), "none");
}

static void mixed(unsigned number)
{
	uint32_t id = 10 + number;

	for (int k = 0; k < 200; k++) {
		uint64_t one = probe_enter(id), work, inner;

		call(id);
		work = probe_trace_submit();
		inner = probe_enter(id);
		probe_exit(id, inner);
		probe_exit(id, one);
		if (probe_trace_begin(work)) { /* as if by another */
			call(id);
			probe_trace_end(work);
		}
	}
}

PROBE_TEST(transactions_of_many_threads_are_not_mixed_up, 8 * MIB)
{
	struct probe_trace_counts n;
	struct probe_trace t;
	uint32_t seen = 0;

	for (uint32_t id = 10; id < 26; id++)
		timed(id, 1);
	trace_all(0);
	probe_test_threads(16, mixed);
	for (;;) {
		if (strcmp(shown(&t), "none") == 0)
			break;
		seen++;
		MUST_INT(n_calls, 4);
		for (uint32_t i = 0; i < n_calls; i++)
			MUST_INT(ids[i], t.root);
	}
	MUST(!bad);
	probe_trace_counts(&n);
	MUST_INT(n.begun, 16 * 200);
	MUST_INT(seen + n.passed, 16 * 200);
}

PROBE_TEST(a_virtual_thread_takes_its_transaction_along, MIB)
{
	uint64_t one, two;
	struct probe_trace t;
	void *kept;

	timed(1, 1);
	timed(2, 1);
	trace_all(0);
	probe_mount(NULL);
	one = probe_enter(1);
	kept = probe_unmount();
	probe_mount(NULL); /* another one, which is in none */
	call(2);
	MUST_STR(shown(&t), "2<0");
	MUST(probe_unmount() == NULL);
	probe_mount(kept);
	two = probe_enter(2);
	probe_exit(2, two);
	probe_exit(1, one);
	MUST(probe_unmount() == NULL);
	MUST_STR(shown(&t), "1<0 2<1");
	probe_mount(NULL);
	probe_enter(1);
	probe_drop(probe_unmount());
	MUST_STR(shown(&t), "1~<0");
	MUST(t.flags & TRACE_LOST);
}

PROBE_TEST(facts_stand_with_their_transaction, MIB)
{
	struct probe_trace t;
	uint64_t one;

	timed(1, 1);
	trace_all(0);
	one = probe_enter(1);
	probe_exit(1, one);
	shown(&t);
	MUST_STR(t.data, "");
	probe_trace_fact("user", "ann"); /* just before */
	one = probe_enter(1);
	probe_trace_fact("id", "7");
	for (int i = 0; i < 40; i++)
		probe_trace_fact("much", "more");
	probe_exit(1, one);
	shown(&t);
	MUST(strncmp(t.data, "user=ann id=7 much=more ", 24) == 0);
	MUST(strlen(t.data) < sizeof(t.data));
}
