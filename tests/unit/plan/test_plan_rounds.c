/* SPDX-License-Identifier: Apache-2.0 */
/* Figures from rounds before each of which a method was compiled anew. */
#include <math.h>

#include "plan/inplace/rounds.h"
#include "test.h"

static double any(uint64_t *x)
{
	*x ^= *x << 13;
	*x ^= *x >> 7;
	*x ^= *x << 17;
	return (double)(*x >> 11) / 9007199254740992.0;
}

static double normal(uint64_t *x)
{
	double sum = 0;

	for (int i = 0; i < 12; i++)
		sum += any(x);
	return sum - 6;
}

static void add(struct rounds *r, double mean, double margin)
{
	rounds_add(r,
		   &(struct rounds_one){
			   .mean = { mean, margin }, .plain = mean, .calls = 100, .windows = 5 });
}

TEST(no_round_says_nothing_and_one_alone_what_its_windows_say)
{
	struct rounds r = { 0 };

	CHECK(rounds_mean(&r, 0.01).margin < 0 && rounds_scatter(&r, 1) < 0);
	add(&r, 400, 7);
	CHECK(rounds_mean(&r, -1).value == 400 && rounds_mean(&r, -1).margin == 7);
	for (int i = 0; i < 2 * ROUNDS_MAX; i++)
		add(&r, 400, 7);
	CHECK(r.n == ROUNDS_MAX);
}

TEST(a_round_of_few_windows_weighs_less)
{
	struct rounds r = { 0 };

	rounds_add(&r, &(struct rounds_one){ { 100, 1 }, 100, 900, 9 });
	rounds_add(&r, &(struct rounds_one){ { 300, -1 }, 300, 100, 1 });
	rounds_add(&r, &(struct rounds_one){ { 300, -1 }, 300, 0, 0 });
	CHECK(r.n == 2 && fabs(rounds_mean(&r, -1).value - 120) < 1e-9);
}

TEST(a_method_that_is_compiled_to_something_else_has_a_wide_interval_though_its_windows_agree)
{
	struct rounds all[9] = { 0 };
	struct estimated calm, other;
	double scatter;

	for (int i = 0; i < 8; i++)
		for (int k = 0; k < 3; k++)
			add(&all[i], 1000 + 10 * ((i + k) % 3), 1);
	add(&all[8], 750, 1);
	add(&all[8], 1600, 1);
	add(&all[8], 1590, 1);
	scatter = rounds_scatter(all, 9);
	CHECK(scatter > 0.002 && scatter < 0.05);
	calm = rounds_mean(&all[0], scatter);
	other = rounds_mean(&all[8], scatter);
	CHECK(calm.margin > 5 && calm.margin < 60);
	CHECK(other.value - other.margin < 750 && other.value + other.margin > 1600);
}

TEST(one_round_of_a_method_is_judged_by_the_others)
{
	struct rounds r = { 0 };

	add(&r, 950, 1);
	CHECK(rounds_mean(&r, 0.02).margin > 0.02 * 1000);
	CHECK(rounds_mean(&r, 0).margin == 1);
}

TEST(the_next_compilation_is_within_the_interval_in_95_of_100_cases)
{
	uint64_t seed = 4711;
	int held = 0, n = 0;

	for (int program = 0; program < 40; program++) {
		struct rounds all[25] = { 0 };
		double scatter;

		for (int i = 0; i < 25; i++)
			for (int k = 0; k < 3; k++)
				add(&all[i], 5000 * (1 + 0.02 * normal(&seed)), 1);
		scatter = rounds_scatter(all, 25);
		for (int i = 0; i < 25; i++, n++) {
			struct estimated e = rounds_mean(&all[i], scatter);

			held += fabs(e.value - 5000 * (1 + 0.02 * normal(&seed))) <= e.margin;
		}
	}
	CHECK(held >= 0.93 * n && held < n);
}

/* Rounds that differ only since their windows are few. */
static double width_of_noise(unsigned windows, int *held, uint64_t *seed)
{
	struct rounds all[25] = { 0 };
	double scatter, width = 0;

	for (int i = 0; i < 25; i++)
		for (int k = 0; k < 3; k++)
			rounds_add(&all[i],
				   &(struct rounds_one){ { 5000 * (1 + 0.02 * normal(seed)), 230 },
							 5000,
							 100,
							 windows });
	scatter = rounds_scatter(all, 25);
	for (int i = 0; i < 25; i++) {
		struct estimated e = rounds_mean(&all[i], scatter);

		*held += fabs(e.value - 5000) <= e.margin;
		width += e.margin / 25;
	}
	return width;
}

TEST(what_windows_say_they_may_be_off_is_not_taken_for_another_compilation)
{
	uint64_t seed = 11;
	double many = 0, few = 0;
	int held = 0, all = 0;

	for (int program = 0; program < 40; program++) {
		many += width_of_noise(50, &held, &seed);
		few += width_of_noise(5, &all, &seed);
	}
	CHECK(many < 0.7 * few);
	CHECK(held >= 950 && all >= held);
}
