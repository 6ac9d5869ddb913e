/* SPDX-License-Identifier: Apache-2.0 */
#include "plan/dig/measure.h"
#include "test.h"

static void add(struct measure *m, uint32_t depth, const char *name, uint64_t calls, uint64_t ns)
{
	measure_row(m, &(struct measure_row){ depth, slice_str(name), calls, calls, ns });
}

static void read_tree(struct measure *m, uint64_t round)
{
	measure_begin(m);
	add(m, 0, "a.Web.handle()V", 10 * round, 1000 * round);
	add(m, 1, "a.Cart.sum()V", 20 * round, 900 * round);
	add(m, 1, "a.Log.put()V", 10 * round, 50 * round);
	add(m, 2, "a.Cart.sum()V", 1 * round, 5 * round);
	add(m, 1, "a.Stuck.wait()V", 7, 100 * round);
	measure_end(m);
}

TEST(windows_are_what_figures_grow_by)
{
	struct measured *handle, *sum, all;
	struct measure m;

	measure_init(&m);
	CHECK_INT(measure_windows(&m), 0, NULL);
	for (uint64_t i = 5; i < 9; i++)
		read_tree(&m, i);
	CHECK_INT(measure_windows(&m), 3, NULL);
	handle = m.root.first;
	sum = handle->first;
	CHECK_INT(measure_calls(&m, handle), 30, "those before the first reading do not count");
	CHECK_INT(measure_mean(&m, handle).value, 100, NULL);
	CHECK_INT(measure_share(&m, sum, handle).value * 1000, 900, NULL);
	CHECK_INT(measure_share(&m, sum, handle).margin * 1000, 0, "all windows are alike");
	CHECK_INT(measure_calls_per(&m, sum, handle).value, 2, NULL);
	CHECK(measure_method(&m, slice_str("a.Cart.sum()V"), &all));
	CHECK_INT(measure_calls(&m, &all), 63, "under both of its callers");
	CHECK(!measure_method(&m, slice_str("a.Nobody.no()V"), &all));
	CHECK(measure_method(&m, slice_str("a.Stuck.wait()V"), &all));
	CHECK_INT(measure_ns(&m, &all), 0, "no call of it has ended");
	measure_release(&m);
}

TEST(a_task_is_read_below_the_method_that_waits_for_it)
{
	struct measured *task, *waiter;
	struct measure m;

	measure_init(&m);
	measure_link(&m, slice_str("a.Async.pay()V"), slice_str("a.Async.lambda$pay$0()V"));
	for (uint64_t r = 1; r < 4; r++) {
		measure_begin(&m);
		add(&m, 0, "a.Async.lambda$pay$0()V", r, 800 * r); /* before who waits for it */
		add(&m, 1, "a.Bank.ask()V", 2 * r, 700 * r);
		add(&m, 0, "a.Web.handle()V", r, 1000 * r);
		add(&m, 1, "a.Async.pay()V", r, 900 * r);
		measure_end(&m);
	}
	CHECK(slice_is(m.root.first->name, "a.Web.handle()V"));
	CHECK(m.root.first->next == NULL);
	waiter = m.root.first->first;
	task = waiter->first;
	CHECK(task && slice_is(task->name, "a.Async.lambda$pay$0()V"));
	CHECK_INT(task->depth, waiter->depth + 1, NULL);
	CHECK_INT(measure_calls(&m, task), 2, "both windows");
	CHECK_INT(measure_share(&m, task->first, waiter).value * 900, 700, NULL);
	measure_release(&m);
}

TEST(rows_that_are_passed_over_are_not_there)
{
	struct measured *web;
	struct measure m;

	measure_init(&m);
	measure_link(&m, slice_str("a.Web.handle()V"), slice_str("a.Task.run()V"));
	for (uint64_t i = 1; i <= 3; i++) {
		measure_begin(&m);
		measure_pass(&m, 0); /* somebody's hook around the root */
		add(&m, 1, "a.Web.handle()V", 10 * i, 1000 * i);
		measure_pass(&m, 2); /* ... and below it */
		measure_pass(&m, 3);
		add(&m, 4, "a.Shop.sell()V", 20 * i, 600 * i);
		add(&m, 2, "a.Log.put()V", i, i);
		measure_pass(&m, 0); /* ... and around a task */
		add(&m, 1, "a.Task.run()V", 10 * i, 300 * i);
		measure_end(&m);
	}
	web = m.root.first;
	CHECK(web && slice_is(web->name, "a.Web.handle()V") && !web->next);
	CHECK(slice_is(web->first->name, "a.Shop.sell()V"));
	CHECK(measure_ns(&m, web->first) == 1200);
	CHECK(slice_is(web->first->next->name, "a.Log.put()V"));
	CHECK(slice_is(web->first->next->next->name, "a.Task.run()V"));
	measure_release(&m);
}

TEST(calls_of_a_method_by_itself_are_part_of_the_outermost)
{
	struct measured *row;
	struct measure m;

	measure_init(&m);
	for (uint64_t r = 1; r < 4; r++) {
		measure_begin(&m);
		add(&m, 0, "a.Rows.all()V", r, 1000 * r);
		add(&m, 1, "a.Rows.row()V", 2 * r, 900 * r);
		add(&m, 2, "a.Rows.row()V", 20 * r, 800 * r);
		add(&m, 3, "a.Rows.row()V", 200 * r, 700 * r);
		add(&m, 4, "a.Cell.put()V", 400 * r, 500 * r);
		add(&m, 2, "a.Cell.put()V", 10 * r, 50 * r);
		add(&m, 1, "a.Log.put()V", r, 50 * r);
		measure_end(&m);
	}
	row = m.root.first->first;
	CHECK_INT(measure_calls(&m, row), 4, NULL);
	CHECK_INT(measure_ns(&m, row), 1800, NULL);
	CHECK(slice_is(row->first->name, "a.Cell.put()V"));
	CHECK_INT(measure_calls(&m, row->first), 820, "at all levels");
	CHECK_INT(measure_ns(&m, row->first), 1100, NULL);
	CHECK(!row->first->next);
	CHECK(slice_is(row->next->name, "a.Log.put()V"));
	measure_release(&m);
}

/* list() calls lines() 300 times, and that one a statement; one call of lines() in ten is timed,
 * and the statements of the others are found below list(). */
static void read_drawn(struct measure *m, uint64_t round, bool two)
{
	measure_begin(m);
	add(m, 0, "a.Shop.list()V", 100 * round, 600000 * round);
	measure_row(m, &(struct measure_row){ 1, slice_str("a.Shop.lines()V"), 30000 * round,
					      3000 * round, 590000 * round });
	add(m, 2, "b.Statement.execute()V", 3000 * round, 50000 * round);
	if (two)
		add(m, 2, "b.Statement.execute()V", 3000 * round, 50000 * round);
	add(m, 1, "b.Statement.execute()V", (two ? 54000 : 27100) * round, 450000 * round);
	measure_end(m);
}

TEST(what_untimed_calls_have_called_is_put_back_below_them)
{
	struct measured *list, *lines, *below;
	struct measure m;

	measure_init(&m);
	for (uint64_t i = 1; i < 6; i++)
		read_drawn(&m, i, false);
	list = m.root.first;
	lines = list->first;
	below = lines->first;
	CHECK(measure_calls(&m, below) > 120000 - 400);
	CHECK(measure_ns(&m, below) > 4 * 495000);
	CHECK(measure_share(&m, below, lines).value > 0.8);
	CHECK_INT(measure_calls(&m, lines->next), 0,
		  "the few that are left are the luck of the draw");
	measure_release(&m);
}

TEST(the_same_method_of_two_class_loaders_is_one)
{
	struct measured *below;
	struct measure m;

	measure_init(&m);
	for (uint64_t i = 1; i < 4; i++)
		read_drawn(&m, i, true);
	below = m.root.first->first->first;
	CHECK(!below->next);
	CHECK_INT(measure_calls(&m, below), 2 * 60000, NULL);
	measure_release(&m);
}

TEST(calls_that_have_not_ended_are_not_taken_for_untimed_ones)
{
	struct measured *handle;
	struct measure m;

	measure_init(&m);
	for (uint64_t i = 1; i < 4; i++) {
		measure_begin(&m);
		add(&m, 0, "a.Web.run()V", 10 * i, 1000 * i);
		measure_row(&m, &(struct measure_row){ 1, slice_str("a.Web.handle()V"), 10 * i,
						       3 * i, 900 * i });
		add(&m, 2, "a.Cart.sum()V", 3 * i, 800 * i);
		add(&m, 1, "a.Cart.sum()V", 5 * i, 50 * i);
		measure_end(&m);
	}
	handle = m.root.first->first;
	CHECK_INT(measure_calls(&m, handle->first), 6, NULL);
	CHECK_INT(measure_calls(&m, handle->next), 10, "where they were called");
	measure_release(&m);
}

TEST(an_interval_is_as_wide_as_windows_differ)
{
	double up[] = { 90, 110, 100, 100 }, down[] = { 10, 10, 10, 10 };
	struct estimated e = stats_ratio(up, down, 4), one = stats_ratio(up, down, 1);
	struct estimated none = stats_ratio(up, (double[]){ 0, 0 }, 2);

	CHECK_INT(e.value * 100, 1000, NULL);
	/* Standard error of the mean: sqrt(200 / 4 / 3) / 10 = 0.408; t of 3 degrees: 3.18. */
	CHECK(e.margin > 1.29 && e.margin < 1.31);
	CHECK(one.margin < 0);
	CHECK(stats_ratio(up, (double[]){ 0, 5, 0 }, 3).margin < 0);
	CHECK(none.margin < 0);
	CHECK(stats_is_above(e, (struct estimated){ 5, 1 }));
	CHECK(!stats_is_above(e, (struct estimated){ 9, 1 }));
	CHECK(!stats_is_above(one, (struct estimated){ 1, 0.1 }));
}

TEST(a_histogram_tells_how_much_of_the_time_slow_calls_have)
{
	uint64_t low[] = { 1000000, 1250000, 100000000, 125000000 };
	uint32_t count[] = { 900, 90, 10, 0 };
	struct spread s = stats_spread(low, count, 4, 50e6);

	CHECK(s.slow_calls > 0.0099 && s.slow_calls < 0.0101);
	CHECK(s.slow_time > 0.45 && s.slow_time < 0.55);
	CHECK(s.median > 1e6 && s.median < 1.25e6);
	CHECK(stats_quantile(low, count, 4, 0.999) > 100e6);
	CHECK_INT(stats_quantile(low, count, 0, 0.5), 0, "empty");
}
