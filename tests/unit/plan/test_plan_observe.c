/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* memmem() */
#include "plan/observe/observe.h"

#include "base/mem.h"
#include "rule/rules.h"
#include "test.h"

struct frame {
	uint32_t depth;
	const char *name;
	uint64_t self;
	enum sample_state state;
	unsigned flags;
	uint64_t stretches;
};

static void begin(struct observe *o, const struct frame *frames, size_t n)
{
	observe_init(o, &(struct observe_options){ .budget = 0.02, .most = 30 });
	for (size_t i = 0; i < n; i++) {
		struct sample_row row = { .depth = frames[i].depth,
					  .name = slice_str(frames[i].name),
					  .flags = frames[i].flags,
					  .stretches = frames[i].stretches };

		row.self[frames[i].state] = frames[i].self;
		samples_add(&o->samples, &row);
	}
	o->samples.vitals.samples = 100;
	o->samples.vitals.answers = 2;
	samples_seal(&o->samples);
	observe_look(o);
}

static const struct frame shop[] = {
	{ 0, "java.lang.Thread.run()V", 0, SAMPLE_RUNNING, 0, 0 },
	{ 1, "web.Server.loop()V", 0, SAMPLE_RUNNING, 0, 0 },
	{ 2, "web.Server.pass()V", 0, SAMPLE_RUNNING, 0, 0 },
	{ 3, "shop.Cart.checkout(I)V", 2, SAMPLE_RUNNING, 0, 0 },
	{ 4, "shop.Cart.total()J", 40, SAMPLE_RUNNING, 0, 0 },
	{ 5, "shop.Cart.total()J", 10, SAMPLE_RUNNING, 0, 0 },
	{ 4, "shop.db.Stock.ask(Ljava/lang/String;)I", 0, SAMPLE_RUNNING, 0, 0 },
	{ 5, "sun.nio.ch.Net.poll(Ljava/io/FileDescriptor;IJ)I", 48, SAMPLE_NATIVE,
	  SAMPLE_IS_NATIVE, 0 },
	{ 0, "java.util.concurrent.ThreadPoolExecutor.getTask()V", 0, SAMPLE_RUNNING, 0, 0 },
	{ 1, "jdk.internal.misc.Unsafe.park(ZJ)V", 300, SAMPLE_PARKED, SAMPLE_IS_NATIVE, 0 },
	{ 0, "java.lang.ref.Reference$ReferenceHandler.run()V", 0, SAMPLE_RUNNING, 0, 0 },
	{ 1, "java.lang.ref.Reference.processPendingReferences()V", 0, SAMPLE_RUNNING, 0, 0 },
	{ 2, "java.lang.ref.Reference.waitForReferencePendingList()V", 100, SAMPLE_RUNNING,
	  SAMPLE_IS_NATIVE, 0 },
};

static const struct observe_method *find(const struct observe *o, const char *name)
{
	for (size_t i = 0; i < o->n; i++)
		if (slice_is(o->list[i]->name, name))
			return o->list[i];
	return NULL;
}

static bool has(const struct buf *out, const char *text)
{
	return memmem(out->p, out->n, text, strlen(text)) != NULL;
}

static void count(struct observe *o, const char *name, uint64_t calls)
{
	observe_count(o, slice_str(name), calls);
}

TEST(time_is_shared_out_once_also_below_recursion_and_idle_threads_do_not_count)
{
	const struct observe_method *m;
	struct observe o;

	begin(&o, shop, COUNT(shop));
	observe_decide(&o);
	CHECK_INT(o.busy, 100, NULL);
	m = find(&o, "shop.Cart.total()J");
	CHECK_INT(m != NULL, 1, NULL);
	CHECK_INT(m->seen, 50, "once for each sample");
	CHECK_INT(m->own, 50, NULL);
	m = find(&o, "shop.Cart.checkout(I)V");
	CHECK_INT(m->seen, 100, NULL);
	CHECK_INT(m->own, 2, NULL);
	CHECK_INT(find(&o, "java.lang.Thread.run()V") == NULL, 1, "the JDK is nobody's business");
	observe_release(&o);
}

TEST(borders_waits_and_corridors_are_known)
{
	const struct observe_method *m;
	struct observe o;

	begin(&o, shop, COUNT(shop));
	observe_decide(&o);
	m = find(&o, "web.Server.loop()V");
	CHECK_INT(m->is_entry && !m->caller, 1, "the JDK calls it");
	m = find(&o, "web.Server.pass()V");
	CHECK_INT(m->is_corridor, 1, NULL);
	m = find(&o, "shop.Cart.checkout(I)V");
	CHECK_INT(m->is_entry && !m->is_corridor, 1, "another package calls it");
	m = find(&o, "shop.db.Stock.ask(Ljava/lang/String;)I");
	CHECK_INT(m->kind, KIND_SOCKET, NULL);
	CHECK_INT(m->waits == 1, 1, NULL);
	CHECK_INT(find(&o, "web.Server.pass()V")->score < find(&o, "shop.Cart.checkout(I)V")->score,
		  1, "a corridor is worth less than a border");
	observe_release(&o);
}

TEST(classes_that_were_seen_are_counted_best_first)
{
	struct buf out = { 0 };
	struct observe o;

	begin(&o, shop, COUNT(shop));
	CHECK_INT(observe_put_counting(&o, 2, &out), 1, NULL);
	buf_u8(&out, 0);
	CHECK_STR((const char *)out.p, "hook shop.db.Stock::* light\nhook shop.Cart::* light\n",
		  NULL);
	buf_release(&out);
	observe_release(&o);
}

TEST(calls_and_samples_give_the_time_of_a_call_and_the_price_of_its_hook)
{
	const struct observe_method *m;
	struct observe o;

	begin(&o, shop, COUNT(shop));
	count(&o, "shop.Cart.total()J", 1000);
	count(&o, "shop.Cart.checkout(I)V", 20000000);
	count(&o, "shop.Cart.hash()I", 300000000);
	observe_counted(&o, 10);
	observe_decide(&o);
	m = find(&o, "shop.Cart.total()J");
	CHECK_INT(m->rate == 100, 1, NULL);
	CHECK_INT(m->ns > 4.9e6 && m->ns < 5.1e6, 1, "half a processor, in 100 calls");
	CHECK_INT(m->choice, OBSERVE_TIMED, NULL);
	CHECK_INT(find(&o, "shop.Cart.checkout(I)V")->choice, OBSERVE_HOT,
		  "two million calls a second are more than the budget has");
	CHECK_INT(find(&o, "shop.Cart.hash()I")->choice, OBSERVE_HOT, NULL);
	CHECK_INT(o.cost <= o.options.budget, 1, NULL);
	observe_release(&o);
}

TEST(a_method_that_is_too_hot_to_be_timed_is_counted)
{
	struct observe o;

	begin(&o, shop, COUNT(shop));
	o.options.budget = 0.001;
	count(&o, "shop.Cart.total()J", 300000); /* 30,000 a second: 0.45 thousandths, or 1.65 */
	observe_counted(&o, 10);
	observe_decide(&o);
	CHECK_INT(find(&o, "shop.Cart.total()J")->choice, OBSERVE_LIGHT, NULL);
	observe_release(&o);
}

TEST(a_hot_method_is_not_counted_for_long_and_keeps_its_rate)
{
	struct buf out = { 0 };
	struct observe o;

	begin(&o, shop, COUNT(shop));
	count(&o, "shop.Cart.total()J", 100);
	count(&o, "shop.Cart.hash()I", 5000000);
	observe_counted(&o, 0.5);
	CHECK_INT(observe_put_hot(&o, &out), 1, NULL);
	buf_u8(&out, 0);
	CHECK_STR((const char *)out.p, "skip shop.Cart::hash()\n", NULL);
	observe_base(&o, true);
	count(&o, "shop.Cart.total()J", 100);
	observe_base(&o, false);
	count(&o, "shop.Cart.total()J", 400);
	observe_counted(&o, 10);
	buf_clear(&out);
	CHECK_INT(observe_put_hot(&o, &out), 0, "once");
	observe_decide(&o);
	CHECK_INT(find(&o, "shop.Cart.total()J")->rate == 30, 1, NULL);
	CHECK_INT(find(&o, "shop.Cart.hash()I")->rate == 1e7, 1, NULL);
	CHECK_INT(find(&o, "shop.Cart.hash()I")->choice, OBSERVE_HOT, NULL);
	buf_release(&out);
	observe_release(&o);
}

TEST(below_a_method_that_runs_on_the_work_begins)
{
	static const struct frame loop[] = {
		{ 0, "java.lang.Thread.run()V", 0, SAMPLE_RUNNING, 0, 0 },
		{ 1, "shop.Main.loop()V", 0, SAMPLE_RUNNING, 0, 0 },
		{ 2, "shop.Main.step()V", 0, SAMPLE_RUNNING, 0, 0 },
		{ 3, "shop.Main.work()V", 50, SAMPLE_RUNNING, 0, 0 },
	};
	const struct observe_method *m;
	struct observe o;

	begin(&o, loop, COUNT(loop));
	count(&o, "shop.Main.loop()V", 0);
	count(&o, "shop.Main.step()V", 70);
	count(&o, "shop.Main.work()V", 70);
	observe_counted(&o, 10);
	observe_decide(&o);
	CHECK_INT(find(&o, "shop.Main.loop()V")->choice, OBSERVE_ENDLESS, NULL);
	m = find(&o, "shop.Main.step()V");
	CHECK_INT(m->is_entry && !m->is_corridor, 1, NULL);
	CHECK_INT(m->choice, OBSERVE_TIMED, NULL);
	observe_release(&o);
}

TEST(small_methods_are_left_out_and_other_packages_speak_for_a_method)
{
	struct slice ask[8], stock = slice_str("shop.db.Stock.ask(Ljava/lang/String;)I");
	struct observe o;
	double before;

	begin(&o, shop, COUNT(shop));
	CHECK_INT(observe_ask(&o, ask, COUNT(ask)), 5, NULL);
	before = find(&o, "shop.db.Stock.ask(Ljava/lang/String;)I")->score;
	observe_code(&o, slice_str("shop.Cart.total()J"), 5);
	observe_code(&o, slice_str("shop.Cart.checkout(I)V"), 5);
	count(&o, "shop.Cart.total()J", 5000);
	count(&o, "shop.Cart.checkout(I)V", 5);
	observe_counted(&o, 1);
	observe_callee(&o, stock, slice_str("org.pool.Pool.take()V"));
	observe_callee(&o, stock, slice_str("org.pool.Pool.give()V"));
	observe_callee(&o, stock, slice_str("java.util.List.size()I"));
	observe_callee(&o, stock, slice_str("shop.db.Row.get()I"));
	observe_decide(&o);
	CHECK_INT(find(&o, "shop.Cart.total()J")->choice, OBSERVE_SMALL, NULL);
	CHECK_INT(find(&o, "shop.Cart.checkout(I)V")->choice, OBSERVE_TIMED,
		  "small, but called so rarely that it does not matter");
	CHECK_INT(find(&o, "shop.db.Stock.ask(Ljava/lang/String;)I")->n_packages, 1, NULL);
	CHECK_INT(find(&o, "shop.db.Stock.ask(Ljava/lang/String;)I")->score > before, 1, NULL);
	observe_release(&o);
}

TEST(what_observe_writes_is_a_rule_file)
{
	struct buf out = { 0 };
	struct rule_errors errors = { 0 };
	struct rules *rules = NULL;
	struct arena mem;
	struct observe o;

	begin(&o, shop, COUNT(shop));
	count(&o, "shop.Cart.hash()I", 300000000);
	observe_counted(&o, 10);
	observe_decide(&o);
	observe_print(&o, slice_str("# a test\n"), &out);
	CHECK_INT(out.err, 0, NULL);
	CHECK_INT(has(&out, "\nhook shop.db.Stock::ask(java.lang.String)  timed\n"), 1, NULL);
	CHECK_INT(has(&out, "waits for the network"), 1, "the reason stands above it");
	CHECK_INT(has(&out, "\n# hook shop.Cart::hash()  light  # "), 1, "left out, as a comment");
	arena_init(&mem);
	CHECK_INT(rules_parse(&mem, buf_slice(&out), "observed", &rules, &errors), 0, NULL);
	CHECK_INT(rules != NULL && rules->n >= 3, 1, NULL);
	arena_release(&mem);
	buf_release(&out);
	observe_release(&o);
}

TEST(a_name_that_no_rule_can_have_is_passed_over)
{
	static const struct frame odd[] = {
		{ 0, "shop.Odd name.run()V", 0, SAMPLE_RUNNING, 0, 0 },
		{ 1, "shop.Cart.total()J", 10, SAMPLE_RUNNING, 0, 0 },
		{ 0, "shop.Lambda.run()V", 5, SAMPLE_RUNNING, SAMPLE_IS_FIXED, 0 },
	};
	struct observe o;

	begin(&o, odd, COUNT(odd));
	observe_decide(&o);
	CHECK_INT(o.n, 1, NULL);
	CHECK_INT(o.busy, 15, NULL);
	observe_release(&o);
}

TEST(observing_survives_any_failing_allocation)
{
	struct observe o;
	struct buf out = { 0 };

	for (long n = 0;; n++) {
		mem_fail_at(n);
		begin(&o, shop, COUNT(shop));
		count(&o, "shop.Cart.hash()I", 3);
		observe_counted(&o, 1);
		observe_put_counting(&o, 10, &out);
		observe_decide(&o);
		if (!o.err)
			observe_print(&o, slice_str(""), &out);
		observe_release(&o);
		buf_release(&out);
		if (!mem_fail_hit())
			break;
	}
	mem_fail_at(-1);
}

/* A hundred looks in two answers. */
TEST(threads_that_sleep_all_the_time_have_no_share_and_are_told_of)
{
	static const struct frame frames[] = {
		{ 0, "boot.Main.main([Ljava/lang/String;)V", 0, SAMPLE_RUNNING, 0, 2 },
		{ 1, "boot.Server.await()V", 0, SAMPLE_RUNNING, 0, 2 },
		{ 2, "java.lang.Thread.sleep(J)V", 100, SAMPLE_SLEEPING, SAMPLE_IS_NATIVE, 2 },
		{ 0, "java.lang.Thread.run()V", 0, SAMPLE_RUNNING, 0, 50 },
		{ 1, "shop.Cart.checkout(I)V", 60, SAMPLE_RUNNING, 0, 50 },
		{ 2, "java.lang.Thread.sleep(J)V", 140, SAMPLE_SLEEPING, SAMPLE_IS_NATIVE, 50 },
		{ 1, "shop.Cart.ask(I)V", 0, SAMPLE_RUNNING, 0, 2 },
		{ 2, "java.lang.Thread.sleep(J)V", 50, SAMPLE_SLEEPING, SAMPLE_IS_NATIVE, 2 },
	};
	struct buf out = { 0 };
	struct observe o;

	begin(&o, frames, COUNT(frames));
	observe_decide(&o);
	CHECK_INT(o.resting, 1, NULL);
	CHECK_INT(o.busy, 250, "short sleeps count, and so does one that was half of the time");
	CHECK(find(&o, "boot.Server.await()V") == NULL || !find(&o, "boot.Server.await()V")->seen);
	observe_print(&o, slice_str(""), &out);
	CHECK(has(&out,
		  "# Not counted: 1 thread that slept or waited at one place all the time, in "
		  "boot.Server.await.\n"));
	CHECK(!has(&out, "hook boot."));
	buf_release(&out);
	observe_release(&o);
}
