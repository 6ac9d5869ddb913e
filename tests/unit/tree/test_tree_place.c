/* SPDX-License-Identifier: Apache-2.0 */
/* Totals from calls that were measured alone. */
#include "tree/tree_place.h"

#include <math.h>

#include "base/mem.h"
#include "test.h"

static struct span exactly(double v)
{
	return (struct span){ v, v, v };
}

/* Measured alone, a call takes 25 to 35 ns too long. */
static struct costs costs(void)
{
	struct costs c = { .mechanism = "test" };

	for (unsigned t = 0; t < COST_TIERS; t++)
		for (unsigned k = 0; k < COST_KINDS; k++)
			for (unsigned i = 0; i < COST_CLASSES; i++)
				c.of[t][k][i] =
					(struct cost){ exactly(30), exactly(70), exactly(100) };
	for (unsigned t = 0; t < COST_TIERS; t++)
		for (unsigned i = 0; i < COST_CLASSES; i++)
			c.of[t][COST_CLOSED][i].pair = exactly(0);
	for (unsigned i = 0; i < COST_CLASSES; i++)
		c.of[COST_COMPILED][COST_SOLO][i].inner = (struct span){ 25, 30, 35 };
	return c;
}

static void node(struct tree *t, uint32_t id, uint32_t depth, double calls, double raw)
{
	tree_add(t, &(struct tree_figures){ .id = id,
					    .depth = depth,
					    .kind = COST_EVERY,
					    .calls = calls,
					    .timed = calls,
					    .raw = raw });
}

static struct tree_method method(const struct tree *t, uint32_t id)
{
	struct tree_method *all = NULL, m = { 0 };
	size_t n = 0;

	CHECK(tree_methods(t, &all, &n) == 0);
	for (size_t i = 0; i < n; i++)
		if (all[i].id == id)
			m = all[i];
	mem_free(all);
	return m;
}

static bool near(double a, double b)
{
	return fabs(a - b) < 1e-6 * fmax(1, fabs(b));
}

TEST(what_was_measured_alone_needs_nothing_subtracted_but_one_offset)
{
	/* 10 calls of 1, which each call 2 a hundred times: hooks cost fifty times the work */
	static const struct place_alone alone[] = {
		{ .id = 1, .calls = 50, .mean = 330, .margin = 3 },
		{ .id = 2, .calls = 500, .mean = 32, .margin = 0.5 },
	};
	struct costs c = costs();
	struct tree_method m;
	struct tree t;

	tree_init(&t);
	node(&t, 1, 0, 10, 120000);
	node(&t, 2, 1, 1000, 33000);
	tree_compensate(&t, &c);
	tree_place_into(&t, alone, COUNT(alone), NULL, &c);
	m = method(&t, 1);
	CHECK(m.flags & TREE_PLACED);
	CHECK(near(m.total.mid, 10 * 300) && near(m.total.low, 10 * 292) &&
	      near(m.total.high, 10 * 308));
	CHECK(m.self.low == 0 && m.self.high >= 10 * 300 - 1000 * 2);
	m = method(&t, 2);
	CHECK(near(m.total.mid, 2000) && m.total.low == 0);
	CHECK(near(m.total.high, 10 * 308)); /* not 7500: no longer than its callers */
	tree_release(&t);
}

/* The fan: ten calls of ten calls of a nanosecond, of which none can be told. */
TEST(a_call_too_short_to_be_told_leaves_its_time_with_its_caller_and_all_adds_up_to_the_root)
{
	static const struct place_alone alone[] = {
		{ .id = 1, .calls = 50, .mean = 110, .margin = 2, .bare = true },
		{ .id = 2, .calls = 500, .mean = 46, .margin = 1 },
		{ .id = 3, .calls = 500, .mean = 32, .margin = 0.5 },
	};
	struct costs c = costs();
	struct tree_method m[4];
	struct tree t;
	double self = 0;

	tree_init(&t);
	node(&t, 1, 0, 10, 120000);
	node(&t, 2, 1, 100, 90000);
	node(&t, 3, 2, 1000, 33000);
	tree_compensate(&t, &c);
	tree_place_into(&t, alone, COUNT(alone), NULL, &c);
	for (uint32_t id = 1; id <= 3; id++) {
		m[id] = method(&t, id);
		self += m[id].self.mid;
	}
	CHECK(near(m[1].total.mid, 800) && !(m[1].flags & TREE_SHORT));
	CHECK(near(m[1].total.low, 730)); /* what is below it does not make it surer */
	CHECK(near(m[2].total.mid, 800)); /* not 1600 */
	CHECK(m[2].total.low > 0 && m[2].total.high <= m[1].total.high);
	CHECK((m[3].flags & TREE_SHORT) && m[3].total.low == 0 && m[3].self.mid == 0);
	CHECK(m[3].total.high <= m[1].total.high);
	CHECK(near(self, m[1].total.mid));
	tree_release(&t);
}

TEST(code_that_was_compiled_several_times_has_its_own_scatter_and_not_the_calibrations)
{
	struct place_alone alone[] = { { .id = 1, .calls = 50, .mean = 1030, .margin = 7 } };
	struct costs c = costs();
	double high[2];

	c.noise = 0.03;
	for (int i = 0; i < 2; i++) {
		struct tree t;

		alone[0].anew = i;
		tree_init(&t);
		node(&t, 1, 0, 10, 15000);
		tree_compensate(&t, &c);
		tree_place_into(&t, alone, 1, NULL, &c);
		high[i] = method(&t, 1).total.high;
		tree_release(&t);
	}
	CHECK(near(high[0], 10 * (1005 + 7 + 30)) && near(high[1], 10 * (1005 + 7)));
}

TEST(a_recursion_has_the_time_of_its_outermost_calls_and_all_of_it_is_its_own)
{
	static const struct place_alone alone[] = { { .id = 7, .calls = 9, .mean = 1030 } };
	struct costs c = costs();
	struct tree_method m;
	struct tree t;

	tree_init(&t);
	node(&t, 7, 0, 10, 90000);
	node(&t, 7, 1, 20, 80000);
	node(&t, 7, 2, 40, 60000);
	tree_compensate(&t, &c);
	tree_place_into(&t, alone, 1, NULL, &c);
	m = method(&t, 7);
	CHECK(near(m.total.mid, 10000));
	CHECK(near(m.self.mid, 10000));
	tree_release(&t);
}

TEST(a_mean_that_is_not_known_or_lacks_long_calls_is_not_used)
{
	static const struct place_alone alone[] = {
		{ .id = 1, .calls = 3, .mean = 330, .margin = -1 },
		{ .id = 2, .calls = 50, .mean = 330, .margin = 3, .cut = 2 },
		{ .id = 3, .cut = 2 },
	};
	struct costs c = costs();
	struct tree t;

	tree_init(&t);
	for (uint32_t id = 1; id <= 4; id++)
		node(&t, id, 0, 10, 5000);
	tree_compensate(&t, &c);
	tree_place_into(&t, alone, COUNT(alone), NULL, &c);
	for (uint32_t id = 1; id <= 4; id++)
		CHECK(!(method(&t, id).flags & TREE_PLACED) &&
		      near(method(&t, id).total.mid, 4700));
	tree_release(&t);
}

TEST(closed_hooks_cost_a_little_and_slow_calls_may_be_the_methods_own)
{
	static const struct place_alone alone[] = {
		{ .id = 1, .calls = 50, .mean = 345, .plain = 445 },
	};
	struct costs c = costs();
	struct tree t;

	c.of[COST_COMPILED][COST_CLOSED][0].pair = (struct span){ 0, 1, 2 };
	tree_init(&t);
	node(&t, 1, 0, 10, 50000);
	node(&t, 2, 1, 100, 20000);
	node(&t, 3, 2, 900, 10000);
	tree_compensate(&t, &c);
	tree_place_into(&t, alone, 1, NULL, &c);
	CHECK(near(method(&t, 1).total.mid, 10 * (315 - 100 * 2000 / 2315.0)));
	CHECK(near(method(&t, 1).total.low, 10 * (345 - 35 - 200)));
	CHECK(near(method(&t, 1).total.high, 10 * (445 - 25)));
	tree_release(&t);
}

TEST(the_program_without_hooks_is_the_closed_time_and_the_open_one_at_its_speed)
{
	struct place_program p = { .open = 1e9,
				   .closed = 4e9,
				   .speed = 0.1,
				   .speed_margin = 0.02,
				   .alone = 1e6,
				   .more = 5e7 };
	struct costs c = costs();
	struct span s = tree_place_total(&p, &c);

	CHECK(near(s.mid, 4.1e9 - 1e8 - 5e7));
	CHECK(near(s.low, 4.08e9 - 1e8 - 5e7) && near(s.high, 4.12e9 - 1e8 - 5e7));
	p.speed_margin = -1; /* not known: anything from standing still to full speed */
	p.alone = p.more = 0;
	s = tree_place_total(&p, &c);
	CHECK(near(s.low, 4e9) && near(s.high, 5e9));
}

TEST(a_call_that_is_too_long_to_be_measured_alone_has_the_programs_share)
{
	static const struct place_alone alone[] = { { .id = 1, .cut = 3 } };
	const struct place_program p = { .open = 1e9, .closed = 4e9, .speed = 0.5 };
	struct costs c = costs();
	struct tree t;

	tree_init(&t);
	node(&t, 1, 0, 1, 5e9);
	tree_compensate(&t, &c);
	tree_place_into(&t, alone, 1, &p, &c);
	CHECK(near(method(&t, 1).total.mid, 4.5e9));
	tree_release(&t);
}

TEST(a_method_found_beside_its_caller_by_1_in_N_is_called_all_the_same)
{
	struct tree t;

	tree_init(&t);
	node(&t, 1, 0, 1000, 0);
	node(&t, 2, 1, 10, 0);
	node(&t, 2, 0, 9990, 0); /* in calls of 1 that were not timed */
	node(&t, 3, 0, 5, 0);
	node(&t, 3, 1, 5, 0); /* a recursion */
	CHECK(!tree_is_called(&t, 1) && tree_is_called(&t, 2) && !tree_is_called(&t, 3));
	tree_release(&t);
}
