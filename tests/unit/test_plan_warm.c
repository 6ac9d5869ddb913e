/* SPDX-License-Identifier: Apache-2.0 */
/* Compilers of programs that warm up, load classes, have hooks, on machines with and without time for them. */
#include "plan/warm.h"

#include <math.h>

#include "test.h"

/* A program that has had `share` of a processor for 4 s before the hooks and 20 s after; compilers had for each
 * second of that what they have in a program that warms up, and `steady`; and `caused` ns in the two seconds behind the
 * hooks. */
static double caused_of(double share, double steady, double caused)
{
	struct warm_times t = { 0, 0 };
	struct warm w = { 0 };
	double x = 0;

	for (int ms = 0; ms <= 24000; ms += 500) {
		warm_see(&w, t);
		if (ms == 4000)
			warm_hooked(&w);
		for (int i = 0; i < 500; i++) {
			double part = 0.4 * exp(-x / 8e9) + steady;

			t.jit += part * share * 1e6;
			t.run += share * 1e6;
			x += share * 1e6;
		}
		if (ms >= 4000 && ms < 6000)
			t.jit += caused / 4;
	}
	return warm_caused(&w);
}

TEST(warming_up_is_not_the_hooks_doing)
{
	CHECK(caused_of(1, 0, 0) < 30e6);
	CHECK(caused_of(0.2, 0, 0) < 30e6);
	CHECK(caused_of(0.05, 0, 0) < 30e6);
}

TEST(a_program_that_is_compiled_all_the_time_is_so_without_hooks)
{
	CHECK(caused_of(1, 0.2, 0) < 30e6);
	CHECK(caused_of(0.2, 0.2, 0) < 30e6);
}

TEST(what_hooks_have_compiled_anew_is_seen)
{
	double quiet = caused_of(1, 0, 1e9), busy = caused_of(0.2, 0, 1e9);

	CHECK(quiet > 0.55e9 && quiet < 1.1e9);
	CHECK(busy > 0.6e9 && busy < 1.1e9);
	CHECK(caused_of(1, 0.2, 1e9) > 0.55e9);
}

/* Classes come in heaps: in one second much is compiled, in the next little. */
TEST(what_comes_in_heaps_is_not_the_hooks_doing)
{
	struct warm_times t = { 0, 0 };
	struct warm w = { 0 };
	uint64_t seed = 3;
	double all = 0;

	for (int i = 0; i <= 200; i++) {
		warm_see(&w, t);
		if (i == 20)
			warm_hooked(&w);
		seed = seed * 6364136223846793005u + 1442695040888963407u;
		t.run += 0.5e9;
		t.jit += (double)(seed >> 40) / 0x1p24 * 0.2e9;
		all = t.jit;
	}
	CHECK(warm_caused(&w) < 0.15 * all);
}

TEST(before_hooks_come_they_cause_nothing)
{
	struct warm w = { 0 };

	warm_see(&w, (struct warm_times){ 1e9, 1e9 });
	warm_see(&w, (struct warm_times){ 2e9, 5e9 });
	CHECK(warm_caused(&w) <= 0);
	warm_hooked(&w);
	warm_see(&w, (struct warm_times){ 2e9, 4e9 }); /* a compiler's thread has ended */
	CHECK(warm_caused(&w) <= 0);
}
