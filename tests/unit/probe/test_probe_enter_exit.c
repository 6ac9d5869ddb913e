/* SPDX-License-Identifier: Apache-2.0 */
#include "test_probe.h"

#include "base/tick.h"

TEST(probe_does_nothing_before_it_has_memory)
{
	CHECK_INT(probe_enter(1), 0, NULL);
	probe_count(1);
	probe_exit(1, 2);
	probe_thrown(1, 0);
	probe_thrown(1, 2);
	probe_bytes(1, 7);
	probe_fact(1, "a", 1, "b", 1);
	probe_mute(true);
	probe_mute(false);
	CHECK(!probe_unmount());
	probe_mount(NULL);
	probe_drop(NULL);
	probe_thread_end();
	probe_sweep();
	probe_stalls(10, 1);
	CHECK_INT(figures(1).calls, 0, NULL);
	CHECK_STR(tree(), "", NULL);
}

PROBE_TEST(probe_counts_calls_and_times, MIB)
{
	uint64_t token, before, after;
	struct probe_figures f;

	timed(1, 1);
	before = tick_now();
	token = probe_enter(1);
	MUST(token != 0);
	MUST_INT(token & 1, 0);
	MUST_INT(active(1), 1);
	probe_exit(1, token);
	after = tick_now();
	f = figures(1);
	MUST_INT(f.calls, 1);
	MUST_INT(f.timed, 1);
	MUST_INT(f.begun, 1);
	MUST_INT(f.lost, 0);
	MUST_INT(f.errors, 0);
	MUST_INT(f.weight, 1);
	MUST(f.sum <= after - before);
	MUST_INT(f.weighted, f.sum);
	MUST_INT(f.min, f.sum);
	MUST_INT(f.max, f.sum);
	MUST(f.squares >= (double)f.sum * (double)f.sum);
	MUST(f.squares <= 1.6 * (double)f.sum * (double)f.sum); /* as wide as its bucket is */
	MUST_INT(histogram_total(1), 1);
	MUST_INT(active(1), 0);
	MUST_STR(tree(), "1*1");
}

PROBE_TEST(figures_of_a_method_become_those_of_another, MIB)
{
	struct probe_figures one, other;
	uint64_t token;

	timed(1, 1);
	timed(2, 1);
	for (int i = 0; i < 3; i++)
		probe_exit(1, probe_enter(1));
	token = probe_enter(2);
	probe_thrown(2, token);
	probe_enter(1); /* whose exit never comes */
	one = figures(1);
	other = figures(2);
	probe_method_move(1, 2);
	MUST_INT(figures(1).calls, 0);
	MUST_INT(figures(1).timed, 0);
	MUST_INT(figures(2).calls, one.calls + other.calls);
	MUST_INT(figures(2).timed, 4);
	MUST_INT(figures(2).lost, 1);
	MUST_INT(figures(2).errors, 1);
	MUST_INT(figures(2).sum, one.sum + other.sum);
	MUST_INT(figures(2).min, one.min < other.min ? one.min : other.min);
	MUST_INT(figures(2).max, one.max > other.max ? one.max : other.max);
	MUST_INT(histogram_total(2), 4);
	MUST_INT(active(2), 0);
}

PROBE_TEST(a_method_that_was_moved_counts_anew, MIB)
{
	probe_method_set(1, &(struct probe_how){ 0 });
	probe_method_set(2, &(struct probe_how){ 0 });
	probe_count(1);
	probe_count(1);
	probe_method_move(1, 2);
	probe_count(1);
	MUST_INT(figures(1).calls, 1);
	MUST_INT(figures(2).calls, 2);
	probe_method_move(PROBE_METHODS, 2);
	probe_method_move(1, PROBE_METHODS);
	MUST_INT(figures(1).calls, 1);
	MUST_INT(figures(2).calls, 2);
}

static bool is_settled(uint64_t token)
{
	return (token & PROBE_MARKS) == PROBE_SETTLED;
}

PROBE_TEST(probe_marks_the_tokens_of_settled_calls, MIB)
{
	struct probe_how how = { .one_in = 1, .settle = true };
	uint64_t tokens[PROBE_DEPTH + 2], seen = 0;

	probe_method_set(1, &how);
	MUST(probe_method_settles(1));
	MUST(!probe_method_settles(2));
	for (size_t i = 0; i < COUNT(tokens); i++) { /* the last ones are not on the stack */
		tokens[i] = probe_enter(1);
		MUST(is_settled(tokens[i]));
	}
	for (size_t i = COUNT(tokens); i-- > 0;)
		probe_exit(1, tokens[i] & ~PROBE_MARKS);
	MUST_INT(figures(1).timed, COUNT(tokens));
	MUST_INT(active(1), 0);
	how.one_in = 7;
	probe_method_set(1, &how);
	for (int i = 0; i < 700; i++) {
		uint64_t token = probe_enter(1);

		MUST(!token || is_settled(token));
		seen += token != 0;
		if (token)
			probe_exit(1, token & ~PROBE_MARKS);
	}
	MUST_INT(figures(1).begun, COUNT(tokens) + seen);
	MUST_INT(figures(1).lost, 0);
	how.settle = false;
	how.one_in = 1;
	probe_method_set(1, &how);
	tokens[0] = probe_enter(1);
	MUST_INT(tokens[0] & PROBE_MARKS, 0);
	probe_exit(1, tokens[0]);
}

PROBE_TEST(probe_only_counts_what_is_not_to_be_timed, MIB)
{
	for (int i = 0; i < 100; i++) {
		MUST_INT(probe_enter(3), 0);
		probe_count(4);
	}
	MUST_INT(figures(3).calls, 100);
	MUST_INT(figures(3).timed, 0);
	MUST_INT(figures(4).calls, 100);
	MUST(figures(4).min == UINT64_MAX);
	MUST_STR(tree(), "3*100 4*100");
}

PROBE_TEST(probe_builds_the_tree_of_calls, MIB)
{
	uint64_t one, two;

	for (uint32_t id = 1; id <= 4; id++)
		timed(id, 1);
	one = probe_enter(1);
	for (int i = 0; i < 3; i++) {
		two = probe_enter(2);
		call(3);
		probe_count(4);
		probe_exit(2, two);
		call(3);
	}
	probe_exit(1, one);
	call(3);
	MUST_STR(tree(), "1*1(2*3(3*3 4*3) 3*3) 3*1");
	MUST_INT(figures(3).calls, 7);
	MUST(figures(1).below >= figures(2).sum);
	MUST(figures(1).below <= figures(1).sum);
	MUST(figures(2).below <= figures(2).sum);
}

static void recurse(uint32_t id, unsigned depth)
{
	uint64_t token = probe_enter(id);

	if (depth > 1)
		recurse(id, depth - 1);
	probe_exit(id, token);
}

PROBE_TEST(probe_follows_recursion, MIB)
{
	timed(5, 1);
	recurse(5, 3);
	recurse(5, 2);
	MUST_STR(tree(), "5*2(5*2(5*1))");
	MUST_INT(figures(5).timed, 5);
	MUST_INT(active(5), 0);
}

PROBE_TEST(probe_counts_errors_where_they_happen, MIB)
{
	uint64_t one, two;

	timed(1, 1);
	timed(2, 1);
	one = probe_enter(1);
	two = probe_enter(2);
	probe_thrown(2, two);
	probe_exit(1, one);
	probe_enter(3); /* counted only */
	probe_thrown(3, 0);
	probe_thrown(4, 0); /* never seen */
	MUST_INT(figures(1).errors, 0);
	MUST_INT(figures(2).errors, 1);
	MUST_INT(figures(2).timed, 1);
	MUST_INT(figures(3).errors, 1);
	MUST_INT(figures(3).timed, 0);
	MUST_INT(figures(4).errors, 1);
	MUST_STR(tree(), "1*1(2*1) 3*1");
}

PROBE_TEST(probe_finds_exits_that_never_came, MIB)
{
	uint64_t outer, inner, last;
	struct probe_state s;

	for (uint32_t id = 1; id <= 3; id++)
		timed(id, 1);
	outer = probe_enter(1);
	inner = probe_enter(2);
	for (int i = 0; i < 10; i++)
		last = probe_enter(3);
	probe_thrown(2, inner); /* the ten above lost theirs */
	MUST_INT(active(3), 0);
	MUST_INT(figures(3).lost, 10);
	MUST_INT(figures(3).timed, 0);
	MUST_INT(figures(2).timed, 1);
	call(3);
	probe_exit(1, outer);
	MUST_INT(figures(1).timed, 1);
	MUST_INT(figures(1).lost, 0);
	/* One more, of a call that is gone: it belongs to the method alone. */
	probe_exit(3, last);
	MUST_INT(figures(3).timed, 2);
	MUST_STR(tree(), "1*1(2*1(3*1(3*1(3*1(3*1(3*1(3*1(3*1(3*1(3*1(3*1)))))))))) 3*1)");
	probe_state_read(&s);
	MUST_INT(s.lost, 10);
	MUST_INT(s.strayed, 1);
}

PROBE_TEST(probe_times_and_counts_what_is_too_deep, MIB)
{
	enum { DEPTH = PROBE_DEPTH + 300 };
	struct probe_state s;

	timed(5, 1);
	recurse(5, DEPTH);
	MUST_INT(figures(5).calls, DEPTH);
	MUST_INT(figures(5).timed, DEPTH);
	MUST_INT(figures(5).lost, 0);
	MUST_INT(histogram_total(5), DEPTH);
	MUST_INT(active(5), 0);
	probe_state_read(&s);
	MUST_INT(s.too_deep, 300);
	MUST_INT(s.strayed, 300);
	recurse(5, 2); /* and all is well again */
	MUST_INT(figures(5).timed, DEPTH + 2);
	probe_state_read(&s);
	MUST_INT(s.too_deep, 300);
}

PROBE_TEST(probe_sees_a_change_at_the_next_call, MIB)
{
	timed(1, 1000000);
	timed(2, 0);
	for (int i = 0; i < 100; i++) {
		call(1);
		call(2);
	}
	timed(1, 1);
	timed(2, 1);
	for (int i = 0; i < 10; i++) {
		call(1);
		call(2);
	}
	MUST(figures(1).timed >= 10);
	MUST_INT(figures(2).timed, 10);
	timed(1, 0);
	MUST_INT(probe_enter(1), 0);
	MUST_INT(figures(1).calls, 111);
}

PROBE_TEST(probe_sees_nothing_while_muted, MIB)
{
	uint64_t token;

	timed(1, 1);
	timed(2, 1);
	probe_mute(true); /* before the thread was ever seen */
	call(1);
	probe_mute(false);
	token = probe_enter(1);
	probe_mute(true);
	probe_mute(true);
	MUST_INT(probe_enter(2), 0);
	probe_count(2);
	probe_thrown(2, 0);
	probe_mute(false);
	MUST_INT(probe_enter(2), 0);
	probe_mute(false);
	call(2);
	probe_exit(1, token);
	MUST_STR(tree(), "1*1(2*1)");
	MUST_INT(figures(2).errors, 0);
	MUST_INT(active(1), 0);
}

PROBE_TEST(probe_adds_up_bytes, MIB)
{
	uint64_t one, two;

	timed(1, 1);
	timed(2, 1);
	one = probe_enter(1);
	two = probe_enter(2);
	probe_bytes(2, 100);
	probe_bytes(1, 10);
	probe_exit(2, two);
	probe_bytes(1, 1);
	probe_exit(1, one);
	probe_bytes(3, 7); /* of which nothing is known */
	MUST_INT(figures(1).bytes, 11);
	MUST_INT(figures(2).bytes, 100);
	MUST_INT(figures(3).bytes, 7);
}

PROBE_TEST(probe_ignores_numbers_that_are_no_methods, MIB)
{
	MUST_INT(probe_enter(PROBE_METHODS), 0);
	MUST_INT(probe_enter(UINT32_MAX), 0);
	probe_count(PROBE_METHODS);
	probe_exit(UINT32_MAX, 2);
	probe_exit(PROBE_METHODS, 0);
	probe_thrown(PROBE_METHODS, 2);
	probe_bytes(PROBE_METHODS, 2);
	timed(PROBE_METHODS, 1);
	probe_method_reset(PROBE_METHODS);
	MUST_INT(figures(PROBE_METHODS).calls, 0);
	MUST_STR(tree(), "");
}

/* A frame that is entered and never left, and the same method again: the stack must not grow. */
PROBE_TEST(probe_resyncs_when_the_outer_call_goes_on, MIB)
{
	uint64_t outer;

	timed(1, 1);
	timed(2, 1);
	for (int i = 0; i < 2000; i++) {
		outer = probe_enter(1);
		probe_enter(2);
		probe_exit(1, outer);
	}
	MUST_INT(figures(1).timed, 2000);
	MUST_INT(figures(2).lost, 2000);
	MUST_STR(tree(), "1*2000(2*2000)");
}

static unsigned methods_seen;
static uint64_t methods_calls;

static void see(void *ctx, uint32_t id, unsigned depth, const struct probe_figures *f)
{
	struct probe_figures alone = figures(id);

	(void)ctx;
	methods_seen++;
	methods_calls += f->calls;
	MUST_INT(depth, 0);
	MUST_INT(f->timed, alone.timed);
	MUST_INT(f->sum, alone.sum);
	MUST_INT(f->min, alone.min);
	MUST(f->squares > 0.999 * alone.squares && f->squares < 1.001 * alone.squares);
}

PROBE_TEST(probe_reads_all_methods_as_it_reads_one, 4 * MIB)
{
	for (uint32_t id = 10; id < 1010; id++)
		timed(id, 1);
	for (uint32_t i = 0; i < 5000; i++) {
		uint64_t token = probe_enter(10 + i % 7);

		call(10 + i % 1000);
		probe_exit(10 + i % 7, token);
	}
	MUST_INT(probe_methods(see, NULL), 0);
	MUST_INT(methods_seen, 1000);
	MUST_INT(methods_calls, 10000);
}

PROBE_TEST(probe_finds_every_context_again, 4 * MIB)
{
	struct probe_state s;
	uint64_t used = 0;

	for (int round = 0; round < 3; round++) {
		for (uint32_t id = 0; id < 9000; id++)
			probe_count(id);
		probe_state_read(&s);
		if (round == 0)
			used = s.bytes_used;
		MUST_INT(s.bytes_used, used);
		MUST_INT(s.nodes_refused, 0);
	}
	MUST_INT(figures(0).calls, 3);
	MUST_INT(figures(8999).calls, 3);
}
