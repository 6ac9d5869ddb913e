/* SPDX-License-Identifier: Apache-2.0 */
/* A program that does not exist: handle() calls total(), and now and then write(); both call sum(),
 * which is slow below write() alone, and for one value of its argument. */
#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "plan/dig/dig.h"
#include "plan/dig/find.h"
#include "test.h"

#define HANDLE "shop.Web.handle(I)V"
#define TOTAL "shop.Cart.total()J"
#define WRITE "shop.Export.write()J"
#define SUM "shop.Price.sum(Ljava/lang/String;)J"
#define WORK "shop.Main.work()V"
#define TIMER "shop.Timer.tick()V"
#define LOG "shop.Log.put(I)V" /* called all the time, in no time */

struct world {
	struct dig dig;
	double now;
	bool slow, has_inside, many;
	bool stuck;   /* samples see it all the time, but slow calls do not return */
	bool is_even; /* what computes does so in many methods */
	double starved, ran_ns;
	bool hands_over;     /* sum waits for a task of another thread */
	bool tasks_sleep;    /* ... in which they sleep */
	bool has_timer;	     /* which takes more time than all others, asleep */
	bool has_job;	     /* which takes more time, too, and is called by a timer */
	bool by_luck;	     /* calls are slow whatever their arguments */
	bool is_rare;	     /* handle is hardly ever seen, since main is at rest */
	bool has_worker;     /* which waits at a queue for work */
	bool polls;	     /* sum waits at a queue for what it needs */
	bool has_others;     /* somebody else has the timer hooked */
	bool all_hooked;     /* ... and all methods, main around the root too, for long */
	bool is_costly;	     /* hooks cost too much while log is among them */
	bool all_are_costly; /* ... while every call is timed */
	bool is_hot;	     /* ... and sum is called very often */
	uint64_t
		returns_at; /* in which round work(), which calls handle(), does; 0: there is none */
	int uneven;	    /* 1: some calls of 6 ms among many of 5 us; 2: all of 6 ms */
	double spends;	    /* ns of processors, for each hook command */
	unsigned samples, hooks, watches, callees, waits;
	uint64_t round;
	char rules[4000];
};

static void add(struct dig *d, uint32_t depth, const char *name, uint64_t running)
{
	struct sample_row row = { .depth = depth, .name = slice_str(name) };

	row.self[SAMPLE_RUNNING] = running;
	samples_add(&d->fresh, &row);
}

/* A job that computes most of the time, whenever its time has come. */
static void add_job(struct dig *d)
{
	add(d, 0, "java.util.concurrent.ScheduledThreadPoolExecutor$ScheduledFutureTask.run()V", 0);
	add(d, 1, TIMER, 90);
}

static void add_poll(struct dig *d, uint32_t depth, uint64_t n)
{
	struct sample_row row = { .depth = depth,
				  .name = slice_str(
					  "java.util.concurrent.LinkedBlockingQueue.poll()V") };

	row.self[SAMPLE_PARKED] = n;
	samples_add(&d->fresh, &row);
}

/* A timer that sleeps most of the time, in another thread. */
static void add_timer(struct dig *d)
{
	struct sample_row row = { .depth = 1, .name = slice_str("java.lang.Thread.sleep(J)V") };

	add(d, 0, TIMER, 1);
	row.self[SAMPLE_SLEEPING] = 90;
	samples_add(&d->fresh, &row);
}

static void add_join(struct dig *d)
{
	struct sample_row row = { .depth = 4,
				  .name = slice_str("java.util.concurrent.FutureTask.get()V") };

	row.self[SAMPLE_PARKED] = 60;
	samples_add(&d->fresh, &row);
}

static void add_task(struct dig *d)
{
	struct sample_row row = { .depth = 2, .name = slice_str("java.lang.Thread.sleep(J)V") };

	add(d, 0, "java.util.concurrent.ThreadPoolExecutor.runWorker()V", 0);
	add(d, 1, "shop.Rates.run()V", 1);
	row.self[SAMPLE_SLEEPING] = 60;
	samples_add(&d->fresh, &row);
}

static void do_sample(struct world *w)
{
	static const char *const parts[] = { "shop.Price.net()J", "shop.Price.tax()J",
					     "shop.Price.fee()J", "shop.Price.round()J" };
	struct dig *d = &w->dig;
	uint32_t depth = 1;

	w->samples++;
	if (w->has_timer)
		add_timer(d);
	if (w->has_job)
		add_job(d);
	if (w->has_worker) {
		add(d, 0, TIMER, 1);
		add(d, 1, "shop.Tasks.take()Ljava/lang/Object;", 0);
		add(d, 2, "shop.Tasks.take()Lshop/Task;", 0);
		add_poll(d, 3, 90);
	}
	if (w->tasks_sleep)
		add_task(d);
	add(d, 0, "shop.Main.main([Ljava/lang/String;)V", w->is_rare ? 90 : 1);
	if (w->returns_at)
		add(d, depth++, WORK, 1);
	add(d, depth, HANDLE, 1);
	add(d, depth + 1, TOTAL, 1);
	if (w->is_costly)
		add(d, depth + 1, LOG, 10);
	add(d, depth + 1, WRITE, 1);
	if (w->is_rare && !d->again)
		goto seen;
	for (int i = 0; w->is_even && i < 4; i++)
		add(d, depth + 2, parts[i], 15);
	add(d, depth + 2, SUM,
	    w->is_even			       ? 4
	    : w->hands_over || w->polls	       ? 0
	    : w->slow || w->stuck || w->uneven ? 60
					       : 4);
	if (w->hands_over)
		add_join(d);
	if (w->polls)
		add_poll(d, depth + 3, 60);
seen:
	d->fresh.vitals =
		(struct sample_vitals){ .samples = 100, .threads = 3, .wall = 4000000000u };
	dig_sampled(d);
}

static bool has(const struct world *w, const char *text)
{
	return strstr(w->rules, text) != NULL;
}

static void do_hook(struct world *w, struct slice rules)
{
	w->hooks++;
	if (w->many && w->hooks == 1) {
		CHECK(dig_too_many(&w->dig));
		return;
	}
	snprintf(w->rules, sizeof(w->rules), "%.*s", SLICE_FMT(rules));
	dig_hooked(&w->dig, true, !w->has_inside && has(w, " inside "));
}

static void method(struct world *w, const char *name, uint64_t fast, uint64_t slow)
{
	uint64_t before = w->all_hooked ? 50 : 0; /* slow calls, when nobody had asked yet */
	struct dig_figures f = { .name = slice_str(name),
				 .calls = fast + slow,
				 .timed = fast + slow,
				 .total_ns = fast * 10000 + slow * 100000000u,
				 .rate = (double)(fast + slow) / (double)w->round,
				 .low = { 9000, 10000, 95000000, 110000000 },
				 .count = { 0, (uint32_t)fast, (uint32_t)slow, 0 },
				 .n = 4 };

	if (w->uneven == 1 && f.timed) {
		f.total_ns = fast * 15 / 16 * 5000 + fast / 16 * 6000000;
		memcpy(f.low, (uint64_t[]){ 4900, 5100, 5900000, 6200000 }, 4 * sizeof(f.low[0]));
		memcpy(f.count,
		       (uint32_t[]){ (uint32_t)(fast * 15 / 16), 0, (uint32_t)(fast / 16), 0 },
		       4 * sizeof(f.count[0]));
	} else if (w->uneven == 2 && f.timed) {
		f.total_ns = fast * 6000000;
		f.low[0] = 5900000, f.low[1] = 5990000;
	}
	f.calls += before, f.timed += before, f.count[2] += (uint32_t)before;
	f.total_ns += before * 100000000u;
	dig_method(&w->dig, &f);
}

static void row(struct world *w, uint32_t depth, const char *name, uint64_t fast, uint64_t slow)
{
	struct measure_row r = { depth, slice_str(name), fast + slow, fast + slow,
				 fast * (w->uneven == 2 ? 6000000
					 : w->uneven	? 380000
							: 10000) +
					 slow * 100000000u };

	r.depth += w->all_hooked ? depth ? 2 : 1 : w->returns_at ? 1 : 0;
	dig_row(&w->dig, &r);
}

/* It begins two rounds before. */
static void measure_work(struct world *w, uint64_t r)
{
	uint64_t ended = r < w->returns_at ? 0 : r - w->returns_at + 1;
	struct dig_figures f = { .name = slice_str(WORK),
				 .calls = ended + (r + 2 >= w->returns_at),
				 .timed = ended,
				 .total_ns = ended * 5000000000u,
				 .low = { 4900000000u },
				 .count = { (uint32_t)ended },
				 .n = 1 };

	dig_method(&w->dig, &f);
	measure_begin(&w->dig.measure);
	dig_row(&w->dig, &(struct measure_row){ 0, slice_str(WORK), f.calls, ended, f.total_ns });
}

static void do_measure(struct world *w)
{
	uint64_t r = ++w->round, slow = w->slow ? 6 * r + r % 2 : 0;
	bool deep = has(w, "shop.Cart::total");

	method(w, HANDLE, 100 * r, slow);
	if (has(w, "shop.Timer::tick") || w->has_others)
		method(w, TIMER, 0, 9 * r);
	if (has(w, "shop.Price::sum"))
		method(w, SUM, 100 * r, slow);
	if (has(w, "shop.Log::put"))
		method(w, LOG, 5000 * r, 0);
	if (w->returns_at)
		measure_work(w, r);
	else
		measure_begin(&w->dig.measure);
	if (w->all_hooked)
		dig_row(&w->dig,
			&(struct measure_row){ 0, slice_str("shop.Main.main()V"), 1, 0, 0 });
	row(w, 0, HANDLE, 100 * r, slow);
	if (w->all_hooked)
		dig_row(&w->dig,
			&(struct measure_row){ 2, slice_str("shop.Step.run()V"), 200 * r, 0, 0 });
	if (has(w, "shop.Timer::tick"))
		row(w, 0, TIMER, 0, 9 * r);
	if (deep)
		row(w, 1, TOTAL, w->uneven ? r : 100 * r, 0);
	if (deep && has(w, "shop.Price::sum"))
		row(w, 2, SUM, w->uneven ? r : 100 * r, 0);
	if (deep)
		row(w, 1, WRITE, w->uneven ? 98 * r : 0, slow);
	if (deep && has(w, "shop.Price::sum"))
		row(w, 2, SUM, w->uneven ? 95 * r : 0, slow);
	if (has(w, "shop.Log::put"))
		row(w, 1, LOG, 5000 * r, 0);
	measure_end(&w->dig.measure);
	if (w->is_hot)
		for (struct dig_figures *f = w->dig.figures; f; f = f->next)
			f->rate = slice_is(f->name, SUM) ? 50000 : f->rate;
	w->dig.starved = w->starved;
	w->dig.ran_ns = w->ran_ns * (double)r;
	w->dig.cost_share = 0.001;
	if ((w->is_costly && has(w, "shop.Log::put")) || (w->all_are_costly && !has(w, " 1/64")))
		w->dig.cost_share = 0.05;
	dig_measured(&w->dig);
}

static void do_callees(struct world *w, struct slice of)
{
	w->callees++;
	if (slice_is(of, "shop.Web::handle(int)")) {
		dig_callee(&w->dig, slice_str(TOTAL));
		dig_callee(&w->dig, slice_str(WRITE));
		if (w->is_costly)
			dig_callee(&w->dig, slice_str(LOG));
		dig_callee(&w->dig,
			   slice_str("java.util.Map.get(Ljava/lang/Object;)Ljava/lang/Object;"));
	}
	if (slice_is(of, "shop.Cart::total()") || slice_is(of, "shop.Export::write()"))
		dig_callee(&w->dig, slice_str(SUM));
	dig_callees_end(&w->dig);
}

static void do_watch(struct world *w)
{
	w->watches++;
	for (int i = 0; i < 60; i++) {
		bool slow = w->slow && i % 6 == 0;

		dig_call(&w->dig, slice_str(SUM), slow ? 1e8 : 1e4);
		dig_value(&w->dig, 1,
			  slice_str(slow && !w->by_luck ? "\"GIFT\""
				    : i % 4 < 2		? "\"A\""
							: "\"B\""));
	}
	dig_watched(&w->dig);
}

static void drive(struct world *w, const struct dig_options *options, char *text, size_t cap)
{
	struct buf out = { 0 };
	struct dig_action a;

	dig_init(&w->dig, options);
	for (int i = 0; i < 200; i++) {
		w->dig.spent_ns = w->spends * w->hooks;
		dig_next(&w->dig, w->now += 1e8, &a);
		w->now += (double)a.for_ns;
		if (a.step == DIG_DONE)
			break;
		if (a.step == DIG_WAIT) {
			w->waits++;
			dig_waited(&w->dig);
		}
		if (a.step == DIG_SAMPLE)
			do_sample(w);
		if (a.step == DIG_HOOK)
			do_hook(w, a.rules);
		if (a.step == DIG_MEASURE)
			do_measure(w);
		if (a.step == DIG_CALLEES)
			do_callees(w, a.method);
		if (a.step == DIG_WATCH)
			do_watch(w);
	}
	CHECK_INT(w->dig.err, 0, NULL);
	dig_print(&w->dig, &out);
	snprintf(text, cap, "%.*s", SLICE_FMT(buf_slice(&out)));
	buf_release(&out);
}

static const struct dig_options usual = { .for_ns = 50e9, .budget = 0.01 };

TEST(dig_names_the_method_its_context_and_its_data)
{
	struct world w = { .slow = true, .has_inside = true };
	struct buf rules = { 0 };
	char text[2000];

	drive(&w, &usual, text, sizeof(text));
	CHECK_INT(w.dig.answer.verdict, DIG_METHOD, NULL);
	CHECK(slice_is(w.dig.answer.root, HANDLE));
	CHECK(slice_is(w.dig.answer.guilty, SUM));
	CHECK(strstr(text, "called by shop.Export.write"));
	CHECK(strstr(text, "10 us when called by shop.Cart.total"));
	CHECK(strstr(text, "$1 == \"GIFT\""));
	CHECK(strstr(text, "computes"));
	CHECK(has(&w, "inside shop.Web::handle(int)"));
	dig_print_rules(&w.dig, &rules);
	buf_u8(&rules, 0);
	CHECK_STR((char *)rules.p,
		  "hook shop.Web::handle(int) timed\n"
		  "hook shop.Price::sum(java.lang.String) inside shop.Web::handle(int) >> "
		  "shop.Export::write() if $1 == \"GIFT\" timed\n",
		  NULL);
	buf_release(&rules);
	dig_release(&w.dig);
}

TEST(dig_goes_on_without_inside_where_the_agent_has_none)
{
	struct world w = { .slow = true };
	char text[2000];

	drive(&w, &usual, text, sizeof(text));
	CHECK(slice_is(w.dig.answer.guilty, SUM));
	CHECK(!has(&w, "inside"));
	dig_release(&w.dig);
}

TEST(dig_asks_for_fewer_hooks_when_they_are_too_many)
{
	struct world w = { .slow = true, .has_inside = true, .many = true };
	char text[2000];

	drive(&w, &usual, text, sizeof(text));
	CHECK(slice_is(w.dig.answer.root, HANDLE));
	CHECK(slice_is(w.dig.answer.guilty, SUM));
	dig_release(&w.dig);
}

static bool said(const struct world *w, const char *text)
{
	return memmem(w->dig.said.p, w->dig.said.n, text, strlen(text)) != NULL;
}

TEST(dig_takes_the_dearest_hook_out_that_it_does_not_need)
{
	struct world w = { .slow = true, .has_inside = true, .is_costly = true };
	char text[2000];

	drive(&w, &usual, text, sizeof(text));
	CHECK(said(&w,
		   "The hooks cost 5.0 %, more than 1.0 %: without Log.put, which is called 5000 "
		   "times a second.\n"));
	CHECK(!said(&w, "one call in 64"));
	CHECK(!has(&w, "shop.Log::put"));
	CHECK(slice_is(w.dig.answer.guilty, SUM));
	dig_release(&w.dig);
}

TEST(dig_times_fewer_calls_when_it_needs_all_its_hooks)
{
	struct world w = { .slow = true, .has_inside = true, .all_are_costly = true };
	char text[2000];

	drive(&w, &usual, text, sizeof(text));
	CHECK(said(&w, "The hooks cost 5.0 %, more than 1.0 %: one call in 64 is timed.\n"));
	CHECK(slice_is(w.dig.answer.guilty, SUM));
	dig_release(&w.dig);
}

TEST(dig_keeps_a_hot_hook_that_the_answer_needs)
{
	struct world w = {
		.slow = true, .has_inside = true, .all_are_costly = true, .is_hot = true
	};
	char text[2000];

	drive(&w, &usual, text, sizeof(text));
	CHECK(w.dig.lowered);
	CHECK_INT(w.dig.n_banned, 0, NULL);
	CHECK(slice_is(w.dig.answer.guilty, SUM));
	dig_release(&w.dig);
}

TEST(the_outermost_method_is_awaited_when_it_has_begun)
{
	struct world begun = { .slow = true, .has_inside = true, .returns_at = 5 };
	char text[2000];

	drive(&begun, &usual, text, sizeof(text));
	CHECK(slice_is(begun.dig.answer.root, WORK));
	dig_release(&begun.dig);
}

TEST(dig_says_when_nothing_is_slow)
{
	struct world w = { .slow = false };
	char text[2000];

	drive(&w, &usual, text, sizeof(text));
	CHECK_INT(w.dig.answer.verdict, DIG_NOTHING, NULL);
	CHECK(strncmp(text, "Nothing is slow here.\n", 22) == 0);
	CHECK_INT(w.watches, 0, NULL);
	CHECK(!strstr(text, "Where:"));
	dig_release(&w.dig);
}

/* One tenant's calls take 6 ms, the others 5 us: one call in sixteen has nearly all of the time. */
TEST(few_calls_that_have_the_time_are_slow_though_they_are_short)
{
	struct world w = { .slow = false, .has_inside = true, .uneven = 1 };
	char text[2000];

	drive(&w, &usual, text, sizeof(text));
	CHECK_INT(w.dig.answer.verdict, DIG_METHOD, NULL);
	CHECK(slice_is(w.dig.answer.root, HANDLE));
	CHECK(strstr(text, "6.2 % of them take over"));
	dig_release(&w.dig);
}

/* Nothing is slow, and yet it is told where the time goes. */
TEST(where_the_time_goes_is_told_when_nothing_is_slow)
{
	struct world w = { .slow = false, .has_inside = true, .uneven = 2 };
	char text[2000];

	drive(&w, &usual, text, sizeof(text));
	CHECK_INT(w.dig.answer.verdict, DIG_NOTHING, NULL);
	CHECK(strncmp(text, "Nothing is slow here.\n", 22) == 0);
	CHECK(strstr(text, "Most of the time is in shop.Web.handle: usually "));
	CHECK(strstr(text, "Where: shop.Price.sum, "));
	dig_release(&w.dig);
}

static void remember(struct known *k, double mean_ns)
{
	known_init(k, slice_str("shop.Main"));
	for (uint64_t i = 1; i <= 4; i++) {
		struct known_run r = { i, 100, mean_ns, mean_ns, mean_ns };

		known_set_run(k, slice_str(HANDLE), &r, 0);
	}
}

TEST(dig_picks_the_method_that_breaks_with_its_past)
{
	struct dig_options options = usual;
	struct world w = { .slow = true, .has_inside = true };
	struct known k;
	char text[2000];

	options.slow_ns = 1e10; /* nothing is slow by that */
	options.known = &k;
	options.when = 9;
	remember(&k, 1e6); /* it is some 6 ms now */
	drive(&w, &options, text, sizeof(text));
	CHECK_INT(w.dig.answer.verdict, DIG_METHOD, NULL);
	CHECK(w.dig.answer.breaks);
	CHECK(slice_is(w.dig.answer.root, HANDLE));
	CHECK(slice_is(w.dig.answer.guilty, SUM));
	CHECK(strstr(text, "; in 4 earlier looks 1 ms on average.\n") != NULL);
	CHECK_INT(known_past_of(&k, slice_str(HANDLE))->n, 4, "what breaks with it is no past");
	dig_release(&w.dig);
	known_release(&k);
}

TEST(dig_finds_nothing_slow_that_is_as_ever)
{
	struct dig_options options = usual;
	struct world w = { .slow = true, .has_inside = true };
	struct known k;
	char text[2000];

	options.slow_ns = 1e10;
	options.known = &k;
	options.when = 9;
	remember(&k, 5e6);
	drive(&w, &options, text, sizeof(text));
	CHECK_INT(w.dig.answer.verdict, DIG_NOTHING, NULL);
	CHECK_INT(known_past_of(&k, slice_str(HANDLE))->n, 5, "and that is remembered");
	CHECK_INT(known_past_of(&k, slice_str(HANDLE))->runs[4].when, 9, NULL);
	dig_release(&w.dig);
	known_release(&k);
}

TEST(dig_says_that_a_slow_method_was_ever_so)
{
	struct dig_options options = usual;
	struct world w = { .slow = true, .has_inside = true };
	struct known k;
	char text[2000];

	options.known = &k;
	remember(&k, 5e6);
	drive(&w, &options, text, sizeof(text));
	CHECK_INT(w.dig.answer.verdict, DIG_METHOD, NULL);
	CHECK(!w.dig.answer.breaks);
	CHECK(strstr(text, "in 4 earlier looks 5 ms on average, so that is not new") != NULL);
	dig_release(&w.dig);
	known_release(&k);
}

/* A hundred calls of 10 us a second are a millisecond; the slow ones have six times 100 ms. */
TEST(dig_does_not_blame_calls_that_only_wait_for_a_processor)
{
	struct world w = { .slow = true, .has_inside = true, .starved = 0.4, .ran_ns = 1.5e6 };
	char text[2000];

	drive(&w, &usual, text, sizeof(text));
	CHECK_INT(w.dig.answer.verdict, DIG_NOTHING, "all that ran is explained by fast calls");
	dig_release(&w.dig);
	w = (struct world){ .slow = true, .has_inside = true, .starved = 0.4, .ran_ns = 300e6 };
	drive(&w, &usual, text, sizeof(text));
	CHECK_INT(w.dig.answer.verdict, DIG_METHOD, NULL);
	CHECK(slice_is(w.dig.answer.guilty, SUM));
	dig_release(&w.dig);
}

TEST(dig_does_not_blame_a_machine_that_makes_all_methods_slow)
{
	struct world w = { .slow = true, .has_inside = true, .starved = 0.6, .ran_ns = 500e6 };
	char text[2000];

	drive(&w, &usual, text, sizeof(text));
	CHECK_INT(w.dig.answer.verdict, DIG_METHOD, "most of the computing is in one method");
	dig_release(&w.dig);
	w = (struct world){ .slow = true, .has_inside = true, .starved = 0.6, .ran_ns = 500e6 };
	w.is_even = true;
	drive(&w, &usual, text, sizeof(text));
	CHECK_INT(w.dig.answer.verdict, DIG_NOTHING, NULL);
	dig_release(&w.dig);
	w = (struct world){ .slow = true, .has_inside = true, .starved = 0.6, .ran_ns = 50e6 };
	w.is_even = true;
	drive(&w, &usual, text, sizeof(text));
	CHECK_INT(w.dig.answer.verdict, DIG_METHOD, "they have not waited as long as that");
	dig_release(&w.dig);
}

TEST(dig_does_not_blame_tasks_that_wait_for_a_processor)
{
	struct world w = { .slow = true, .has_inside = true, .hands_over = true };
	char text[2000];

	drive(&w, &usual, text, sizeof(text));
	CHECK_INT(w.dig.answer.verdict, DIG_METHOD, NULL);
	dig_release(&w.dig);
	w = (struct world){ .slow = true, .has_inside = true, .hands_over = true, .starved = 0.95 };
	w.by_luck = true;
	drive(&w, &usual, text, sizeof(text));
	CHECK_INT(w.dig.answer.verdict, DIG_NOTHING, NULL);
	dig_release(&w.dig);
	w = (struct world){ .slow = true, .has_inside = true, .hands_over = true, .starved = 0.85 };
	w.by_luck = true;
	drive(&w, &usual, text, sizeof(text));
	CHECK_INT(w.dig.answer.verdict, DIG_NOTHING, NULL);
	dig_release(&w.dig);
	w = (struct world){ .slow = true, .has_inside = true, .hands_over = true, .starved = 0.95 };
	drive(&w, &usual, text, sizeof(text));
	CHECK_INT(w.dig.answer.verdict, DIG_METHOD, "data tell slow calls from others");
	dig_release(&w.dig);
	w = (struct world){ .slow = true, .has_inside = true, .hands_over = true, .starved = 0.85 };
	w.tasks_sleep = true; /* which takes as long on any machine */
	drive(&w, &usual, text, sizeof(text));
	CHECK_INT(w.dig.answer.verdict, DIG_METHOD, NULL);
	dig_release(&w.dig);
}

TEST(time_to_think_is_no_cause_and_what_rests_is_not_slow)
{
	struct world w = { .slow = true, .has_inside = true, .has_timer = true };
	char text[2000];

	drive(&w, &usual, text, sizeof(text));
	CHECK(slice_is(w.dig.answer.root, HANDLE));
	dig_release(&w.dig);
	w = (struct world){ .has_inside = true, .has_timer = true };
	drive(&w, &usual, text, sizeof(text));
	CHECK_INT(w.dig.answer.verdict, DIG_NOTHING, NULL);
	CHECK(slice_is(w.dig.answer.root, HANDLE));
	dig_release(&w.dig);
}

TEST(requests_come_before_jobs_that_nobody_waits_for)
{
	struct world w = { .slow = true, .has_inside = true, .has_job = true };
	char text[2000];

	drive(&w, &usual, text, sizeof(text));
	CHECK(slice_is(w.dig.answer.root, HANDLE));
	CHECK(strstr(text, "Also slow: shop.Timer.tick"));
	dig_release(&w.dig);
	w = (struct world){ .has_inside = true, .has_job = true };
	drive(&w, &usual, text, sizeof(text));
	CHECK_INT(w.dig.answer.verdict, DIG_METHOD, "then the job is explained");
	CHECK(slice_is(w.dig.answer.root, TIMER));
	dig_release(&w.dig);
}

TEST(methods_that_were_hardly_seen_are_tried_when_no_other_returns)
{
	struct world w = { .slow = true, .has_inside = true, .is_rare = true };
	char text[2000];

	drive(&w, &usual, text, sizeof(text));
	CHECK_INT(w.dig.answer.verdict, DIG_METHOD, NULL);
	CHECK(slice_is(w.dig.answer.root, HANDLE));
	dig_release(&w.dig);
}

TEST(who_waits_at_a_queue_for_what_it_needs_is_slow_and_who_waits_for_work_is_not)
{
	struct world w = { .slow = true, .has_inside = true, .polls = true };
	char text[2000];

	drive(&w, &usual, text, sizeof(text));
	CHECK_INT(w.dig.answer.verdict, DIG_METHOD, NULL);
	CHECK(slice_is(w.dig.answer.root, HANDLE));
	CHECK(slice_is(w.dig.answer.guilty, SUM));
	CHECK(strstr(text, "It waits at a queue"));
	dig_release(&w.dig);
	w = (struct world){ .has_inside = true, .has_worker = true };
	drive(&w, &usual, text, sizeof(text));
	CHECK_INT(w.dig.answer.verdict, DIG_NOTHING, NULL);
	CHECK(slice_is(w.dig.answer.root, HANDLE));
	dig_release(&w.dig);
}

TEST(dig_sees_calls_that_do_not_return)
{
	struct world w = { .stuck = true, .has_inside = true };
	char text[2000];

	drive(&w, &usual, text, sizeof(text));
	CHECK_INT(w.dig.answer.verdict, DIG_METHOD, NULL);
	CHECK(slice_is(w.dig.answer.root, HANDLE));
	CHECK(said(&w, "; but others have not returned for long: slow\n"));
	dig_release(&w.dig);
}

TEST(calls_that_wait_for_a_processor_are_not_stuck)
{
	struct world w = { .has_inside = true, .stuck = true, .uneven = 1, .starved = 0.9 };
	char text[2000];

	drive(&w, &usual, text, sizeof(text));
	CHECK_INT(w.dig.answer.verdict, DIG_NOTHING, NULL);
	dig_release(&w.dig);
	w = (struct world){ .has_inside = true, .stuck = true, .starved = 0.9 };
	drive(&w, &usual, text, sizeof(text));
	CHECK_INT(w.dig.answer.verdict, DIG_METHOD, "hardly anything has returned");
	dig_release(&w.dig);
}

TEST(dig_explains_a_method_that_is_asked_for_though_it_is_not_slow)
{
	struct dig_options options = usual;
	struct world w = { .has_inside = true };
	char text[2000];

	options.method = slice_str("shop.Web::handle");
	drive(&w, &options, text, sizeof(text));
	CHECK_INT(w.dig.answer.verdict, DIG_METHOD, NULL);
	CHECK(strncmp(text, "Slow:  shop.Web.handle", 22) == 0);
	dig_release(&w.dig);
}

TEST(dig_explains_what_is_asked_for_though_others_have_hooks)
{
	struct dig_options options = usual;
	struct world w = { .has_inside = true, .has_others = true };
	char text[2000];

	options.method = slice_str("shop.Web::handle(int)");
	drive(&w, &options, text, sizeof(text));
	CHECK(slice_is(w.dig.answer.root, HANDLE));
	CHECK(strncmp(text, "Slow:  shop.Web.handle", 22) == 0);
	dig_release(&w.dig);
	w = (struct world){ .has_inside = true, .has_others = true };
	options.method = slice_str("shop.W*::hand*");
	drive(&w, &options, text, sizeof(text));
	CHECK(slice_is(w.dig.answer.root, HANDLE));
	dig_release(&w.dig);
}

TEST(what_others_have_hooked_does_not_change_what_dig_finds)
{
	struct world w = { .slow = true, .has_inside = true, .all_hooked = true };
	char text[2000];

	drive(&w, &usual, text, sizeof(text));
	CHECK_INT(w.dig.answer.verdict, DIG_METHOD, NULL);
	CHECK(slice_is(w.dig.answer.root, HANDLE));
	CHECK(slice_is(w.dig.answer.guilty, SUM));
	CHECK(w.dig.answer.is_measured);
	CHECK(strstr(text, "called by shop.Export.write"));
	CHECK(strstr(text, "10 us when called by shop.Cart.total"));
	dig_release(&w.dig);
	w = (struct world){ .has_inside = true, .all_hooked = true };
	drive(&w, &usual, text, sizeof(text));
	CHECK_INT(w.dig.answer.verdict, DIG_NOTHING, "it was slow before dig came");
	dig_release(&w.dig);
}

TEST(dig_keeps_its_time)
{
	struct dig_options options = usual;
	struct world w = { .slow = true, .has_inside = true };
	char text[2000];

	options.for_ns = 9e9;
	drive(&w, &options, text, sizeof(text));
	CHECK(w.now < 14e9);
	CHECK(slice_is(w.dig.answer.root, HANDLE));
	dig_release(&w.dig);
}

TEST(dig_survives_every_failed_allocation)
{
	for (long n = 0; n < 4000; n += n < 60 ? 1 : 37) {
		struct world w = { .slow = true, .has_inside = true };
		struct dig_action a;

		mem_fail_at(n);
		dig_init(&w.dig, &usual);
		for (int i = 0; i < 200; i++) {
			dig_next(&w.dig, w.now += 1e8, &a);
			w.now += (double)a.for_ns;
			if (a.step == DIG_DONE)
				break;
			if (a.step == DIG_WAIT)
				dig_waited(&w.dig);
			if (a.step == DIG_SAMPLE)
				do_sample(&w);
			if (a.step == DIG_HOOK)
				do_hook(&w, a.rules);
			if (a.step == DIG_MEASURE)
				do_measure(&w);
			if (a.step == DIG_CALLEES)
				do_callees(&w, a.method);
			if (a.step == DIG_WATCH)
				do_watch(&w);
		}
		CHECK_INT(a.step, DIG_DONE, NULL);
		dig_release(&w.dig);
		mem_fail_at(-1);
	}
}

/* What was spent is brought under the budget by waiting, as long as there is time. */
TEST(dig_waits_when_it_has_cost_too_much)
{
	struct world w = { .slow = true, .has_inside = true, .spends = 0.2e9 };
	char text[2000];

	drive(&w, &usual, text, sizeof(text));
	CHECK(w.waits >= 1);
	CHECK(said(&w, "So far it has cost "));
	CHECK(w.now > 20e9 && w.now < 51e9);
	CHECK(slice_is(w.dig.answer.guilty, SUM));
	CHECK(strstr(text, "$1 == \"GIFT\""));
	dig_release(&w.dig);
	w = (struct world){ .slow = true, .has_inside = true, .spends = 20e9 };
	drive(&w, &usual, text, sizeof(text));
	CHECK(w.now < 51e9);
	CHECK(slice_is(w.dig.answer.guilty, SUM));
	dig_release(&w.dig);
}

/* So little that there is nothing to wait for yet; but watching will cost something, too. */
TEST(dig_waits_for_what_watching_will_cost)
{
	struct world w = { .slow = true, .has_inside = true, .spends = 0.02e9 };
	char text[2000];

	drive(&w, &usual, text, sizeof(text));
	CHECK_INT(w.waits, 1, NULL);
	CHECK(w.now > 15e9 && w.now < 51e9);
	CHECK(strstr(text, "$1 == \"GIFT\""));
	dig_release(&w.dig);
	w = (struct world){ .slow = true, .has_inside = true, .spends = 0.02e9 };
	drive(&w, &(struct dig_options){ .for_ns = 50e9, .budget = 0.1 }, text, sizeof(text));
	CHECK_INT(w.waits, 0, "who may spend more need not wait");
	dig_release(&w.dig);
}

/* A program in which hooks have cost much is one in which watching does. */
TEST(dig_waits_longer_for_watching_where_hooks_were_dear)
{
	struct world cheap = { .slow = true, .has_inside = true, .spends = 0.01e9 };
	struct world dear = { .slow = true, .has_inside = true, .spends = 0.1e9 };
	char text[2000];

	drive(&cheap, &usual, text, sizeof(text));
	drive(&dear, &usual, text, sizeof(text));
	CHECK(dear.now > cheap.now + 10e9);
	CHECK(dear.now < 51e9);
	CHECK(strstr(text, "$1 == \"GIFT\""));
	dig_release(&cheap.dig);
	dig_release(&dear.dig);
}

/* Candidates are hooked from outside inwards, and no further than the first that returns. */
TEST(dig_hooks_deeper_only_where_nothing_has_returned)
{
	const struct sample_node *roots[TRAIL_ROOTS];
	char name[40];
	struct dig d;

	dig_init(&d, &usual);
	for (uint32_t i = 0; i < 9; i++) {
		snprintf(name, sizeof(name), "a.Frame%u.run()V", i);
		add(&d, i, name, i == 8 ? 80 : 1);
	}
	add(&d, 9, "b.PreparedStatement.executeQuery()V", 60);
	samples_seal(&d.fresh);
	samples_merge(&d.all, &d.fresh);
	d.all.vitals.samples = 100;
	CHECK_INT(trail_roots(&d.all, d.root_depth, 3, roots), 5, "and the statement");
	CHECK(slice_is(roots[4]->name, "b.PreparedStatement.executeQuery()V"));
	for (uint64_t r = 1; r < 4; r++) {
		measure_begin(&d.measure);
		measure_row(&d.measure,
			    &(struct measure_row){ 0, slice_str("a.Frame0.run()V"), 1, 0, 0 });
		measure_end(&d.measure);
	}
	CHECK(find_root_is_deeper(&d));
	for (uint64_t r = 1; r < 4; r++) {
		measure_begin(&d.measure);
		measure_row(&d.measure,
			    &(struct measure_row){ 0, slice_str("a.Frame2.run()V"), r, r, r });
		measure_end(&d.measure);
	}
	CHECK(!find_root_is_deeper(&d));
	dig_release(&d);
}
