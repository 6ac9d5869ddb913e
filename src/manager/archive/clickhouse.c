/* SPDX-License-Identifier: Apache-2.0 */
/* clickhouse.c - writing: the rows of all jobs of a commit are one batch, which is on disk in the spool
 * before anybody is told that it is kept, and goes to the server from there.  A batch that the
 * server may have got is sent again as it was: rows of the same key replace each other. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "manager/archive/clickhouse_priv.h"
#include "manager/figures/varint.h"
#include "manager/log.h"

enum { SWEEP_EVERY_MS = 600000, FRAME = 9 };
static const uint64_t day_ms = 86400000;

/* ---- rows ---- */

static void put_number(struct buf *out, uint64_t v)
{
	for (unsigned i = 0; i < 8; i++)
		buf_u8(out, (uint8_t)(v >> 8 * i));
}

static void put_small(struct buf *out, uint32_t v)
{
	for (unsigned i = 0; i < 4; i++)
		buf_u8(out, (uint8_t)(v >> 8 * i));
}

static void put_text(struct buf *out, struct slice s)
{
	varint_put(out, s.n);
	buf_put(out, s);
}

static uint64_t job_number(struct clickhouse *c)
{
	return c->run_id + ++c->jobs;
}

static uint64_t version_now(struct clickhouse *c)
{
	return clock_day_ms() << 20 | (++c->jobs & 0xfffff);
}

void clickhouse_put_doc(struct clickhouse *c, struct buf *out, const struct clickhouse_doc *d)
{
	put_text(out, slice_str(d->kind));
	put_text(out, d->key);
	put_text(out, d->app);
	put_number(out, d->at);
	put_number(out, d->number);
	put_text(out, d->who);
	put_text(out, d->comment);
	put_text(out, d->text);
	put_number(out, version_now(c));
}

static int put_doc(struct clickhouse *c, const struct clickhouse_doc *d)
{
	clickhouse_put_doc(c, &c->rows[T_DOC], d);
	return 0;
}

static void put_sums(struct buf *out, const uint64_t *sums, uint64_t max_ns)
{
	for (unsigned i = 0; i < SUMS; i++)
		put_number(out, sums[i]);
	put_number(out, max_ns);
}

static int run_figures(struct clickhouse *c, const struct job_figures *j)
{
	struct buf *figures = &c->rows[T_FIGURE], *bases = &c->rows[T_BASE];
	uint64_t job = job_number(c), version = version_now(c);

	for (size_t i = 0; i < j->n; i++) {
		const struct archive_figure *f = &j->rows[i];

		put_text(figures, j->app);
		put_text(figures, f->method);
		put_number(figures, f->slot_ms - f->slot_ms % archive_step_ms[0]);
		put_text(figures, j->instance);
		put_number(figures, job);
		put_small(figures, (uint32_t)i);
		put_sums(figures, f->sums, f->max_ns);
		put_number(figures, f->active_peak);
		put_text(figures, f->spread);
	}
	for (size_t i = 0; i < j->n_bases; i++) {
		const struct archive_base *b = &j->bases[i];

		put_text(bases, j->instance);
		put_small(bases, b->id);
		put_text(bases, b->method);
		put_sums(bases, b->sums, b->max_ns);
		put_text(bases, b->raw);
		put_number(bases, clock_day_ms());
		put_number(bases, version);
	}
	return 0;
}

/* Its time in front: a number says where its row is. */
static uint64_t trace_number(struct clickhouse *c, uint64_t when_ms)
{
	return when_ms << 22 | ((c->run_id >> 40 & 1023) << 12) | (++c->jobs & 4095);
}

static void put_data(struct clickhouse *c, const struct archive_trace *t, uint64_t id)
{
	struct buf *out = &c->rows[T_DATA];
	struct slice rest = t->data, part[2];

	while (archive_pair(&rest, part)) {
		put_text(out, part[0]);
		put_text(out, part[1]);
		put_number(out, t->when_ms);
		put_number(out, id);
	}
}

static int run_trace(struct clickhouse *c, const struct job_trace *j)
{
	const struct archive_trace *t = &j->t;
	struct buf *out = &c->rows[T_TRACE];
	uint64_t id = trace_number(c, t->when_ms);

	put_number(out, id);
	put_text(out, t->app);
	put_text(out, t->instance);
	put_text(out, t->root);
	put_number(out, t->when_ms);
	put_number(out, t->elapsed_ns);
	put_small(out, t->flags);
	put_small(out, t->calls);
	put_small(out, t->parts);
	put_text(out, t->thread);
	put_text(out, t->data);
	put_text(out, j->press.packed);
	put_data(c, t, id);
	return 0;
}

static int run_audit(struct clickhouse *c, const struct job_audit *j)
{
	struct buf *out = &c->rows[T_AUDIT];

	put_number(out, j->at_ms);
	put_number(out, job_number(c));
	put_text(out, j->who);
	put_text(out, j->role);
	put_text(out, j->from);
	put_text(out, j->action);
	put_text(out, j->target);
	put_text(out, j->detail);
	put_small(out, (uint32_t)j->status);
	return 0;
}

static int run_doc(struct clickhouse *c, const struct archive_job *job)
{
	const struct job_instance *i = (const void *)job;
	const struct job_dig *d = (const void *)job;
	const struct job_alert *a = (const void *)job;
	const struct job_carried *r = (const void *)job;

	switch (job->kind) {
	case JOB_INSTANCE:
		return put_doc(c, &(struct clickhouse_doc){ .kind = "instance",
							    .key = i->ident,
							    .app = i->app,
							    .text = i->text,
							    .at = i->seen_ms });
	case JOB_DIG:
		return put_doc(c, &(struct clickhouse_doc){ .kind = "dig",
							    .key = d->id,
							    .app = d->app,
							    .text = d->doc,
							    .at = d->started_ms });
	case JOB_ALERT:
		return put_doc(c, &(struct clickhouse_doc){ .kind = "alert",
							    .key = a->id,
							    .app = a->app,
							    .text = a->doc,
							    .at = a->began_ms,
							    .number = a->ended_ms });
	default:
		return put_doc(c, &(struct clickhouse_doc){ .kind = "carried",
							    .key = r->instance,
							    .text = r->texts,
							    .at = r->at_ms });
	}
}

static int run_any(struct clickhouse *c, struct archive_job *job)
{
	switch (job->kind) {
	case JOB_FIGURES:
		return run_figures(c, (const void *)job);
	case JOB_TRACE:
		return run_trace(c, (const void *)job);
	case JOB_PLAN:
		return clickhouse_plan(c, (const void *)job);
	case JOB_AUDIT:
		return run_audit(c, (const void *)job);
	default:
		return run_doc(c, job);
	}
}

/* ---- batches ---- */

static void clear(struct clickhouse *c)
{
	for (unsigned t = 0; t < TABLES; t++)
		buf_clear(&c->rows[t]);
}

static bool begin(void *back)
{
	clear(back);
	return true;
}

/* Rows of a job that fails are cut off again. */
static int run(void *back, struct archive_job *job)
{
	struct clickhouse *c = back;
	size_t before[TABLES];
	int rc;

	for (unsigned t = 0; t < TABLES; t++)
		before[t] = c->rows[t].n;
	rc = run_any(c, job);
	for (unsigned t = 0; t < TABLES; t++)
		if (c->rows[t].err && rc >= 0)
			rc = c->rows[t].err;
	for (unsigned t = 0; t < TABLES && rc < 0; t++) {
		c->rows[t].n = before[t];
		c->rows[t].err = 0;
	}
	return rc;
}

static bool is_lost(void *back)
{
	(void)back;
	return false;
}

/* Table, length, rows; and so on. */
static int send_batch(void *ctx, struct slice batch)
{
	struct clickhouse *c = ctx;
	int rc = c->has_tables && batch.n ? 0 : clickhouse_make_tables(c);

	c->has_tables = rc >= 0;
	while (rc >= 0 && batch.n >= FRAME) {
		uint64_t n = 0;

		for (unsigned i = 0; i < 8; i++)
			n |= (uint64_t)batch.p[1 + i] << 8 * i;
		if (batch.p[0] >= TABLES || n > batch.n - FRAME)
			return E_DAMAGED;
		rc = clickhouse_insert(c, batch.p[0], (struct slice){ batch.p + FRAME, n });
		batch = (struct slice){ batch.p + FRAME + n, batch.n - FRAME - n };
	}
	return rc;
}

static void drain(void *back)
{
	outbox_drain(&((struct clickhouse *)back)->outbox);
}

static bool commit(void *back)
{
	struct clickhouse *c = back;
	struct buf batch = { 0 };
	bool good;

	for (unsigned t = 0; t < TABLES; t++) {
		if (!c->rows[t].n)
			continue;
		buf_u8(&batch, t);
		put_number(&batch, c->rows[t].n);
		buf_put(&batch, buf_slice(&c->rows[t]));
	}
	good = !batch.err && outbox_put(&c->outbox, buf_slice(&batch));
	buf_release(&batch);
	clear(c);
	drain(c);
	return good;
}

static void rollback(void *back)
{
	clear(back);
}

/* ---- what goes again ---- */

static void drop_days(struct clickhouse *c, enum clickhouse_table table, uint64_t before_ms)
{
	struct buf sql = { 0 }, days = { 0 };
	time_t at = (time_t)(before_ms / 1000);
	char day[16];
	struct tm tm;

	strftime(day, sizeof(day), "%Y-%m-%d", gmtime_r(&at, &tm));
	buf_printf(
		&sql,
		"SELECT DISTINCT partition FROM system.parts WHERE database = '%s' AND table = '%s'"
		" AND active AND partition < '%s' FORMAT TabSeparated",
		c->database, clickhouse_tables[table], day);
	if (clickhouse_run(c, buf_slice(&sql), &days) >= 0) {
		for (size_t i = 0; i + 10 < days.n; i += 11) { /* "2026-11-19\n" */
			buf_clear(&sql);
			buf_printf(&sql, "ALTER TABLE %s DROP PARTITION '%.10s'",
				   clickhouse_tables[table], (const char *)days.p + i);
			clickhouse_run(c, buf_slice(&sql), NULL);
		}
	}
	buf_release(&days);
	buf_release(&sql);
}

static void see_size(struct clickhouse *c)
{
	struct buf sql = { 0 }, answer = { 0 };

	buf_printf(&sql,
		   "SELECT toUInt64(sum(bytes)) FROM system.parts WHERE database = '%s' AND active"
		   " FORMAT TabSeparated",
		   c->database);
	if (clickhouse_run(c, buf_slice(&sql), &answer) >= 0) {
		buf_u8(&answer, 0);
		if (!answer.err)
			__atomic_store_n(&c->bytes, strtoull((char *)answer.p, NULL, 10),
					 __ATOMIC_RELAXED);
	}
	buf_release(&answer);
	buf_release(&sql);
}

static bool sweep(void *back)
{
	struct clickhouse *c = back;
	uint64_t now = clock_day_ms(), keep = c->limits.keep_days * day_ms;

	if (outbox_is_down(&c->outbox) || now - c->swept_ms < SWEEP_EVERY_MS)
		return false;
	c->swept_ms = now;
	drop_days(c, T_FIGURE, now > keep ? now - keep : 0);
	drop_days(c, T_TRACE, now > keep ? now - keep : 0);
	drop_days(c, T_DATA, now > keep ? now - keep : 0);
	drop_days(c, T_AUDIT, now > keep ? now - keep : 0);
	see_size(c);
	return false;
}

/* ---- open and close ---- */

static bool is_plain(const char *name)
{
	return name[0] &&
	       name[strspn(name,
			   "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_")] ==
		       '\0';
}

/* "clickhouse://USER:PASSWORD@HOST:PORT/DATABASE" */
static int read_place(struct clickhouse *c, const char *where)
{
	const char *rest = where + strlen("clickhouse://"), *at = strrchr(rest, '@'), *colon,
		   *slash;
	int n;

	if (at) {
		colon = memchr(rest, ':', (size_t)(at - rest));
		n = (int)((colon ? colon : at) - rest);
		snprintf(c->user, sizeof(c->user), "X-ClickHouse-User: %.*s", n, rest);
		if (colon)
			snprintf(c->key, sizeof(c->key), "X-ClickHouse-Key: %.*s",
				 (int)(at - colon - 1), colon + 1);
		rest = at + 1;
	}
	slash = strchr(rest, '/');
	snprintf(c->database, sizeof(c->database), "%s", slash && slash[1] ? slash + 1 : "default");
	n = (int)(slash ? (size_t)(slash - rest) : strlen(rest));
	snprintf(c->url, sizeof(c->url), "http://%.*s/?database=%s", n < 900 ? n : 900, rest,
		 c->database);
	if (n > 0 && is_plain(c->database) && post_is_url(c->url))
		return 0;
	log_put(LOG_ERROR, "--store wants clickhouse://[USER[:PASSWORD]@]HOST:PORT/DATABASE");
	return E_USAGE;
}

static void close_all(void *back)
{
	struct clickhouse *c = back;

	for (unsigned i = 0; i < ASKERS; i++)
		post_close(c->askers[i]);
	for (unsigned t = 0; t < TABLES; t++)
		buf_release(&c->rows[t]);
	outbox_close(&c->outbox);
	mem_free(c);
}

/* A server that does not answer may come later; one that refuses what is asked of it is another's. */
static int open_all(void **back, const struct archive_place *place)
{
	struct clickhouse *c = mem_alloc(sizeof(*c));
	int rc;

	if (!c)
		return E_NO_MEMORY;
	*c = (struct clickhouse){ .limits = place->limits };
	c->outbox = (struct outbox){
		.name = "clickhouse", .send = send_batch, .ctx = c, .most = place->limits.keep_bytes
	};
	pthread_mutex_init(&c->asking, NULL);
	pthread_cond_init(&c->free, NULL);
	c->run_id = clock_day_ms() * 0x9e3779b97f4a7c15u ^ (uint64_t)getpid() << 44;
	c->outbox.spool.lock_fd = -1;
	rc = read_place(c, place->where);
	if (rc >= 0)
		rc = outbox_open(&c->outbox, place->spool);
	if (rc >= 0)
		rc = clickhouse_make_tables(c);
	c->has_tables = rc >= 0;
	if (rc == E_IO)
		outbox_say(&c->outbox, true);
	else if (rc >= 0)
		drain(c);
	if (rc < 0 && rc != E_IO) {
		close_all(c);
		return rc;
	}
	*back = c;
	return 0;
}

static uint64_t bytes(void *back)
{
	return __atomic_load_n(&((struct clickhouse *)back)->bytes, __ATOMIC_RELAXED);
}

static uint64_t waiting(void *back)
{
	return outbox_waiting(&((struct clickhouse *)back)->outbox);
}

static bool is_away(void *back)
{
	return outbox_is_down(&((struct clickhouse *)back)->outbox);
}

const struct archive_engine clickhouse_engine = {
	.open = open_all,
	.close = close_all,
	.bytes = bytes,
	.waiting = waiting,
	.is_away = is_away,
	.begin = begin,
	.run = run,
	.is_lost = is_lost,
	.commit = commit,
	.rollback = rollback,
	.tick = drain,
	.sweep = sweep,
	.bases = clickhouse_bases,
	.figures = clickhouse_figures,
	.traces = clickhouse_traces,
	.trace = clickhouse_trace,
	.plans = clickhouse_plans,
	.digs = clickhouse_digs,
	.dig = clickhouse_dig,
	.alerts = clickhouse_alerts,
	.carried = clickhouse_carried,
	.audit = clickhouse_audit,
};
