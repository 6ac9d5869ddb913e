/* SPDX-License-Identifier: Apache-2.0 */
/* Who has what others wait for: requests wait for a connection of a pool that a job has emptied. */
#define _GNU_SOURCE
#include <string.h>

#include "plan/dig/dig.h"
#include "plan/dig/holder.h"
#include "test.h"

#define HANDLE "shop.Web.handle()V"
#define LOAD "shop.Dao.load()V"
#define BORROW "org.pool.core.Source.getConnection()V"
#define BAG "org.pool.core.util.Bag.borrow()V"
#define RUN "shop.Report.run()V"
#define COLLECT "shop.Report.collect()V"
#define OTHER "shop.Mail.send()V"

static const struct dig_options usual = { .for_ns = 50e9, .budget = 0.01 };

static void add(struct dig *d, uint32_t depth, const char *name, enum sample_state state,
		uint64_t n)
{
	struct sample_row row = { .depth = depth, .name = slice_str(name) };

	row.self[state] = n;
	samples_add(&d->all, &row);
}

/* Requests wait for 60 of 100 looks; the job sleeps in 40, and mail is sent in 90. */
static void begin(struct dig *d, enum kind kind)
{
	static const char *const path[] = { HANDLE, LOAD, BORROW, BAG };

	dig_init(d, &usual);
	add(d, 0, HANDLE, SAMPLE_RUNNING, 2);
	add(d, 1, LOAD, SAMPLE_RUNNING, 1);
	add(d, 2, BORROW, SAMPLE_RUNNING, 1);
	add(d, 3, BAG, SAMPLE_RUNNING, 1);
	add(d, 4, "java.util.concurrent.SynchronousQueue.poll()V", SAMPLE_PARKED, 60);
	add(d, 0, RUN, SAMPLE_RUNNING, 1);
	add(d, 1, COLLECT, SAMPLE_RUNNING, 1);
	add(d, 2, "java.lang.Thread.sleep(J)V", SAMPLE_SLEEPING, 40);
	add(d, 0, OTHER, SAMPLE_RUNNING, 90);
	d->all.vitals = (struct sample_vitals){ .samples = 100 };
	samples_seal(&d->all);
	d->answer.verdict = DIG_METHOD;
	d->answer.root = d->dug = slice_str(HANDLE);
	for (size_t i = 0; i < COUNT(path); i++)
		d->answer.path[d->answer.n_path++] = slice_str(path[i]);
	d->answer.guilty = slice_str(BAG);
	d->answer.kind = kind;
}

/* Answers what dig asks: the job calls `collects`, mail calls `mails`. */
static void ask(struct dig *d, const char *collects, const char *mails)
{
	for (struct slice m; (m = holder_next(d)).n; holder_asked(d)) {
		CHECK(!slice_is(m, BAG) && !slice_is(m, BORROW) && !slice_is(m, LOAD));
		if (slice_is(m, COLLECT))
			holder_callee(d, slice_str(collects));
		if (slice_is(m, OTHER))
			holder_callee(d, slice_str(mails));
		holder_callee(d, slice_str("java.lang.Thread.sleep(J)V"));
	}
	holder_end(d);
}

TEST(who_takes_what_others_wait_for_is_named)
{
	struct buf text = { 0 };
	struct dig d;

	begin(&d, KIND_QUEUE);
	CHECK(holder_begin(&d));
	ask(&d, BORROW, "java.util.concurrent.LinkedBlockingQueue.put()V");
	CHECK(slice_is(d.answer.taken_by, COLLECT));
	CHECK(d.answer.taken_surely);
	CHECK_INT(d.answer.taken_kind, KIND_SLEEP, NULL);
	CHECK(d.answer.taken_share > 0.4 && d.answer.taken_share < 0.42);
	dig_print(&d, &text);
	CHECK(memmem(text.p, text.n,
		     "; shop.Report.collect, which takes the same, sleeps meanwhile (in 41 % of",
		     72));
	buf_release(&text);
	dig_release(&d);
}

TEST(who_takes_something_of_the_kind_is_told_as_less_sure)
{
	struct dig d;

	begin(&d, KIND_QUEUE);
	CHECK(holder_begin(&d));
	ask(&d, "shop.Book.note()V", "java.util.concurrent.BlockingQueue.poll()V");
	CHECK(slice_is(d.answer.taken_by, OTHER));
	CHECK(!d.answer.taken_surely);
	dig_release(&d);
}

TEST(nobody_is_named_who_takes_nothing_of_the_kind)
{
	struct dig d;

	begin(&d, KIND_SEMAPHORE);
	CHECK(holder_begin(&d));
	ask(&d, "shop.Book.note()V", "java.util.concurrent.BlockingQueue.poll()V");
	CHECK(!d.answer.taken_by.n);
	dig_release(&d);
}

TEST(nobody_is_looked_for_where_the_jvm_knows_the_owner)
{
	struct dig d;

	begin(&d, KIND_LOCK);
	d.answer.lock_holder = slice_str(COLLECT);
	CHECK(!holder_begin(&d));
	dig_release(&d);
	begin(&d, KIND_CPU);
	CHECK(!holder_begin(&d));
	dig_release(&d);
}
