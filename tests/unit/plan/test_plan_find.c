/* SPDX-License-Identifier: Apache-2.0 */
/* Branches whose time is divided, or of which little was seen, and data of rare slow calls. */
#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>

#include "plan/dig/dig.h"
#include "plan/dig/find.h"
#include "test.h"

#define ROOT "a.Web.handle()V"

static const struct dig_options usual = { .for_ns = 50e9, .budget = 0.01 };

static void row(struct dig *d, uint32_t depth, const char *name, uint64_t calls, uint64_t ns)
{
	measure_row(&d->measure, &(struct measure_row){ depth, slice_str(name), calls, calls, ns });
}

static void begin(struct dig *d)
{
	dig_init(d, &usual);
	d->answer.root = d->dug = slice_str(ROOT);
	d->answer.verdict = DIG_METHOD;
}

TEST(time_divided_among_overloads_is_theirs_together)
{
	struct buf text = { 0 };
	struct dig d;

	begin(&d);
	for (uint64_t r = 1; r < 6; r++) {
		measure_begin(&d.measure);
		row(&d, 0, ROOT, 10 * r, 1000000 * r);
		row(&d, 1, "a.Index.find(I)V", 10 * r, 330000 * r);
		row(&d, 1, "a.Index.find(J)V", 10 * r, 320000 * r);
		row(&d, 1, "b.Other.find(I)V", 10 * r, 300000 * r);
		row(&d, 1, "b.Other.put(I)V", 10 * r, 40000 * r);
		measure_end(&d.measure);
	}
	CHECK(find_branch(&d));
	CHECK(slice_is(d.answer.guilty, "a.Index.find(I)V"));
	CHECK_INT(d.answer.n_alike, 2, "an overload and another class's");
	CHECK(d.answer.share.value > 0.94 && d.answer.share.value < 0.96);
	CHECK_INT(d.answer.per_root.value, 3, NULL);
	find_tell_branch(&d);
	CHECK(!memmem(d.said.p, d.said.n, "innocent: Index.find", 20));
	CHECK(memmem(d.said.p, d.said.n, "innocent: Other.put", 19));
	dig_print(&d, &text);
	CHECK(memmem(text.p, text.n, "a.Index.find and 2 more of that name, ", 38));
	buf_release(&text);
	dig_release(&d);
}

TEST(an_overload_that_has_the_time_alone_is_told_alone)
{
	struct dig d;

	begin(&d);
	for (uint64_t r = 1; r < 6; r++) {
		measure_begin(&d.measure);
		row(&d, 0, ROOT, 10 * r, 1000000 * r);
		row(&d, 1, "a.Index.find(I)V", 10 * r, 10000 * r);
		row(&d, 1, "a.Index.find(J)V", 10 * r, 900000 * r);
		measure_end(&d.measure);
	}
	CHECK(find_branch(&d));
	CHECK(slice_is(d.answer.guilty, "a.Index.find(J)V"));
	CHECK_INT(d.answer.n_alike, 0, NULL);
	dig_release(&d);
}

TEST(a_method_below_several_implementations_is_one)
{
	struct dig d;

	begin(&d);
	for (uint64_t r = 1; r < 6; r++) {
		measure_begin(&d.measure);
		row(&d, 0, ROOT, 10 * r, 1000000 * r);
		row(&d, 1, "a.First.run()V", 10 * r, 480000 * r);
		row(&d, 2, "a.Price.sum()J", 30 * r, 450000 * r);
		row(&d, 1, "a.Second.run()V", 10 * r, 480000 * r);
		row(&d, 2, "a.Price.sum()J", 30 * r, 450000 * r);
		measure_end(&d.measure);
	}
	CHECK(find_branch(&d));
	CHECK(slice_is(d.answer.guilty, "a.Price.sum()J"));
	CHECK(d.answer.share.value > 0.89 && d.answer.share.value < 0.91);
	CHECK_INT(d.answer.per_root.value, 6, NULL);
	dig_release(&d);
}

/* Three callees with 39, 20 and 41 % of the time, none of which has most of it: all of them lead to
 * one method that has. */
TEST(ways_that_part_and_meet_again_lead_to_where_they_meet)
{
	static const char *const ways[] = { "a.One.go()V", "a.Two.go(I)V", "a.Three.run()V" };
	static const uint64_t shares[] = { 39, 20, 41 };
	struct buf text = { 0 }, rules = { 0 };
	struct dig d;

	begin(&d);
	for (uint64_t r = 1; r < 6; r++) {
		measure_begin(&d.measure);
		row(&d, 0, ROOT, 10 * r, 1000000 * r);
		for (size_t i = 0; i < COUNT(ways); i++) {
			row(&d, 1, ways[i], 10 * r, 10000 * shares[i] * r);
			row(&d, 2, "a.Deep.slow()V", 20 * r, 9800 * shares[i] * r);
		}
		measure_end(&d.measure);
	}
	CHECK(find_branch(&d));
	CHECK(slice_is(d.answer.guilty, "a.Deep.slow()V"));
	CHECK_INT(d.answer.ways, 3, NULL);
	CHECK(d.answer.share.value > 0.97 && d.answer.share.value < 0.99);
	CHECK_INT(d.answer.per_root.value, 6, NULL);
	dig_print(&d, &text);
	CHECK(memmem(text.p, text.n, "called by 3 methods below a.Web.handle", 38));
	dig_print_rules(&d, &rules);
	CHECK(memmem(rules.p, rules.n, "inside a.Web::handle() timed", 28));
	buf_release(&text);
	buf_release(&rules);
	dig_release(&d);
}

static void sample(struct dig *d, uint32_t depth, const char *name, uint64_t n,
		   enum sample_state state)
{
	struct sample_row r = { .depth = depth, .name = slice_str(name) };

	r.self[state] = n;
	samples_add(&d->all, &r);
}

TEST(samples_below_several_ways_lead_to_where_they_meet)
{
	struct dig d;

	begin(&d);
	sample(&d, 0, ROOT, 1, SAMPLE_RUNNING);
	sample(&d, 1, "a.One.go()V", 0, SAMPLE_RUNNING);
	sample(&d, 2, "a.Deep.slow()V", 39, SAMPLE_RUNNING);
	sample(&d, 1, "a.Two.go(I)V", 0, SAMPLE_RUNNING);
	sample(&d, 2, "a.Deep.slow()V", 10, SAMPLE_RUNNING);
	sample(&d, 3, "a.Deep.inner()V", 10, SAMPLE_RUNNING);
	sample(&d, 1, "a.Three.run()V", 1, SAMPLE_RUNNING);
	sample(&d, 2, "a.Deep.slow()V", 39, SAMPLE_RUNNING);
	samples_seal(&d.all);
	find_below(&d);
	find_trail(&d);
	CHECK_INT(d.trail.n, 2, NULL);
	CHECK(slice_is(d.answer.guilty, "a.Deep.slow()V"));
	CHECK_INT(d.trail.steps[1].node->total, 98, "of all three ways");
	dig_release(&d);
}

/* 120 levels of itself, each of which parses once: the time is in parsing. */
TEST(recursion_does_not_hide_what_it_calls)
{
	struct dig d;

	begin(&d);
	sample(&d, 0, ROOT, 0, SAMPLE_RUNNING);
	for (uint32_t depth = 1; depth < 120; depth++) {
		sample(&d, depth, "a.Rows.row(I)V", 0, SAMPLE_RUNNING);
		sample(&d, depth + 1, "java.lang.Long.parseLong(Ljava/lang/String;)J", 0,
		       SAMPLE_RUNNING);
		sample(&d, depth + 2,
		       "java.lang.Throwable.fillInStackTrace(I)Ljava/lang/Throwable;", 2,
		       SAMPLE_NATIVE);
		sample(&d, depth + 1, "a.Log.put()V", 1, SAMPLE_RUNNING);
	}
	samples_seal(&d.all);
	CHECK_INT(find_below(&d), 357, NULL);
	find_trail(&d);
	CHECK(slice_is(d.answer.guilty, "a.Rows.row(I)V"));
	CHECK_INT(d.trail.steps[1].node->total, 357, "all levels are one");
	find_why(&d);
	CHECK_INT(d.answer.kind, KIND_THROWING, NULL);
	CHECK(slice_is(d.answer.where, "java.lang.Long.parseLong(Ljava/lang/String;)J"));
	for (uint64_t r = 1; r < 6; r++) {
		measure_begin(&d.measure);
		row(&d, 0, ROOT, r, 1000000 * r);
		for (uint32_t depth = 1; depth < 120; depth++) {
			row(&d, depth, "a.Rows.row(I)V", r, (1000000 - 8000 * depth) * r);
			row(&d, depth + 1, "a.Log.put()V", r, 3000 * r);
		}
		measure_end(&d.measure);
	}
	find_branch(&d);
	CHECK(slice_is(d.answer.guilty, "a.Rows.row(I)V"));
	CHECK_INT(d.answer.n_path, 2, NULL);
	CHECK_INT(d.answer.per_root.value, 1, "outermost calls");
	CHECK(slice_is(d.answer.caller, ROOT));
	dig_release(&d);
}

/* The root waits for a stage that runs in another pool; the time is below that one. */
TEST(the_cause_is_looked_for_in_the_task_that_is_waited_for)
{
	struct buf text = { 0 };
	struct dig d;

	begin(&d);
	d.phase = 6; /* branch */
	sample(&d, 0, ROOT, 0, SAMPLE_RUNNING);
	sample(&d, 1, "java.util.concurrent.CompletableFuture.join()Ljava/lang/Object;", 90,
	       SAMPLE_PARKED);
	sample(&d, 0, "java.util.concurrent.ThreadPoolExecutor.runWorker()V", 0, SAMPLE_RUNNING);
	sample(&d, 1, "a.Stage.run()V", 2, SAMPLE_RUNNING);
	sample(&d, 2, "a.Rates.load()V", 88, SAMPLE_RUNNING);
	samples_seal(&d.all);
	find_below(&d);
	find_trail(&d);
	CHECK(slice_is(d.answer.task, "a.Stage.run()V"));
	for (uint64_t r = 1; d.phase == 6 && r < 9; r++) {
		struct dig_figures f = { .name = slice_str(ROOT), .calls = r, .timed = r };

		measure_begin(&d.measure);
		row(&d, 0, ROOT, 10 * r, 1000000 * r);
		row(&d, 0, "a.Stage.run()V", 10 * r, 950000 * r);
		measure_end(&d.measure);
		dig_method(&d, &f);
		dig_measured(&d);
	}
	CHECK(slice_is(d.answer.via, "a.Stage.run()V"));
	CHECK(slice_is(d.answer.waiter, ROOT));
	CHECK_INT(d.phase, 4, "what does the task call?");
	CHECK(slice_is(d.answer.guilty, "a.Rates.load()V"));
	measure_release(&d.measure);
	measure_init(&d.measure);
	for (uint64_t r = 1; r < 9; r++) {
		measure_begin(&d.measure);
		row(&d, 0, "a.Stage.run()V", 10 * r, 950000 * r);
		row(&d, 1, "a.Rates.load()V", 10 * r, 930000 * r);
		measure_end(&d.measure);
	}
	CHECK(find_branch(&d));
	find_why(&d);
	dig_print(&d, &text);
	CHECK(memmem(text.p, text.n,
		     "of the task a.Stage.run that a.Web.handle waits for (100 % of the time of "
		     "Web.handle), called by a.Stage.run.",
		     100));
	buf_release(&text);
	dig_release(&d);
}

TEST(the_answer_of_another_process_is_waited_for_and_not_a_task)
{
	static const char *const callees[] = { "a.Text.of()V",
					       "java.net.http.HttpClient.sendAsync(II)V" };

	for (size_t i = 0; i < COUNT(callees); i++) {
		struct dig d;

		begin(&d);
		d.phase = 4; /* graph */
		sample(&d, 0, ROOT, 0, SAMPLE_RUNNING);
		sample(&d, 1, "a.Rates.of()V", 1, SAMPLE_RUNNING);
		sample(&d, 2, "java.util.concurrent.CompletableFuture.join()V", 90, SAMPLE_PARKED);
		samples_seal(&d.all);
		find_below(&d);
		find_trail(&d);
		dig_callee(&d, slice_str(callees[i]));
		dig_callees_end(&d);
		find_why(&d);
		CHECK_INT(d.answer.kind, i ? KIND_SOCKET : KIND_FUTURE, callees[i]);
		dig_release(&d);
	}
}

/* The wait is three times as long as the task runs: there are too few threads for the tasks. */
TEST(a_queue_before_a_pool_is_not_the_fault_of_its_tasks)
{
	struct dig d;

	begin(&d);
	d.answer.task = slice_str("a.Stage.run()V");
	d.answer.kind = KIND_FUTURE;
	d.answer.is_measured = true;
	d.answer.mean.value = 3e6;
	d.answer.task_mean.value = 1e6;
	CHECK(!find_goes_to_task(&d));
	d.answer.mean.value = 1.5e6;
	CHECK(find_goes_to_task(&d));
	d.answer.via = d.answer.task;
	CHECK(!find_goes_to_task(&d));
	dig_release(&d);
}

/* Ten calls of which three are slow: in the windows that were seen, the slow ones of the callee had
 * not ended. */
static void read_few(struct dig *d, uint64_t calls, uint64_t r)
{
	measure_begin(&d->measure);
	row(d, 0, ROOT, calls * r, 300000000 * r);
	row(d, 1, "a.Rule.test()Z", calls * r, r % 2 ? 60000000 * r : 150000000 * r);
	measure_end(&d->measure);
}

static void sample_rule(struct dig *d)
{
	struct sample_row handle = { .depth = 0, .name = slice_str(ROOT) };
	struct sample_row rule = { .depth = 1, .name = slice_str("a.Rule.test()Z") };

	handle.self[SAMPLE_RUNNING] = 5;
	rule.self[SAMPLE_RUNNING] = 60;
	samples_add(&d->all, &handle);
	samples_add(&d->all, &rule);
	samples_seal(&d->all);
	find_below(d);
	find_trail(d);
}

/* Whose the time is is clear after five windows, but not what a call takes, and in which contexts:
 * so it goes on as long as there are few calls of the guilty method. */
TEST(a_busy_machine_ends_the_branch_early_but_not_for_few_calls)
{
	for (uint64_t per = 1; per < 5; per += 3) {
		struct dig d;
		unsigned n = 0;

		begin(&d);
		d.phase = 6; /* branch */
		d.starved = 0.9;
		for (uint64_t r = 0; n == 0 && r < 20; r++) {
			uint64_t ns = r * 500000000 + (r % 2) * 400000000;

			measure_begin(&d.measure);
			row(&d, 0, ROOT, 40 * r, ns);
			row(&d, 1, "a.Rule.test(I)Z", per * r, ns - ns / 200);
			measure_end(&d.measure);
			dig_measured(&d);
			n = d.phase != 6 ? (unsigned)r : 0;
		}
		CHECK(per == 4 ? n == 5 : n > 5 && n <= 14);
		dig_release(&d);
	}
}

TEST(samples_decide_where_hooks_have_seen_too_few_calls)
{
	struct dig d;

	begin(&d);
	sample_rule(&d);
	for (uint64_t r = 1; r < 4; r++)
		read_few(&d, 2, r);
	CHECK(!find_branch(&d));
	CHECK(slice_is(d.answer.guilty, "a.Rule.test()Z"));
	dig_release(&d);
	begin(&d);
	sample_rule(&d);
	for (uint64_t r = 1; r < 9; r++) {
		measure_begin(&d.measure);
		row(&d, 0, ROOT, 100 * r, 300000000 * r);
		row(&d, 1, "a.Rule.test()Z", 100 * r, 60000000 * r);
		measure_end(&d.measure);
	}
	CHECK(find_branch(&d));
	CHECK(slice_is(d.answer.guilty, ROOT));
	dig_release(&d);
}

/* One tenant of 400 is slow.  One call in seven is watched, on a machine that stalls some calls for
 * a while. */
static void watch_tenants(struct dig *d, unsigned calls)
{
	unsigned random = 7;

	d->answer.root = d->answer.guilty = slice_str("a.Web.serve(La/Request;)V");
	d->answer.limit_ns = 50e6;
	d->answer.slow_share = 0.0025;
	d->answer.root_rate = 1300;
	d->watched[0].method = d->answer.root;
	d->n_watched = 1;
	for (unsigned i = 0; i < calls; i++) {
		unsigned tenant = i * 7 % 400;
		char text[80];
		double ns = tenant == 137 ? 90e6 + i : 12e3 + i % 50;

		random = random * 1664525u + 1013904223u;
		if ((random >> 16) % 7)
			continue;
		if ((random >> 20) % 300 == 0)
			ns += 1e6 * (i % 61);
		snprintf(text, sizeof(text), "Request{tenant=\"t-%u\", page=%u}", tenant, i % 9);
		dig_call(d, d->answer.root, ns);
		dig_value(d, 1, slice_str(text));
	}
}

TEST(one_slow_tenant_of_hundreds_is_found_among_few_slow_calls)
{
	struct split_answer c;
	struct dig d;

	begin(&d);
	watch_tenants(&d, 12000);
	find_split(&d, 0, &c);
	CHECK(c.slow_met >= 2 && c.slow_met <= 9);
	CHECK(slice_is(c.condition, "$1.tenant == \"t-137\""));
	d.began = 1, d.watched_at = 1;
	CHECK(!dig_has_enough(&d, 1e9));
	CHECK(dig_has_enough(&d, 3e9));
	dig_release(&d);
}

TEST(calls_that_data_tell_from_others_are_slow_on_any_machine)
{
	static const double usual_ns[] = { 12e3, 30e6 };

	for (size_t i = 0; i < COUNT(usual_ns); i++) {
		struct dig d;

		begin(&d);
		d.answer.verdict = DIG_NOTHING;
		d.answer.root = d.answer.guilty = slice_str("a.Web.serve(I)V");
		d.answer.limit_ns = 60e6;
		d.answer.slow_share = 0.1;
		d.watched[0].method = d.answer.root;
		d.n_watched = 1;
		for (unsigned k = 0; k < 400; k++) {
			dig_call(&d, d.answer.root, k % 10 ? usual_ns[i] : 90e6);
			dig_value(&d, 1, slice_str(k % 10 ? "\"A\"" : "\"B\""));
		}
		find_condition(&d);
		CHECK(slice_is(d.answer.condition.condition, "$1 == \"B\""));
		CHECK_INT(d.answer.verdict, i ? DIG_NOTHING : DIG_METHOD, "ten times as long");
		dig_release(&d);
	}
}

/* The machine is so busy that the root's limit is twenty times as long as usual; the slow calls
 * that were watched had better luck. */
TEST(slow_calls_below_the_limit_of_the_root_are_seen)
{
	struct split_answer c;
	struct dig d;

	begin(&d);
	watch_tenants(&d, 12000);
	d.answer.limit_ns = 915e6;
	find_split(&d, 0, &c);
	CHECK(slice_is(c.condition, "$1.tenant == \"t-137\""));
	dig_release(&d);
}

TEST(a_collection_that_waits_for_a_processor_is_not_the_cause)
{
	static const struct {
		double share, cpu, delay;
		bool is;
	} cases[] = {
		{ 0.45, 0.59, 0.1, true },  { 0.58, 0.42, 0.95, true }, { 0.15, 0.08, 0.1, true },
		{ 0.12, 0.08, 0.9, false }, { 0.05, 0.20, 0.1, false },
	};

	for (size_t i = 0; i < COUNT(cases); i++)
		CHECK(find_is_gc(&(struct dig_answer){ .gc_share = cases[i].share,
						       .gc_cpu_share = cases[i].cpu,
						       .delay_share = cases[i].delay }) ==
		      cases[i].is);
}

/* Ten seconds are over, so 100 ms may be spent; six more are worth to be waited for. */
TEST(other_callers_are_asked_for_as_long_as_what_that_costs_can_be_waited_for)
{
	static const double spent[] = { 50e6, 150e6, 170e6 };
	struct dig d;

	for (size_t i = 0; i < COUNT(spent); i++) {
		bool poor = i == 2;

		begin(&d);
		d.began = 1e9, d.now = 11e9;
		d.spent_ns = spent[i];
		d.trail.n = 2;
		d.n_graph = 6;
		dig_callees_end(&d);
		CHECK_INT(d.asked, 1, "the way down is asked for in any case");
		dig_callees_end(&d);
		CHECK_INT(d.asked, poor ? 6 : 2, NULL);
		dig_release(&d);
	}
}

TEST(watching_goes_on_until_slow_calls_were_seen)
{
	struct dig d;

	begin(&d);
	watch_tenants(&d, 700);
	d.began = 1, d.watched_at = 1;
	CHECK(!dig_has_enough(&d, 10e9));
	CHECK(!dig_has_enough(&d, 30e9));
	CHECK(dig_has_enough(&d, 49e9));
	dig_release(&d);
}
