/* SPDX-License-Identifier: Apache-2.0 */
/* Who is measured alone next, and what windows add up to. */
#include "plan/stats/tally.h"
#include "plan/inplace/turns.h"

#include <math.h>

#include "test.h"

enum { MOST = 64 };

/* "1(2 3(2))": three methods, of which 1 calls 2 and 3, which calls 2; each node is called 100
 * times, but "-2" never. */
static void plant(struct turns *t, const char *text)
{
	unsigned depth = 0;
	bool none = false;

	turns_begin(t);
	for (; *text; text++) {
		depth += *text == '(';
		depth -= *text == ')';
		if (*text >= '0' && *text <= '9')
			turns_node(t, (uint32_t)(*text - '0'), depth, none ? 0 : 100);
		none = *text == '-';
	}
	turns_end(t);
}

/* The next set as a text: "2 3". */
static const char *next(struct turns *t)
{
	static char text[4 * MOST];
	uint32_t ids[MOST];
	size_t n = turns_next(t, ids, MOST), at = 0;

	for (size_t i = 0; i < n; i++) {
		if (i)
			text[at++] = ' ';
		text[at++] = (char)('0' + ids[i]);
	}
	text[at] = '\0';
	return text;
}

TEST(methods_that_call_each_other_are_never_measured_in_one_window)
{
	struct turns t;

	turns_init(&t);
	plant(&t, "1(2 3(4)) 5");
	CHECK_STR(next(&t), "1 5", NULL);
	CHECK_STR(next(&t), "2 3 5", "5 has nobody to wait for");
	CHECK_STR(next(&t), "4 5 2", "2 is free again; 3 is above 4");
	turns_release(&t);
}

TEST(a_method_that_calls_itself_has_its_turn)
{
	struct turns t;

	turns_init(&t);
	plant(&t, "1(2(2(2)))");
	CHECK_STR(next(&t), "2", "it is called more often");
	CHECK_STR(next(&t), "1", NULL);
	turns_release(&t);
}

TEST(what_is_left_out_or_not_called_has_no_turn)
{
	struct turns t;

	turns_init(&t);
	CHECK_STR(next(&t), "", "nothing is known yet");
	plant(&t, "1 2 3");
	turns_leave_out(&t, 2);
	CHECK_STR(next(&t), "1 3", NULL);
	plant(&t, "2 3");
	CHECK_STR(next(&t), "3", "1 was not called any more");
	turns_release(&t);
}

TEST(who_calls_nothing_but_what_has_no_turn_is_measured_all_the_time)
{
	struct turns t;

	turns_init(&t);
	plant(&t, "1(-2(-3(-2) 4) -3) 5(-5(-3))");
	CHECK_STR(next(&t), "1 5", NULL);
	CHECK_STR(next(&t), "4 5", "1 is above 4");
	CHECK_STR(next(&t), "1 5", NULL);
	plant(&t, "1(-2(-3(-2) -4) -3) 5(-5(-3))");
	CHECK_STR(next(&t), "1 5", NULL);
	CHECK_STR(next(&t), "1 5", "4 is not called any more");
	turns_release(&t);
}

TEST(frequent_and_rare_methods_share_a_window)
{
	struct turns t;
	uint32_t ids[MOST];

	turns_init(&t);
	turns_begin(&t);
	turns_node(&t, 1, 0, 10000000);
	turns_node(&t, 2, 0, 100);
	turns_end(&t);
	for (int i = 0; i < 3; i++)
		CHECK_INT(turns_next(&t, ids, MOST), 2, "a machine is as fast for both");
	turns_release(&t);
}

TEST(methods_are_known_that_call_themselves_by_way_of_others_too)
{
	struct turns t;

	turns_init(&t);
	plant(&t, "1(2(3(2) 4) 4) 4 5(5)");
	CHECK(!turns_is_nested(&t, 1) && turns_is_nested(&t, 2) && !turns_is_nested(&t, 3));
	CHECK(!turns_is_nested(&t, 4) && turns_is_nested(&t, 5) && !turns_is_nested(&t, 9));
	plant(&t, "5 2(3)");
	CHECK(!turns_is_nested(&t, 2) && !turns_is_nested(&t, 5));
	turns_release(&t);
}

static uint64_t any(uint64_t *x)
{
	*x ^= *x << 13;
	*x ^= *x >> 7;
	*x ^= *x << 17;
	return *x;
}

struct random_tree {
	uint32_t id[400], depth[400];
	size_t n;
	bool calls[40][40]; /* one is above the other, at any place */
};

static void find_calls(struct random_tree *r)
{
	for (size_t i = 0; i < r->n; i++)
		for (size_t k = i + 1; k < r->n && r->depth[k] > r->depth[i]; k++)
			r->calls[r->id[i]][r->id[k]] = true;
}

TEST(in_any_tree_every_method_has_turns_and_no_set_has_two_that_call_each_other)
{
	uint64_t seed = 77;

	for (int round = 0; round < 60; round++) {
		struct random_tree r = { .n = 1 + any(&seed) % 400 };
		uint32_t ids[MOST], had[40] = { 0 }, methods = 1 + (uint32_t)(any(&seed) % 39);
		struct turns t;

		turns_init(&t);
		turns_begin(&t);
		for (size_t i = 0; i < r.n; i++) {
			r.id[i] = 1 + (uint32_t)(any(&seed) % methods);
			r.depth[i] = i ? (uint32_t)(any(&seed) % (r.depth[i - 1] + 2)) : 0;
			turns_node(&t, r.id[i], r.depth[i], 1 + any(&seed) % 50);
			had[r.id[i]] |= 1u << 31;
		}
		turns_end(&t);
		find_calls(&r);
		for (int w = 0; w < 400; w++) {
			size_t n = turns_next(&t, ids, MOST);

			CHECK(n > 0);
			for (size_t i = 0; i < n; i++) {
				had[ids[i]]++;
				for (size_t k = i + 1; k < n; k++)
					CHECK(!r.calls[ids[i]][ids[k]] && !r.calls[ids[k]][ids[i]]);
			}
		}
		for (uint32_t id = 1; id <= methods; id++)
			CHECK(had[id] == 0 || had[id] > (1u << 31));
		turns_release(&t);
	}
}

TEST(a_tally_gives_what_the_windows_give)
{
	static const double up[] = { 10, 22, 27, 41, 0, 55 }, down[] = { 1, 2, 3, 4, 0, 5 };
	double have_up[5], have_down[5];
	struct tally t = { 0 };
	struct estimated a, b;
	size_t n = 0;

	CHECK(tally_ratio(&t).margin < 0);
	for (size_t i = 0; i < COUNT(up); i++) {
		tally_add(&t, up[i], down[i]);
		if (down[i] > 0) {
			have_up[n] = up[i];
			have_down[n++] = down[i];
		}
	}
	a = tally_ratio(&t);
	b = stats_ratio(have_up, have_down, n);
	CHECK_INT(t.n, 5, "an empty window is none");
	CHECK(fabs(a.value - b.value) < 1e-9 && fabs(a.margin - b.margin) < 1e-9);
	t = (struct tally){ 0 };
	tally_add(&t, 5, 1);
	CHECK(tally_ratio(&t).margin < 0 && tally_ratio(&t).value == 5);
}
