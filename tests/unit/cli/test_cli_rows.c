/* SPDX-License-Identifier: Apache-2.0 */
/* test_cli_rows.c - the rows of report and tree: order, filter, nesting, short memory. */
#define _GNU_SOURCE /* memmem */
#include "base/mem.h"
#include "cli/report/report_rows.h"
#include "cli/report/report_table.h"
#include "cli/report/tree_rows.h"
#include "test.h"

struct row {
	const char *name;
	uint64_t calls, total, self, max, errors;
};

static const struct row rows[] = {
	{ "a.B.slow(I)V", 10, 5000, 100, 900, 0 },
	{ "a.B.slow(J)V", 20, 300, 300, 80, 2 },
	{ "a.C.fast()V", 1000, 400, 400, 3, 0 },
	{ "b.D.counted()V", 7, 0, 0, 0, 0 },
};

/* The payload of the last frame in out. */
static struct slice payload(const struct buf *out)
{
	return (struct slice){ out->p + WIRE_HEAD, out->n - WIRE_HEAD };
}

static bool fill(struct report *r)
{
	struct buf out = { 0 };
	bool good = true;

	for (size_t i = 0; i < COUNT(rows) && good; i++) {
		const struct row *x = &rows[i];

		buf_clear(&out);
		wire_put_method(&out, &(struct wire_method){ .id = (uint32_t)i + 1,
							     .name = slice_str(x->name),
							     .level = 1,
							     .calls = x->calls,
							     .timed = x->total ? x->calls : 0,
							     .total_ns = x->total,
							     .self_ns = x->self,
							     .max_ns = x->max,
							     .errors = x->errors });
		good = !out.err && report_take(r, WIRE_method, payload(&out));
	}
	buf_release(&out);
	return good;
}

TEST(report_is_sorted_by_what_is_asked_for)
{
	static const struct {
		enum report_order order;
		const char *first;
	} cases[] = {
		{ REPORT_TOTAL, "a.B.slow(I)V" }, { REPORT_SELF, "a.C.fast()V" },
		{ REPORT_CALLS, "a.C.fast()V" },  { REPORT_AVG, "a.B.slow(I)V" },
		{ REPORT_MAX, "a.B.slow(I)V" },	  { REPORT_ERRORS, "a.B.slow(J)V" },
	};
	struct report r;

	report_init(&r);
	CHECK(fill(&r));
	for (size_t i = 0; i < COUNT(cases); i++) {
		report_sort(&r, cases[i].order);
		CHECK(slice_is(r.all[0]->m.name, cases[i].first));
	}
	report_sort(&r, REPORT_TOTAL);
	CHECK(slice_is(r.all[3]->m.name, "b.D.counted()V"));
	CHECK(r.all[0]->overloaded && !r.all[1]->overloaded);
	report_release(&r);
}

TEST(report_keeps_what_the_filter_matches)
{
	static const struct {
		const char *pattern;
		size_t kept;
	} cases[] = {
		{ "slow", 2 }, { "a.*", 3 },	     { "a.**::fast", 1 }, { "a.B::slow", 2 },
		{ "*", 4 },    { "a.B.slow(I)", 0 }, { "D.c?unted", 0 },  { "*D.c?unted", 1 },
	};

	for (size_t i = 0; i < COUNT(cases); i++) {
		struct report r;

		report_init(&r);
		CHECK(fill(&r));
		report_filter(&r, cases[i].pattern);
		CHECK_INT(r.n, cases[i].kept, cases[i].pattern);
		report_release(&r);
	}
}

TEST(report_json_says_null_for_what_is_not_known)
{
	struct buf out = { 0 };
	struct json j = json_to(&out);
	struct report r;

	report_init(&r);
	CHECK(fill(&r));
	report_filter(&r, "counted");
	json_open(&j, '{');
	report_json(&r, &j);
	json_close(&j, '}');
	buf_u8(&out, '\0');
	CHECK_STR(
		(const char *)out.p,
		"{\"methods\":[{\"method\":\"b.D.counted()V\",\"calls\":7,\"raw_ns\":null,"
		"\"compensated_ns\":null,\"low_ns\":null,\"high_ns\":null,\"self_ns\":null,"
		"\"errors\":0,\"rate\":0,\"timed\":0,\"one_in\":0,\"avg_ns\":null,\"min_ns\":null,\"max_ns\":null,"
		"\"p50_ns\":null,\"p90_ns\":null,\"p99_ns\":null,\"raw_min_ns\":null,\"raw_max_ns\":null,"
		"\"raw_p50_ns\":null,\"raw_p90_ns\":null,\"raw_p99_ns\":null,\"active\":0,\"active_peak\":0,"
		"\"stalls\":0,\"bytes\":0,\"type\":null,\"static\":false,\"native\":false,\"level\":\"timed\",\"rule\":0,\"hooked\":true,\"anchor\":false,\"closed\":false,\"fewer_counted\":false,"
		"\"raw_self_ns\":null,\"self_low_ns\":null,\"self_high_ns\":null,"
		"\"clamped\":false,\"short\":false,\"recursion_drawn\":false,\"recursive\":false,"
		"\"outermost_calls\":null,\"bounded\":false,\"self_bounded\":false,\"least_ns\":null,\"in_place\":false}],\"calibrated\":false,\"left\":[],"
		"\"agent\":null}",
		NULL);
	report_release(&r);
	buf_release(&out);
}

TEST(a_report_without_any_call_has_no_head_but_says_so)
{
	const struct report_table how = { .wide = true, .all_by = true };
	struct buf row = { 0 }, out = { 0 };
	struct report r;

	report_init(&r);
	wire_put_method(&row, &(struct wire_method){ .id = 1, .name = slice_str("a.B.c()V") });
	CHECK(!row.err && report_take(&r, WIRE_method, payload(&row)));
	report_table_print(&how, &r, &out);
	buf_u8(&out, '\0');
	CHECK_STR((const char *)out.p,
		  "No call was seen: 1 hooked method was not called; --all shows it\n", NULL);
	report_release(&r);
	buf_release(&row);
	buf_release(&out);
}

TEST(report_survives_every_failed_allocation)
{
	for (long n = 0; n < 1000; n++) {
		struct report r;
		bool good;

		report_init(&r);
		mem_fail_at(n);
		good = fill(&r);
		if (good)
			report_filter(&r, "a.*");
		if (good)
			report_sort(&r, REPORT_TOTAL);
		good = good && !r.err;
		report_release(&r);
		if (!mem_fail_hit()) {
			CHECK(good);
			break;
		}
		CHECK(!good);
	}
	mem_fail_at(-1);
}

static bool add_node(struct call_tree *t, uint32_t depth, const char *name, uint64_t total)
{
	struct buf out = { 0 };
	bool good;

	wire_put_node(&out, &(struct wire_node){ .depth = depth,
						 .name = slice_str(name),
						 .calls = 1,
						 .timed = 1,
						 .total_ns = total });
	good = !out.err && call_tree_take(t, WIRE_node, payload(&out));
	buf_release(&out);
	return good;
}

static bool grow(struct call_tree *t)
{
	return add_node(t, 0, "a.A.small()V", 10) && add_node(t, 0, "a.A.main()V", 90) &&
	       add_node(t, 1, "a.A.b(I)V", 20) && add_node(t, 2, "a.A.c()V", 5) &&
	       add_node(t, 1, "a.A.b(J)V", 60) && add_node(t, 9, "a.A.d()V", 50);
}

TEST(tree_has_the_most_expensive_children_first)
{
	struct call_tree t;
	struct call_node *main_node, *child;

	call_tree_init(&t);
	CHECK(grow(&t));
	call_tree_sort(&t);
	CHECK_INT(t.total_ns, 100, NULL);
	CHECK_INT(t.n, 6, NULL);
	main_node = t.root.first;
	CHECK(slice_is(main_node->name.name, "main") &&
	      slice_is(main_node->next->name.name, "small"));
	child = main_node->first;
	CHECK(slice_is(child->m.name, "a.A.b(J)V") && child->overloaded);
	CHECK(slice_is(child->first->name.name, "d")); /* of a depth that makes no sense */
	CHECK(slice_is(child->next->m.name, "a.A.b(I)V") && !child->next->next);
	CHECK(call_node_share(&t, child) == 0.6);
	call_tree_release(&t);
}

TEST(tree_takes_running_calls_for_what_they_have_called)
{
	struct call_tree t;

	call_tree_init(&t);
	CHECK(add_node(&t, 0, "a.A.short()V", 10) && add_node(&t, 0, "a.A.main()V", 0) &&
	      add_node(&t, 1, "a.A.loop()V", 0) && add_node(&t, 2, "a.A.step()V", 90));
	call_tree_sort(&t);
	CHECK_INT(t.total_ns, 100, NULL);
	CHECK(slice_is(t.root.first->name.name, "main"));
	CHECK(call_node_share(&t, t.root.first) == 0.9);
	CHECK_INT(t.root.first->first->least_ns, 90, NULL);
	call_tree_release(&t);
}

TEST(tree_json_is_nested_and_counts_what_it_leaves_out)
{
	struct buf out = { 0 };
	struct json j = json_to(&out);
	struct call_tree t;

	call_tree_init(&t);
	CHECK(grow(&t));
	call_tree_sort(&t);
	json_open(&j, '{');
	call_tree_json(&t, &j, 0.5, 2);
	json_close(&j, '}');
	buf_u8(&out, '\0');
	CHECK_STR(
		(const char *)out.p,
		"{\"total_ns\":100,\"contexts_pruned\":0,\"bound_ns\":0,"
		"\"bound_calls\":0,\"roots\":[{\"method\":\"a.A.main()V\",\"calls\":1,\"errors\":0,"
		"\"timed\":1,\"total_ns\":90,\"self_ns\":0,\"min_ns\":0,\"max_ns\":0,"
		"\"compensated\":false,\"raw_ns\":90,\"low_ns\":90,\"high_ns\":90,\"share\":0.9,"
		"\"left_out\":1,\"children\":[{\"method\":\"a.A.b(J)V\",\"calls\":1,\"errors\":0,"
		"\"timed\":1,\"total_ns\":60,\"self_ns\":0,\"min_ns\":0,\"max_ns\":0,"
		"\"compensated\":false,\"raw_ns\":60,\"low_ns\":60,\"high_ns\":60,\"share\":0.6,"
		"\"left_out\":1,\"children\":[]}]}]}",
		NULL);
	call_tree_release(&t);
	buf_release(&out);
}

TEST(tree_json_marks_what_a_budget_has_closed)
{
	static const struct {
		uint32_t flags;
		bool closed, fewer;
	} cases[] = { { NODE_SETTLED, false, false },
		      { NODE_FEWER, false, true },
		      { NODE_SHUT | NODE_FEWER, true, true } };

	for (size_t i = 0; i < COUNT(cases); i++) {
		struct buf row = { 0 }, out = { 0 };
		struct json j = json_to(&out);
		struct call_tree t;

		call_tree_init(&t);
		wire_put_node(&row, &(struct wire_node){ .id = 1,
							 .name = slice_str("a.A.get()V"),
							 .calls = 9,
							 .flags = cases[i].flags });
		CHECK(!row.err && call_tree_take(&t, WIRE_node, payload(&row)));
		call_tree_sort(&t);
		json_open(&j, '{');
		call_tree_json(&t, &j, 0, 9);
		json_close(&j, '}');
		buf_u8(&out, '\0');
		CHECK_INT(strstr((const char *)out.p, "\"closed\":true") != NULL, cases[i].closed,
			  NULL);
		CHECK_INT(strstr((const char *)out.p, "\"fewer_counted\":true") != NULL,
			  cases[i].fewer, NULL);
		call_tree_release(&t);
		buf_release(&row);
		buf_release(&out);
	}
}

TEST(tree_survives_every_failed_allocation)
{
	for (long n = 0; n < 1000; n++) {
		struct call_tree t;
		bool good;

		call_tree_init(&t);
		mem_fail_at(n);
		good = grow(&t);
		if (good)
			call_tree_sort(&t);
		good = good && !t.err;
		call_tree_release(&t);
		if (!mem_fail_hit()) {
			CHECK(good);
			break;
		}
		CHECK(!good);
	}
	mem_fail_at(-1);
}

TEST(a_tree_is_told_without_the_cost_of_its_hooks)
{
	struct call_tree t;
	struct costs c = { .mechanism = "test" };
	struct buf out = { 0 };
	struct slice left, payload;
	unsigned type;
	long n;

	for (unsigned i = 0; i < COST_CLASSES; i++)
		for (unsigned k = 0; k < COST_TIERS; k++)
			c.of[k][COST_EVERY][i] =
				(struct cost){ { 1, 2, 3 }, { 2, 3, 4 }, { 4, 5, 6 } };
	wire_put_node(&out, &(struct wire_node){ .id = 1,
						 .name = slice_str("a.A.main()V"),
						 .calls = 1,
						 .timed = 1,
						 .total_ns = 1000 });
	wire_put_node(&out, &(struct wire_node){ .depth = 1,
						 .id = 2,
						 .calls = 10,
						 .timed = 10,
						 .name = slice_str("a.A.work()V"),
						 .total_ns = 500 });
	call_tree_init(&t);
	left = buf_slice(&out);
	while (left.n && (n = wire_frame(left, &type, &payload)) > 0) {
		CHECK(call_tree_take(&t, type, payload));
		left = (struct slice){ left.p + n, left.n - (size_t)n };
	}
	call_tree_compensate(&t, &c);
	call_tree_sort(&t);
	CHECK_INT(t.err, 0, NULL);
	CHECK_INT(t.root.first->m.total_ns, 1000 - 2 - 10 * 5, "all hooks below");
	CHECK_INT(t.root.first->m.self_ns, 500 - 2 - 10 * 3, "what the children did not have");
	CHECK_INT(t.root.first->first->m.total_ns, 500 - 10 * 2, NULL);
	CHECK(t.root.first->total.low == 1000 - 3 - 10 * 6);
	call_tree_release(&t);
	buf_release(&out);
}

static void set_bare(struct report *r, uint32_t id, double ns)
{
	struct rounds of = { .id = id };

	for (int i = 0; i < 2; i++)
		rounds_add(&of, &(struct rounds_one){ { ns, 1 }, ns, 100, 20 });
	report_set_bare(r, &of, 0.01);
}

TEST(a_root_that_was_measured_with_nothing_below_alone_is_placed_by_that)
{
	static const struct {
		uint32_t id;
		double mean;
		bool bare;
	} want[] = {
		{ 1, 10, true }, { 2, 7, false }, { 3, 30, true }, { 5, 50, true }, { 9, 90, true }
	};
	struct buf out = { 0 };
	struct report r;

	report_init(&r);
	for (uint32_t id = 2; id <= 5; id += 3) {
		buf_clear(&out);
		wire_put_solo(&out, &(struct wire_solo){
					    .id = id, .calls = 9, .mean_ns = 7, .margin_ns = 1 });
		CHECK(report_take(&r, WIRE_solo, payload(&out)));
	}
	set_bare(&r, 3, 30);
	set_bare(&r, 9, 90);
	set_bare(&r, 5, 50);
	set_bare(&r, 1, 10);
	CHECK_INT(r.n_alone, COUNT(want), NULL);
	for (size_t i = 0; i < COUNT(want) && i < r.n_alone; i++) {
		CHECK_INT(r.alone[i].id, want[i].id, NULL);
		CHECK_INT((int)r.alone[i].mean, (int)want[i].mean, NULL);
		CHECK_INT(r.alone[i].bare, want[i].bare, NULL);
	}
	buf_release(&out);
	report_release(&r);
}

/* ---- rows that no agent sends ---- */

static void add_made_up(struct call_tree *t, uint32_t depth, uint64_t total)
{
	struct buf out = { 0 };

	wire_put_node(&out, &(struct wire_node){ .depth = depth,
						 .id = depth,
						 .name = slice_str("a.B.c()V"),
						 .calls = 20,
						 .timed = 1,
						 .total_ns = total });
	CHECK(call_tree_take(t, WIRE_node, payload(&out)));
	buf_release(&out);
}

TEST(trees_of_any_depth_are_cut_and_say_so)
{
	enum { DEEP = 300000 };
	struct buf out = { 0 };
	struct json j = json_to(&out);
	struct call_tree t;

	call_tree_init(&t);
	for (uint32_t i = 0; i < DEEP; i++)
		add_made_up(&t, i, DEEP - i);
	CHECK_INT(t.n, WIRE_DEPTH_MAX, "nodes");
	CHECK_INT(t.too_deep, DEEP - WIRE_DEPTH_MAX, "others");
	call_tree_compensate(&t, NULL);
	call_tree_sort(&t);
	json_open(&j, '{');
	call_tree_json(&t, &j, 0, UINT32_MAX);
	json_close(&j, '}');
	CHECK(!out.err && !t.err);
	CHECK(memmem(out.p, out.n, "\"too_deep\":299000", 17));
	buf_release(&out);
	call_tree_release(&t);
}

TEST(times_of_a_tree_do_not_wrap_around)
{
	struct call_tree t;

	call_tree_init(&t);
	add_made_up(&t, 0, 1000);
	for (int i = 0; i < 3; i++)
		add_made_up(&t, 1, UINT64_MAX / 2);
	call_tree_sort(&t);
	CHECK(t.total_ns == UINT64_MAX);
	for (struct call_node *n = t.root.first; n; n = call_node_after(&t, n))
		CHECK(call_node_share(&t, n) <= 1);
	call_tree_release(&t);
}

TEST(json_of_a_tree_closes_what_it_opens)
{
	static const uint32_t depths[] = { 0, 1, 2, 3, 1, 2, 0, 0, 5, 7, 6, 1 };
	static const char *const parts[] = { "{", "}", "[", "]" };
	struct buf out = { 0 };
	struct json j = json_to(&out);
	size_t n[4] = { 0 };
	struct call_tree t;

	call_tree_init(&t);
	for (size_t i = 0; i < COUNT(depths); i++)
		add_made_up(&t, depths[i], 100);
	call_tree_sort(&t);
	call_tree_json(&t, &j, 0, 3);
	for (size_t i = 0; i < out.n; i++)
		for (size_t k = 0; k < 4; k++)
			n[k] += out.p[i] == (uint8_t)parts[k][0];
	CHECK_INT(n[0], n[1], "braces");
	CHECK_INT(n[2], n[3], "brackets");
	CHECK_INT(n[0], 11, "nodes of three levels");
	buf_release(&out);
	call_tree_release(&t);
}
