/* SPDX-License-Identifier: Apache-2.0 */
/* clickhouse_read.c - the same questions as sqlite_read.c; answers come as RowBinary: numbers in little
 * endian, texts behind their length. */
#include <stdio.h>

#include "manager/archive/blob.h"
#include "manager/archive/clickhouse_priv.h"
#include "manager/figures/spread.h"
#include "manager/figures/varint.h"

/* ---- rows ---- */

struct rows {
	struct buf answer;
	struct slice rest;
	bool damaged;
};

static int ask(struct clickhouse *c, struct buf *sql, struct rows *r)
{
	int rc = sql->err;

	*r = (struct rows){ 0 };
	buf_text(sql, " FORMAT RowBinary");
	if (rc >= 0)
		rc = clickhouse_run(c, buf_slice(sql), &r->answer);
	buf_release(sql);
	if (rc >= 0)
		rc = r->answer.err;
	r->rest = buf_slice(&r->answer);
	if (rc < 0)
		buf_release(&r->answer);
	return rc < 0 ? E_IO : 0;
}

static bool more(const struct rows *r)
{
	return r->rest.n && !r->damaged;
}

static int answered(struct rows *r)
{
	buf_release(&r->answer);
	return r->damaged ? E_IO : 0;
}

static uint64_t number(struct rows *r, unsigned bytes)
{
	uint64_t v = 0;

	if (r->rest.n < bytes) {
		r->damaged = true;
		r->rest.n = 0;
		return 0;
	}
	for (unsigned i = 0; i < bytes; i++)
		v |= (uint64_t)r->rest.p[i] << 8 * i;
	r->rest = (struct slice){ r->rest.p + bytes, r->rest.n - bytes };
	return v;
}

static struct slice text(struct rows *r)
{
	struct slice s = { r->rest.p, 0 };
	uint64_t n;

	if (!varint_take(&r->rest, &n) || n > r->rest.n) {
		r->damaged = true;
		r->rest.n = 0;
		return s;
	}
	s = (struct slice){ r->rest.p, n };
	r->rest = (struct slice){ r->rest.p + n, r->rest.n - n };
	return s;
}

/* " AND COLUMN = 'value'", unless it may be any. */
static void put_is(struct buf *sql, const char *column, struct slice value)
{
	if (!value.n)
		return;
	buf_printf(sql, " AND %s = ", column);
	clickhouse_quote(sql, value);
}

/* ---- figures ---- */

#define SUM_COLUMNS "calls, errors, timed, total, self, stalls, cpu, blocked, allocated, max"

/* What waits in the spool has newer ones. */
int clickhouse_bases(void *back, struct slice instance, archive_on_base *on, void *ctx)
{
	struct clickhouse *c = back;
	struct buf sql = { 0 };
	struct rows r;
	int rc;

	if (outbox_waiting(&c->outbox))
		return E_IO;
	buf_text(&sql, "SELECT id, method, " SUM_COLUMNS ", raw FROM base FINAL WHERE 1");
	put_is(&sql, "instance", instance);
	buf_text(&sql, " ORDER BY id");
	rc = ask(c, &sql, &r);
	if (rc < 0)
		return rc;
	while (more(&r)) {
		struct archive_base b = { .id = (uint32_t)number(&r, 4) };

		b.method = text(&r);
		for (int i = 0; i < SUMS; i++)
			b.sums[i] = number(&r, 8);
		b.max_ns = number(&r, 8);
		b.raw = text(&r);
		if (!r.damaged)
			on(ctx, &b);
	}
	return answered(&r);
}

static void read_spreads(struct rows *r, struct buf *out)
{
	struct call_spread all = { 0 };
	uint64_t n;

	if (!varint_take(&r->rest, &n))
		r->damaged = true;
	for (; !r->damaged && n; n--)
		spread_add(&all, text(r));
	spread_put(&all, out);
}

static void put_figures_sql(const struct archive_span *span, struct buf *sql)
{
	uint64_t step = archive_step_ms[span->level], from = span->from_ms - span->from_ms % step;
	uint64_t end = span->to_ms > UINT64_MAX - step ? UINT64_MAX
						       : span->to_ms - span->to_ms % step + step;

	buf_printf(sql,
		   "SELECT method, intDiv(slot, %llu) * %llu AS begin, sum(calls), sum(errors),"
		   " sum(timed), sum(total), sum(self), sum(stalls), sum(cpu), sum(blocked),"
		   " sum(allocated), max(max), max(peak), groupArray(spread) FROM figure FINAL"
		   " WHERE slot >= %llu AND slot < %llu",
		   (unsigned long long)step, (unsigned long long)step, (unsigned long long)from,
		   (unsigned long long)end);
	buf_text(sql, " AND app = ");
	clickhouse_quote(sql, span->app);
	put_is(sql, "method", span->method);
	put_is(sql, "instance", span->instance);
	buf_text(sql, " GROUP BY method, begin, instance ORDER BY method, begin, instance");
}

int clickhouse_figures(void *back, const struct archive_span *span, archive_on_figure *on,
		       void *ctx)
{
	struct buf sql = { 0 }, spread = { 0 };
	struct rows r;
	int rc;

	put_figures_sql(span, &sql);
	rc = ask(back, &sql, &r);
	if (rc < 0)
		return rc;
	while (more(&r)) {
		struct archive_figure f = { .method = text(&r) };

		f.slot_ms = number(&r, 8);
		for (int i = 0; i < SUMS; i++)
			f.sums[i] = number(&r, 8);
		f.max_ns = number(&r, 8);
		f.active_peak = number(&r, 8);
		buf_clear(&spread);
		read_spreads(&r, &spread);
		f.spread = buf_slice(&spread);
		if (!r.damaged)
			on(ctx, &f);
	}
	buf_release(&spread);
	return answered(&r);
}

/* ---- transactions ---- */

static const char trace_columns[] =
	"id, app, instance, root, thread, at, elapsed, flags, calls, parts, data";

static struct archive_trace read_trace(struct rows *r)
{
	struct archive_trace t = { .id = number(r, 8) };

	t.app = text(r);
	t.instance = text(r);
	t.root = text(r);
	t.thread = text(r);
	t.when_ms = number(r, 8);
	t.elapsed_ns = number(r, 8);
	t.flags = (uint32_t)number(r, 4);
	t.calls = (uint32_t)number(r, 4);
	t.parts = (uint32_t)number(r, 4);
	t.data = text(r);
	return t;
}

static void put_number(struct buf *sql, const char *what, uint64_t v)
{
	buf_printf(sql, " AND %s %llu", what, (unsigned long long)v);
}

static void put_position(struct buf *sql, const char *column, struct slice value)
{
	buf_printf(sql, "position(%s, ", column);
	clickhouse_quote(sql, value);
	buf_text(sql, ") > 0");
}

static void put_data(const struct archive_filter *f, struct buf *sql)
{
	for (unsigned i = 0; i < f->n_data; i++) {
		buf_text(sql, " AND id IN (SELECT id FROM data WHERE name = ");
		clickhouse_quote(sql, f->data[i][0]);
		buf_text(sql, " AND value = ");
		clickhouse_quote(sql, f->data[i][1]);
		put_number(sql, "at >=", f->from_ms);
		put_number(sql, "at <=", f->to_ms);
		buf_text(sql, ")");
	}
}

static void put_traces_sql(const struct archive_filter *f, struct buf *sql)
{
	buf_printf(sql, "SELECT %s FROM trace WHERE 1", trace_columns);
	put_number(sql, "at >=", f->from_ms);
	put_number(sql, "at <=", f->to_ms);
	put_number(sql, "elapsed >=", f->min_ns);
	put_number(sql, "elapsed <=", f->max_ns);
	if (f->before_ms)
		buf_printf(sql, " AND (at < %llu OR (at = %llu AND id < %llu))",
			   (unsigned long long)f->before_ms, (unsigned long long)f->before_ms,
			   (unsigned long long)f->before_id);
	if (f->flags)
		buf_printf(sql, " AND bitAnd(flags, %u) = %u", f->flags, f->flags);
	put_is(sql, "app", f->app);
	put_is(sql, "instance", f->instance);
	if (f->root.n) {
		buf_text(sql, " AND ");
		put_position(sql, "root", f->root);
	}
	if (f->q.n) {
		buf_text(sql, " AND (");
		put_position(sql, "root", f->q);
		buf_text(sql, " OR ");
		put_position(sql, "thread", f->q);
		buf_text(sql, " OR ");
		put_position(sql, "data", f->q);
		buf_text(sql, ")");
	}
	put_data(f, sql);
	/* one that was sent twice may be in twice until its parts are merged */
	buf_printf(sql, " ORDER BY at DESC, id DESC LIMIT 1 BY id LIMIT %u", f->limit);
}

int clickhouse_traces(void *back, const struct archive_filter *f, archive_on_trace *on, void *ctx)
{
	struct buf sql = { 0 };
	struct rows r;
	int rc;

	put_traces_sql(f, &sql);
	rc = ask(back, &sql, &r);
	if (rc < 0)
		return rc;
	while (more(&r)) {
		struct archive_trace t = read_trace(&r);

		if (!r.damaged)
			on(ctx, &t);
	}
	return answered(&r);
}

int clickhouse_trace(void *back, uint64_t id, struct buf *blob, archive_on_trace *on, void *ctx)
{
	struct buf sql = { 0 };
	struct rows r;
	int rc;

	buf_printf(&sql, "SELECT %s, blob FROM trace WHERE at = %llu AND id = %llu LIMIT 1",
		   trace_columns, (unsigned long long)(id >> 22), (unsigned long long)id);
	rc = ask(back, &sql, &r);
	if (rc < 0)
		return rc;
	rc = E_NOT_FOUND;
	if (more(&r)) {
		struct archive_trace t = read_trace(&r);
		struct slice packed = text(&r);

		rc = r.damaged ? E_DAMAGED : blob_expand(packed, blob);
		if (rc >= 0)
			on(ctx, &t);
	}
	answered(&r);
	return rc;
}

/* ---- plans, digs, alerts, audit ---- */

int clickhouse_plans(void *back, struct slice app, uint64_t version, unsigned limit,
		     archive_on_plan *on, void *ctx)
{
	struct buf sql = { 0 };
	struct rows r;
	int rc;

	buf_text(&sql,
		 "SELECT app, number, at, who, comment, text FROM doc FINAL WHERE kind = 'plan'");
	put_is(&sql, "app", app);
	if (app.n && version)
		put_number(&sql, "number =", version);
	buf_printf(&sql, " ORDER BY number DESC%s LIMIT %u", app.n ? "" : " LIMIT 1 BY app", limit);
	rc = ask(back, &sql, &r);
	if (rc < 0)
		return rc;
	while (more(&r)) {
		struct archive_plan p = { .app = text(&r) };

		p.version = number(&r, 8);
		p.changed_ms = number(&r, 8);
		p.by = text(&r);
		p.comment = text(&r);
		p.doc = text(&r);
		if (!r.damaged)
			on(ctx, &p);
	}
	return answered(&r);
}

static int hand_texts(void *back, struct buf *sql, archive_on_text *on, void *ctx)
{
	struct rows r;
	int rc = ask(back, sql, &r);

	if (rc < 0)
		return rc;
	while (more(&r)) {
		struct slice doc = text(&r);

		if (!r.damaged)
			on(ctx, doc);
	}
	return answered(&r);
}

int clickhouse_digs(void *back, struct slice app, unsigned limit, archive_on_text *on, void *ctx)
{
	struct buf sql = { 0 };

	buf_text(&sql, "SELECT text FROM doc FINAL WHERE kind = 'dig'");
	put_is(&sql, "app", app);
	buf_printf(&sql, " ORDER BY at DESC LIMIT %u", limit);
	return hand_texts(back, &sql, on, ctx);
}

int clickhouse_dig(void *back, struct slice id, archive_on_text *on, void *ctx)
{
	struct buf sql = { 0 };

	buf_text(&sql, "SELECT text FROM doc FINAL WHERE kind = 'dig' AND key = ");
	clickhouse_quote(&sql, id);
	return hand_texts(back, &sql, on, ctx);
}

int clickhouse_alerts(void *back, const struct archive_alerts *which, archive_on_text *on,
		      void *ctx)
{
	struct buf sql = { 0 };

	buf_text(&sql, "SELECT text FROM doc FINAL WHERE kind = 'alert'");
	put_is(&sql, "app", which->app);
	put_is(&sql, "key", which->id);
	if (which->open)
		buf_text(&sql, " AND number = 0");
	buf_printf(&sql, " ORDER BY at DESC, key DESC LIMIT %u", which->limit);
	return hand_texts(back, &sql, on, ctx);
}

int clickhouse_carried(void *back, archive_on_carried *on, void *ctx)
{
	struct buf sql = { 0 };
	struct rows r;
	int rc;

	buf_text(&sql, "SELECT key, text FROM doc FINAL WHERE kind = 'carried' AND text != ''");
	rc = ask(back, &sql, &r);
	if (rc < 0)
		return rc;
	while (more(&r)) {
		struct slice instance = text(&r), texts = text(&r);

		if (!r.damaged)
			on(ctx, instance, texts);
	}
	return answered(&r);
}

int clickhouse_audit(void *back, unsigned limit, archive_on_audit *on, void *ctx)
{
	struct buf sql = { 0 };
	struct rows r;
	int rc;

	buf_printf(&sql,
		   "SELECT at, who, role, origin, action, target, detail, status FROM audit FINAL"
		   " ORDER BY at DESC, job DESC LIMIT %u",
		   limit);
	rc = ask(back, &sql, &r);
	if (rc < 0)
		return rc;
	while (more(&r)) {
		struct job_audit a = { .at_ms = number(&r, 8) };

		a.who = text(&r);
		a.role = text(&r);
		a.from = text(&r);
		a.action = text(&r);
		a.target = text(&r);
		a.detail = text(&r);
		a.status = (int)number(&r, 4);
		if (!r.damaged)
			on(ctx, &a);
	}
	return answered(&r);
}
