/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>

#include "plan/dig/kind.h"
#include "plan/dig/samples.h"
#include "plan/dig/trail.h"
#include "test.h"

struct frame {
	uint32_t depth;
	const char *name;
	uint64_t self;
	enum sample_state state;
	unsigned flags;
};

static void build(struct samples *s, const struct frame *frames, size_t n)
{
	samples_init(s);
	for (size_t i = 0; i < n; i++) {
		struct sample_row row = { .depth = frames[i].depth,
					  .name = slice_str(frames[i].name),
					  .flags = frames[i].flags };

		row.self[frames[i].state] = frames[i].self;
		samples_add(s, &row);
	}
	s->vitals.samples = 100;
	samples_seal(s);
}

static const struct frame shop[] = {
	{ 0, "java.lang.Thread.run()V", 0, SAMPLE_RUNNING, 0 },
	{ 1, "shop.Main.lambda$main$0()V", 0, SAMPLE_RUNNING, 0 },
	{ 2, "shop.Web.handle(I)V", 2, SAMPLE_RUNNING, 0 },
	{ 3, "shop.Cart.total()J", 10, SAMPLE_RUNNING, 0 },
	{ 3, "java.util.ArrayList.forEach(Ljava/util/function/Consumer;)V", 1, SAMPLE_RUNNING, 0 },
	{ 4, "shop.Stock.ask(I)I", 1, SAMPLE_RUNNING, 0 },
	{ 5, "sun.nio.ch.NioSocketImpl.read([BII)I", 0, SAMPLE_NATIVE, 0 },
	{ 6, "sun.nio.ch.Net.poll(Ljava/io/FileDescriptor;IJ)I", 80, SAMPLE_NATIVE,
	  SAMPLE_IS_NATIVE },
	{ 0, "java.lang.Thread.run()V", 0, SAMPLE_RUNNING, 0 },
	{ 1, "java.util.concurrent.ThreadPoolExecutor.runWorker()V", 0, SAMPLE_RUNNING, 0 },
	{ 2, "java.util.concurrent.ThreadPoolExecutor.getTask()V", 0, SAMPLE_RUNNING, 0 },
	{ 3, "jdk.internal.misc.Unsafe.park(ZJ)V", 300, SAMPLE_PARKED, SAMPLE_IS_NATIVE },
};

TEST(samples_add_up_and_pass_over_idle_threads)
{
	struct samples s;

	build(&s, shop, COUNT(shop));
	CHECK_INT(s.root.total, 394, NULL);
	CHECK_INT(s.root.busy, 94, "threads of a pool without work do not count");
	CHECK_INT(s.root.first->next == NULL, 1, "the same frame twice is one node");
	samples_release(&s);
}

TEST(a_trail_leads_through_the_jdk_to_the_method_that_has_the_time)
{
	struct samples s, under;
	struct trail t;
	uint64_t by[KINDS];

	build(&s, shop, COUNT(shop));
	samples_init(&under);
	CHECK_INT(samples_under(&s, slice_str("shop.Web.handle(I)V"), &under), 94, NULL);
	trail_follow(&t, under.root.first);
	CHECK_INT(t.n, 2, NULL);
	CHECK(slice_is(t.steps[1].node->name, "shop.Stock.ask(I)I"));
	CHECK_INT(t.steps[0].n_beside, 1, NULL);
	CHECK(slice_is(t.steps[0].beside[0]->name, "shop.Cart.total()J"));
	CHECK_INT(kind_divide(t.steps[1].node, by), 81, NULL);
	CHECK_INT(kind_largest(by), KIND_SOCKET, NULL);
	CHECK(slice_is(kind_where(t.steps[1].node, KIND_SOCKET)->name,
		       "sun.nio.ch.NioSocketImpl.read([BII)I"));
	samples_release(&under);
	samples_release(&s);
}

TEST(a_trail_is_cut_where_ways_part_that_meet_again)
{
	static const struct frame ways[] = {
		{ 0, "a.Web.handle()V", 0, SAMPLE_RUNNING, 0 },
		{ 1, "a.Cart.all()V", 0, SAMPLE_RUNNING, 0 },
		{ 2, "a.Bank.ask()V", 58, SAMPLE_RUNNING, 0 },
		{ 1, "a.Mail.send()V", 2, SAMPLE_RUNNING, 0 },
		{ 2, "a.Bank.ask()V", 40, SAMPLE_RUNNING, 0 },
	};
	struct samples s;
	struct trail t;

	build(&s, ways, COUNT(ways));
	trail_follow(&t, s.root.first);
	CHECK_INT(t.n, 3, "by the larger one of two ways");
	trail_cut(&t);
	CHECK_INT(t.n, 1, NULL);
	CHECK(slice_is(trail_joint(&t), "a.Bank.ask()V"));
	samples_release(&s);
}

TEST(candidates_for_roots_are_the_programs_own_busy_frames)
{
	const struct sample_node *roots[TRAIL_ROOTS];
	struct samples s;
	unsigned n;

	build(&s, shop, COUNT(shop));
	n = trail_roots(&s, TRAIL_ROOT_DEPTH, 3, roots);
	CHECK_INT(n, 4, NULL);
	CHECK(n > 0 && slice_is(roots[0]->name, "shop.Main.lambda$main$0()V"));
	CHECK(n > 1 && slice_is(roots[1]->name, "shop.Web.handle(I)V"));
	samples_release(&s);
}

/* A worker and a request both wait at a queue: for work, and for a connection. */
TEST(who_waits_at_a_queue_may_be_a_root_and_the_threads_of_a_pool_are_not)
{
	static const char park[] = "jdk.internal.misc.Unsafe.park(ZJ)V";
	static const char poll[] = "java.util.concurrent.LinkedBlockingQueue.poll(J)V";
	struct frame frames[] = {
		{ 0, "shop.Web.handle(I)V", 1, SAMPLE_RUNNING, 0 },
		{ 1, "shop.Dao.load()V", 0, SAMPLE_RUNNING, 0 },
		{ 2, "shop.Pool.borrow()V", 0, SAMPLE_RUNNING, 0 },
		{ 3, poll, 0, SAMPLE_RUNNING, 0 },
		{ 4, park, 50, SAMPLE_PARKED, SAMPLE_IS_NATIVE },
		{ 0, "java.util.concurrent.ThreadPoolExecutor.getTask()V", 0, SAMPLE_RUNNING, 0 },
		{ 1, poll, 0, SAMPLE_RUNNING, 0 },
		{ 2, park, 90, SAMPLE_PARKED, SAMPLE_IS_NATIVE },
	};
	const struct sample_node *roots[TRAIL_ROOTS];
	struct samples s;

	build(&s, frames, COUNT(frames));
	CHECK_INT(s.root.busy, 1, NULL);
	CHECK_INT(s.root.queued, 50, NULL);
	CHECK_INT(trail_roots(&s, TRAIL_ROOT_DEPTH, 3, roots), 3, NULL);
	CHECK(slice_is(roots[0]->name, "shop.Web.handle(I)V"));
	samples_release(&s);
}

TEST(answers_of_two_sessions_are_summed_up)
{
	struct samples s, more;

	build(&s, shop, COUNT(shop));
	build(&more, shop, COUNT(shop));
	samples_merge(&s, &more);
	CHECK_INT(s.root.total, 2 * 394, NULL);
	CHECK_INT(s.n, 11, "and no node is there twice");
	samples_release(&more);
	samples_release(&s);
}

TEST(what_code_computes_has_a_name_by_the_outermost_frame_of_the_jdk)
{
	static const struct frame busy[] = {
		{ 0, "shop.Store.save()V", 10, SAMPLE_RUNNING, 0 },
		{ 1, "java.io.ObjectOutputStream.writeObject(Ljava/lang/Object;)V", 20,
		  SAMPLE_RUNNING, 0 },
		{ 2, "java.util.HashMap.get(Ljava/lang/Object;)Ljava/lang/Object;", 30,
		  SAMPLE_RUNNING, 0 },
		{ 1, "java.util.regex.Matcher.find()Z", 15, SAMPLE_RUNNING, 0 },
		{ 1, "java.lang.Thread.sleep(J)V", 500, SAMPLE_SLEEPING, 0 },
		{ 0, "shop.Plain.sum()V", 40, SAMPLE_RUNNING, 0 },
	};
	struct samples s;
	const struct doing *doing;

	build(&s, busy, COUNT(busy));
	doing = kind_doing(s.root.first);
	CHECK(doing && strcmp(doing->word, "serialisation") == 0);
	CHECK(kind_doing(s.root.first->next) == NULL);
	samples_release(&s);
}

TEST(states_and_frames_make_kinds)
{
	static const struct {
		const char *frame;
		enum sample_state state;
		unsigned flags;
		enum kind kind;
	} cases[] = {
		{ "a.B.c()V", SAMPLE_RUNNING, 0, KIND_CPU },
		{ "a.B.c()V", SAMPLE_BLOCKED, 0, KIND_MONITOR },
		{ "a.B.c()V", SAMPLE_NATIVE, SAMPLE_IS_NATIVE, KIND_NATIVE },
		{ "java.lang.Thread.sleep0(J)V", SAMPLE_SLEEPING, SAMPLE_IS_NATIVE, KIND_SLEEP },
		{ "java.util.concurrent.locks.ReentrantLock.lock()V", SAMPLE_PARKED, 0, KIND_LOCK },
		{ "java.net.Inet6AddressImpl.lookupAllHostAddr(I)V", SAMPLE_NATIVE,
		  SAMPLE_IS_NATIVE, KIND_DNS },
		{ "java.util.concurrent.FutureTask.awaitDone(ZJ)I", SAMPLE_PARKED, 0, KIND_FUTURE },
		{ "java.lang.ClassLoader.defineClass1(J)V", SAMPLE_RUNNING, 0, KIND_LOADING },
		{ "java.util.regex.Matcher.match(I)Z", SAMPLE_RUNNING, 0, KIND_CPU },
		{ "java.lang.Object.wait0(J)V", SAMPLE_WAITING, 0, KIND_WAIT },
	};

	for (size_t i = 0; i < COUNT(cases); i++) {
		struct frame frames[] = { { 0, "a.Root.run()V", 0, SAMPLE_RUNNING, 0 },
					  { 1, cases[i].frame, 5, cases[i].state,
					    cases[i].flags } };
		struct samples s;
		uint64_t by[KINDS];

		build(&s, frames, 2);
		kind_divide(s.root.first, by);
		CHECK_INT(kind_largest(by), cases[i].kind, cases[i].frame);
		samples_release(&s);
	}
}

TEST(who_waits_in_the_http_client_waits_for_the_network)
{
	struct frame frames[] = {
		{ 0, "a.Rates.of()I", 1, SAMPLE_RUNNING, 0 },
		{ 1, "jdk.internal.net.http.HttpClientImpl.send(I)V", 0, SAMPLE_RUNNING, 0 },
		{ 2, "java.util.concurrent.CompletableFuture.get()V", 5, SAMPLE_PARKED, 0 },
		{ 1, "java.util.concurrent.CompletableFuture.get()V", 2, SAMPLE_PARKED, 0 },
	};
	struct samples s;
	uint64_t by[KINDS];

	build(&s, frames, COUNT(frames));
	CHECK_INT(kind_divide(s.root.first, by), 8, NULL);
	CHECK_INT(by[KIND_SOCKET], 5, NULL);
	CHECK_INT(by[KIND_FUTURE], 2, "of another kind");
	CHECK_INT(by[KIND_CPU], 1, NULL);
	samples_release(&s);
}

TEST(names_are_taken_apart)
{
	struct slice name = slice_str("com.shop.Cart$Line.<init>(ILjava/lang/String;)V");

	CHECK(slice_is(sample_node_class(name), "com.shop.Cart$Line"));
	CHECK(slice_is(sample_node_method(name), "<init>"));
	CHECK(slice_is(sample_node_desc(name), "(ILjava/lang/String;)V"));
	CHECK(slice_is(sample_node_plain(slice_str("")), ""));
	CHECK(slice_is(sample_node_class(slice_str("main")), "main"));
	CHECK(trail_is_sql(slice_str("org.h2.jdbc.JdbcPreparedStatement.executeQuery()V")));
	CHECK(!trail_is_sql(slice_str("org.h2.jdbc.JdbcPreparedStatement.close()V")));
}

TEST(samples_of_any_width_and_depth_are_taken)
{
	enum { MANY = 100000 };
	struct samples s;
	char name[32];

	samples_init(&s);
	for (uint32_t i = 0; i < MANY; i++) {
		struct sample_row row = { .depth = 0, .self = { 1 } };

		snprintf(name, sizeof(name), "a.B.m%u()V", i);
		row.name = slice_str(name);
		samples_add(&s, &row);
		row.depth = i;
		row.name = slice_str("a.B.deeper()V");
		samples_add(&s, &row);
	}
	samples_seal(&s);
	CHECK(!s.err && s.n >= MANY);
	CHECK_INT(s.root.total, MANY + 1000, "what is deeper than any stack is left out");
	samples_release(&s);
}

TEST(names_that_no_rule_can_have_are_not_hooked)
{
	static const struct {
		const char *name;
		bool can;
	} cases[] = {
		{ "a.B.c()V", true },
		{ "a.B.\303\244()V", true },
		{ "a.B.c()V\nhook **::* timed", false },
		{ "a.B.c d()V", false },
		{ "a.B.\033[31m()V", false },
		{ "a.B.c#()V", false },
		{ "", false },
	};

	for (size_t i = 0; i < COUNT(cases); i++) {
		struct sample_row row = { .name = slice_str(cases[i].name), .self = { 1 } };
		struct samples s;

		CHECK(sample_node_can_be_named(row.name) == cases[i].can);
		samples_init(&s);
		samples_add(&s, &row);
		CHECK(!(s.root.first->flags & SAMPLE_IS_FIXED) == cases[i].can);
		samples_release(&s);
	}
}
