/* SPDX-License-Identifier: Apache-2.0 */
#include "plan/dig/stitch.h"
#include "plan/dig/trail.h"
#include "test.h"

#define RUN "java.util.concurrent.ThreadPoolExecutor.runWorker()V"
#define JOIN "java.util.concurrent.CompletableFuture.join()Ljava/lang/Object;"

static void add(struct samples *s, uint32_t depth, const char *name, enum sample_state state,
		uint64_t n)
{
	struct sample_row row = { .depth = depth, .name = slice_str(name) };

	row.self[state] = n;
	samples_add(s, &row);
}

/* A request waits for a task, which waits for another one. */
static void build(struct samples *s, uint64_t waits)
{
	samples_init(s);
	add(s, 0, "a.Main.main()V", SAMPLE_RUNNING, 0);
	add(s, 1, "a.Web.handle()V", SAMPLE_RUNNING, 10);
	add(s, 2, "a.Tasks.get()J", SAMPLE_RUNNING, 0);
	add(s, 3, JOIN, SAMPLE_PARKED, waits);
	add(s, 0, RUN, SAMPLE_RUNNING, 0);
	add(s, 1, "a.Web.lambda$handle$0()J", SAMPLE_RUNNING, 0);
	add(s, 2, "a.Price.all()V", SAMPLE_RUNNING, 20);
	add(s, 3, JOIN, SAMPLE_PARKED, 60);
	add(s, 0, RUN, SAMPLE_RUNNING, 0);
	add(s, 1, "a.Price$1.run()V", SAMPLE_RUNNING, 0);
	add(s, 2, "a.Bank.ask()V", SAMPLE_RUNNING, 60);
	samples_seal(s);
}

TEST(the_names_of_tasks_say_who_has_made_them)
{
	struct slice lambda = slice_str("a.Web.lambda$handle$12(I)J");

	CHECK(stitch_is_made_by(lambda, slice_str("a.Web.handle(I)V")));
	CHECK(stitch_is_made_by(lambda, slice_str("a.Web.lambda$handle$3()J")));
	CHECK(!stitch_is_made_by(lambda, lambda));
	CHECK(!stitch_is_made_by(lambda, slice_str("a.Web.hand()V")));
	CHECK(!stitch_is_made_by(lambda, slice_str("b.Web.handle()V")));
	CHECK(stitch_is_made_by(slice_str("a.Web$1.run()V"), slice_str("a.Web.any()V")));
	CHECK(!stitch_is_made_by(slice_str("a.Web$Job.run()V"), slice_str("a.Web.any()V")));
	CHECK(!stitch_is_made_by(slice_str("a.Web.run()V"), slice_str("a.Web.any()V")));
}

TEST(a_trail_leads_through_tasks_of_other_threads)
{
	static const char *const way[] = { "a.Web.handle()V", "a.Web.lambda$handle$0()J",
					   "a.Price.all()V", "a.Price$1.run()V", "a.Bank.ask()V" };
	struct stitch_link links[STITCH_LINKS];
	struct samples s, under;
	struct trail t;

	build(&s, 80);
	CHECK_INT(stitch_tasks(&s, links), 2, NULL);
	samples_init(&under);
	CHECK_INT(samples_under(&s, slice_str("a.Web.handle()V"), &under), 90, NULL);
	trail_follow(&t, under.root.first);
	CHECK_INT(t.n, COUNT(way), NULL);
	for (unsigned i = 0; i < t.n && i < COUNT(way); i++)
		CHECK(slice_is(t.steps[i].node->name, way[i]));
	CHECK_INT(s.root.busy, 90, "the tasks are not there twice");
	samples_release(&under);
	samples_release(&s);
}

TEST(what_a_task_does_not_explain_stays_waiting)
{
	struct stitch_link links[STITCH_LINKS];
	struct samples s;

	build(&s, 800);
	CHECK_INT(stitch_tasks(&s, links), 2, NULL);
	CHECK_INT(s.root.busy, 810, NULL);
	samples_release(&s);
}

TEST(tasks_that_nobody_waits_for_stay_where_they_are)
{
	struct stitch_link links[STITCH_LINKS];
	struct samples s;

	build(&s, 0);
	CHECK_INT(stitch_tasks(&s, links), 1, "the inner one");
	CHECK_INT(s.root.busy, 90, NULL);
	samples_release(&s);
}

TEST(two_tasks_of_one_method_share_what_waits_for_them)
{
	struct stitch_link links[STITCH_LINKS];
	struct samples s;
	const struct sample_node *handle;

	samples_init(&s);
	add(&s, 0, "a.Web.handle()V", SAMPLE_RUNNING, 0);
	add(&s, 1, JOIN, SAMPLE_PARKED, 40);
	add(&s, 0, RUN, SAMPLE_RUNNING, 0);
	add(&s, 1, "a.Web.lambda$handle$0()J", SAMPLE_RUNNING, 30);
	add(&s, 1, "a.Web.lambda$handle$1()J", SAMPLE_RUNNING, 10);
	samples_seal(&s);
	CHECK_INT(stitch_tasks(&s, links), 2, NULL);
	handle = s.root.first;
	CHECK_INT(handle->total, 40, NULL);
	CHECK_INT(handle->first->total, 0, "nothing waits any more");
	CHECK_INT(s.root.busy, 40, NULL);
	samples_release(&s);
}
