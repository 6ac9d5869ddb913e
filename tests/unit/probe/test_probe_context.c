/* SPDX-License-Identifier: Apache-2.0 */
/* Sequences of callers, case by case; test_probe_paths.c drives them at random. */
#include "test_probe.h"

#include "base/err.h"

#include <string.h>

enum { A = 1, B, C, M, OTHER, LAST };

static void is_step(uint32_t id, uint32_t step)
{
	struct probe_context c = { .steps = &step, .n_steps = 1 };

	timed(id, 1);
	MUST_INT(probe_method_context(id, &c), 0);
}

/* M is reported inside steps 100, 101 ... */
static void gate(uint16_t n, uint16_t direct)
{
	struct probe_sequence s = { .first = 100, .n = n, .direct = direct };
	uint32_t caller = 100u + n - 1;
	struct probe_context c = { .sequences = &s, .n_sequences = 1 };

	if (direct >> (n - 1) & 1) {
		c.callers = &caller;
		c.n_callers = 1;
	}
	timed(M, 1);
	MUST_INT(probe_method_context(M, &c), 0);
}

PROBE_TEST(a_method_reports_below_its_step_only, MIB)
{
	uint64_t a, other;

	timed(OTHER, 1);
	is_step(A, 100);
	gate(1, 0);
	call(M);
	MUST_INT(figures(M).calls, 0);
	a = probe_enter(A);
	call(M);
	other = probe_enter(OTHER);
	call(M);
	probe_exit(OTHER, other);
	probe_exit(A, a);
	call(M);
	MUST_INT(probe_method_outside(M), 2);
	MUST_INT(figures(M).calls, 2);
	MUST_INT(figures(M).timed, 2);
	MUST_STR(tree(), "1*1(4*1 5*1(4*1))");
}

/* A thread that is in A and B hands work over; one that is in OTHER does it. */
PROBE_TEST(work_is_below_the_callers_of_who_gave_it, MIB)
{
	struct probe_sequence s = { .first = 100, .n = 2, .across = true };
	struct probe_context c = { .sequences = &s, .n_sequences = 1 };
	uint32_t kids[PROBE_HANDED];
	uint64_t a, b, other, token;

	timed(OTHER, 1);
	timed(M, 1);
	is_step(A, 100);
	is_step(B, 101);
	MUST_INT(probe_method_context(M, &c), 0);
	a = probe_enter(A);
	b = probe_enter(B);
	MUST_INT(probe_handed_take(kids), 0); /* nobody wants it */
	probe_handed_want(true);
	MUST_INT(probe_handed_take(kids), 2);
	probe_exit(B, b);
	probe_exit(A, a);
	other = probe_enter(OTHER);
	token = probe_handed_begin(kids, 2);
	MUST(token != 0);
	call(M);
	probe_handed_end(kids, 2, token);
	call(M);
	probe_exit(OTHER, other);
	MUST_INT(figures(M).calls, 1);
	MUST_INT(figures(A).calls, 1); /* not again in the work */
	MUST_INT(figures(B).calls, 1);
	s.across = false;
	MUST_INT(probe_method_context(M, &c), 0);
	token = probe_handed_begin(kids, 2);
	call(M);
	probe_handed_end(kids, 2, token);
	MUST_INT(figures(M).calls, 1);
}

PROBE_TEST(a_longer_sequence_wants_its_order, MIB)
{
	uint64_t a, b;

	is_step(A, 100);
	is_step(B, 101);
	gate(2, 0);
	b = probe_enter(B);
	a = probe_enter(A);
	call(M);
	MUST_INT(figures(M).calls, 0);
	probe_exit(A, a);
	probe_exit(B, b);
	a = probe_enter(A);
	b = probe_enter(B);
	call(M);
	probe_thrown(B, b);
	call(M);
	probe_exit(A, a);
	MUST_INT(figures(M).calls, 1);
}

PROBE_TEST(a_count_reports_inside_only, MIB)
{
	uint64_t a;

	is_step(A, 100);
	gate(1, 0);
	probe_count(M);
	a = probe_enter(A);
	probe_count(M);
	probe_count(M);
	probe_exit(A, a);
	probe_count(M);
	MUST_INT(figures(M).calls, 2);
}

PROBE_TEST(a_direct_call_is_asked_for_and_told_apart, MIB)
{
	struct probe_question q;
	uint64_t a, m;

	is_step(A, 100);
	gate(1, 1);
	MUST_INT(probe_enter(M), 0); /* nobody above: there is nothing to ask */
	a = probe_enter(A);
	MUST_INT(probe_enter(M), PROBE_ASK);
	MUST(probe_question(M, &q));
	MUST_INT(q.caller, A);
	MUST(!q.by_stack);
	MUST_INT(probe_answer(M, false, false), 0);
	MUST_INT(probe_enter(M), PROBE_ASK);
	m = probe_answer(M, true, false);
	MUST(m != 0);
	probe_exit(M, m);
	probe_exit(A, a);
	MUST_INT(figures(M).calls, 1);
	MUST_STR(tree(), "1*1(4*1)");
}

PROBE_TEST(what_the_stack_says_decides, MIB)
{
	struct probe_sequence s = { .first = 100, .n = 1 };
	struct probe_context c = { .sequences = &s, .n_sequences = 1, .by_stack = true };
	struct probe_question q;
	uint64_t m;

	timed(M, 1);
	MUST_INT(probe_method_context(M, &c), 0);
	MUST_INT(probe_enter(M), PROBE_ASK);
	MUST(probe_question(M, &q));
	MUST(q.by_stack);
	MUST_INT(probe_answer(M, false, false), 0);
	m = probe_answer(M, false, true);
	MUST(m != 0);
	probe_exit(M, m);
	MUST_INT(figures(M).calls, 1);
}

PROBE_TEST(a_step_that_is_not_reported_is_on_the_stack, MIB)
{
	struct probe_sequence s = { .first = 100, .n = 1 };
	uint32_t step = 200;
	struct probe_context b = {
		.sequences = &s, .n_sequences = 1, .steps = &step, .n_steps = 1
	};
	struct probe_context m = { .sequences = &(struct probe_sequence){ .first = 200, .n = 1 },
				   .n_sequences = 1 };
	uint64_t other, token;

	timed(B, 1);
	timed(M, 1);
	timed(OTHER, 1);
	MUST_INT(probe_method_context(B, &b), 0);
	MUST_INT(probe_method_context(M, &m), 0);
	other = probe_enter(OTHER);
	token = probe_enter(B);
	MUST(token != 0);
	call(M);
	probe_exit(B, token);
	probe_exit(OTHER, other);
	MUST_INT(figures(B).calls, 0);
	MUST_INT(figures(B).timed, 0);
	MUST_INT(histogram_total(B), 0);
	MUST_INT(figures(M).calls, 1);
	MUST_INT(figures(OTHER).below, figures(M).sum);
	MUST_STR(tree(), "5*1(2*0(4*1))");
}

PROBE_TEST(a_call_that_began_before_its_rule_does_not_count, MIB)
{
	uint64_t a;

	timed(M, 1);
	timed(A, 0);
	a = probe_enter(A); /* only counted: no frame */
	MUST_INT(a, 0);
	is_step(A, 100);
	gate(1, 0);
	call(M);
	MUST_INT(figures(M).calls, 0);
	a = probe_enter(A);
	call(M);
	probe_exit(A, a);
	MUST_INT(figures(M).calls, 1);
}

PROBE_TEST(what_was_counted_stays_when_the_rule_changes, MIB)
{
	timed(M, 1);
	call(M);
	is_step(A, 100);
	gate(1, 0);
	call(M);
	call(M);
	MUST_INT(figures(M).calls, 1);
	MUST_INT(probe_method_context(M, NULL), 0);
	call(M);
	MUST_INT(figures(M).calls, 2);
	probe_method_reset(M);
	MUST_INT(figures(M).calls, 0);
	MUST_INT(active(M), 0);
}

PROBE_TEST(errors_outside_are_not_reported, MIB)
{
	uint64_t a;

	is_step(A, 100);
	gate(1, 0);
	probe_thrown(M, probe_enter(M));
	a = probe_enter(A);
	probe_thrown(M, probe_enter(M));
	probe_exit(A, a);
	MUST_INT(figures(M).errors, 1);
}

PROBE_TEST(a_virtual_thread_takes_its_context_along, MIB)
{
	uint64_t a;
	void *kept;

	is_step(A, 100);
	gate(1, 0);
	probe_mount(NULL);
	a = probe_enter(A);
	kept = probe_unmount();
	probe_mount(NULL); /* another one */
	call(M);
	MUST_INT(figures(M).calls, 0);
	MUST(!probe_unmount());
	probe_mount(kept);
	call(M);
	probe_exit(A, a);
	call(M);
	MUST(!probe_unmount());
	MUST_INT(figures(M).calls, 1);
}

PROBE_TEST(figures_of_ended_threads_keep_what_was_hidden, MIB)
{
	is_step(A, 100);
	gate(1, 0);
	call(M);
	call(A);
	probe_thread_end();
	probe_sweep();
	MUST_INT(figures(M).calls, 0);
	MUST_INT(figures(A).calls, 1);
	MUST_STR(tree(), "1*1");
}

PROBE_TEST(a_method_can_be_thousands_of_steps, MIB)
{
	static uint32_t steps[3000];
	struct probe_context c = { .steps = steps, .n_steps = 3000 };
	uint64_t a;

	for (uint32_t i = 0; i < 3000; i++)
		steps[i] = i * 256;
	timed(A, 1);
	timed(M, 1);
	MUST_INT(probe_method_context(A, &c), 0);
	MUST_INT(probe_method_context(
			 M, &(struct probe_context){ .sequences =
							     &(struct probe_sequence){
								     .first = 256 * 2999, .n = 1 },
						     .n_sequences = 1 }),
		 0);
	a = probe_enter(A);
	call(M);
	probe_exit(A, a);
	MUST_INT(figures(M).calls, 1);
	for (int i = 0; i < 10000; i++) { /* the room of what is gone is used again */
		c.n_steps = i % 2 ? 3000 : 2999;
		if (!MUST_INT(probe_method_context(A, &c), 0))
			break;
	}
}

PROBE_TEST(without_memory_for_nodes_the_stack_decides, 16 << 10)
{
	uint64_t a;

	is_step(A, 100);
	gate(1, 0);
	for (uint32_t id = 50; id < 400; id++) { /* uses it up */
		timed(id, 1);
		call(id);
	}
	call(M);
	MUST_INT(figures(M).calls, 0);
	a = probe_enter(A);
	call(M);
	probe_exit(A, a);
	MUST_INT(figures(M).calls, 1);
}
