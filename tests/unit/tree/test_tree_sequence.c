/* SPDX-License-Identifier: Apache-2.0 */
#include "tree/sequence.h"

#include <math.h>

#include "test.h"
#include "tree/tree.h"

enum { C2 = TYPE_C2, STATIC = TYPE_C2 | TYPE_STATIC };

/* A call of an empty method by another one that does nothing besides. */
static struct sequence leaf(double low)
{
	return (struct sequence){ .types = { C2, STATIC, C2 },
				  .transitions = { TRANSITION_ENTER, TRANSITION_RETURN },
				  .settled = true,
				  .calls = 1000,
				  .min = low - 1,
				  .low = low };
}

static struct sequence between(double low)
{
	return (struct sequence){ .types = { STATIC, C2, STATIC },
				  .transitions = { TRANSITION_RETURN, TRANSITION_ENTER },
				  .settled = true,
				  .calls = 1000,
				  .min = low - 1,
				  .low = low };
}

/* inner 25 to 35, outer 40 to 60. */
static const struct cost calibrated[COST_CLASSES] = {
	{ { 25, 30, 35 }, { 40, 50, 60 }, { 65, 80, 95 } },
	{ { 20, 26, 35 }, { 40, 50, 60 }, { 60, 76, 95 } },
	{ { 20, 26, 35 }, { 40, 50, 60 }, { 60, 76, 95 } },
	{ { 20, 26, 35 }, { 40, 50, 60 }, { 60, 76, 95 } },
};

static struct cost cost_there(const struct sequences *s, unsigned class)
{
	return sequences_cost(s, &(struct sequence_place){ C2, STATIC, COST_SETTLED }, calibrated,
			      class);
}

#define CHECK_SPAN(got, l, m, h)                                              \
	CHECK(fabs((got).low - (l)) < 0.01 && fabs((got).mid - (m)) < 0.01 && \
	      fabs((got).high - (h)) < 0.01)

TEST(a_hook_costs_no_more_than_the_shortest_calls_took)
{
	struct sequences s = { 0 };
	struct sequence one = leaf(23);
	struct cost c;

	sequences_add(&s, &one);
	c = cost_there(&s, 0);
	CHECK_SPAN(c.inner, 22, 22, 24.2); /* 1 ns is what a call takes without hooks */
	CHECK_SPAN(c.outer, 40, 50, 60);
	CHECK_SPAN(c.pair, 65, 72, 87);
	c = cost_there(&s, 2);
	CHECK_SPAN(c.inner, 18, 18, 27);
}

TEST(shortest_calls_that_took_longer_than_the_hook_say_nothing)
{
	struct sequences s = { 0 };
	struct sequence one = leaf(50);

	sequences_add(&s, &one);
	CHECK_SPAN(cost_there(&s, 0).inner, 25, 30, 35);
	CHECK_SPAN(cost_there(&s, 0).pair, 65, 80, 95);
}

TEST(shortest_calls_within_the_span_cut_it_above)
{
	struct sequences s = { 0 };
	struct sequence one = leaf(32);

	sequences_add(&s, &one);
	CHECK_SPAN(cost_there(&s, 0).inner, 25, 30, 34.1);
	CHECK_SPAN(cost_there(&s, 1).inner, 20, 26, 35);
}

TEST(the_time_between_two_calls_bounds_what_their_caller_pays)
{
	struct sequences s = { 0 };
	struct sequence one = leaf(21), two = between(31);
	struct cost c;

	sequences_add(&s, &one);
	sequences_add(&s, &two);
	c = cost_there(&s, 0);
	CHECK_SPAN(c.outer, 30, 30, 33);
	CHECK_SPAN(c.pair, 50, 50, 55);
}

TEST(the_shorter_of_two_lengths_and_exits_counts)
{
	struct sequences s = { 0 };
	struct sequence one = leaf(60), two = leaf(20);

	one.length = 1;
	two.transitions[1] = TRANSITION_THROW;
	sequences_add(&s, &one);
	sequences_add(&s, &two);
	CHECK_SPAN(cost_there(&s, 0).inner, 19, 19, 20.9);
}

/* Most calls are longer: those few may be accidents of the clock. */
TEST(a_length_that_few_calls_have_says_nothing)
{
	struct sequences s = { 0 };
	struct sequence few = leaf(20), most = leaf(60);

	most.length = 1;
	most.calls = 3500;
	sequences_add(&s, &few);
	sequences_add(&s, &most);
	CHECK_SPAN(cost_there(&s, 0).inner, 25, 30, 35);
}

TEST(few_calls_and_other_types_say_nothing)
{
	struct sequences s = { 0 };
	struct sequence few = leaf(10), other = leaf(10), every = leaf(10), odd = leaf(10);

	few.calls = 50;
	other.types[1] = TYPE_C1;
	every.settled = false;
	odd.types[2] = TYPE_C1; /* it returned to another one than called */
	sequences_add(&s, &few);
	sequences_add(&s, &other);
	sequences_add(&s, &every);
	sequences_add(&s, &odd);
	CHECK_SPAN(cost_there(&s, 0).inner, 25, 30, 35);
	CHECK_SPAN(cost_there(NULL, 0).inner, 25, 30, 35);
}

TEST(a_bound_never_turns_a_span_over)
{
	for (double low = 1.5; low < 80; low += 0.7) {
		struct sequences s = { 0 };
		struct sequence one = leaf(low), two = between(low * 0.8);

		sequences_add(&s, &one);
		sequences_add(&s, &two);
		for (unsigned i = 0; i < COST_CLASSES; i++) {
			struct cost c = cost_there(&s, i);

			CHECK(c.inner.low <= c.inner.mid && c.inner.mid <= c.inner.high);
			CHECK(c.outer.low <= c.outer.mid && c.outer.mid <= c.outer.high);
			CHECK(c.pair.low <= c.pair.mid && c.pair.mid <= c.pair.high);
			CHECK(c.inner.mid <= calibrated[i].inner.mid);
		}
	}
}

/* A process in which hooks cost 20 ns, with a calibration that says 30: 1000 calls of 5 ns. */
TEST(figures_are_not_made_too_small_where_the_program_shows_that_hooks_cost_less)
{
	struct costs c = { .mechanism = "test" };
	struct sequences s = { 0 };
	struct sequence shortest = leaf(21);
	struct tree t;

	for (unsigned i = 0; i < COST_CLASSES; i++)
		c.of[COST_COMPILED][COST_SETTLED][i] = calibrated[i];
	for (int with = 0; with < 2; with++) {
		c.seen = with ? &s : NULL;
		tree_init(&t);
		tree_add(&t, &(struct tree_figures){ .id = 1,
						     .kind = COST_SETTLED,
						     .calls = 1,
						     .timed = 1,
						     .raw = 100000,
						     .type = C2 });
		tree_add(&t, &(struct tree_figures){ .id = 2,
						     .depth = 1,
						     .kind = COST_SETTLED,
						     .calls = 1000,
						     .timed = 1000,
						     .raw = 25000,
						     .type = STATIC });
		tree_gather(&t);
		tree_compensate(&t, &c);
		if (with)
			CHECK(fabs(t.nodes[1].total.mid - 5000) < 100);
		else
			CHECK(t.nodes[1].total.mid == 0 && t.nodes[1].flags & TREE_CLAMPED);
		CHECK(with ? t.nodes[0].total.mid > 29000 : t.nodes[0].total.mid < 21000);
		tree_release(&t);
		sequences_add(&s, &shortest);
	}
}
