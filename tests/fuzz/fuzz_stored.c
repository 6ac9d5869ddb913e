/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_stored.c - any bytes as what comes back from a store, or is posted by a client: rows of ClickHouse,
 * plans, alerts.  The first byte says which.  What was read of a plan or an alert is written, and read
 * again as the same. */
#include <stdlib.h>

#include "manager/archive/clickhouse_priv.h"
#include "manager/fleet/plan.h"
#include "manager/watch/alerts.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct slice answer;

static void need(bool held)
{
	if (!held)
		abort();
}

/* ---- instead of the server ---- */

int clickhouse_run(struct clickhouse *c, struct slice sql, struct buf *out)
{
	(void)c;
	need(sql.n > 0);
	buf_put(out, answer);
	return 0;
}

void clickhouse_quote(struct buf *sql, struct slice text)
{
	(void)text;
	buf_text(sql, "''");
}

int clickhouse_insert(struct clickhouse *c, enum clickhouse_table table, struct slice sent)
{
	(void)c;
	(void)table;
	(void)sent;
	return E_IO;
}

int clickhouse_make_tables(struct clickhouse *c)
{
	(void)c;
	return E_IO;
}

const char *const clickhouse_tables[TABLES] = { 0 };

/* ---- rows ---- */

static uint64_t seen;

/* All of it is there to be read. */
static void touch(struct slice s)
{
	for (size_t i = 0; i < s.n; i++)
		seen += s.p[i];
}

static void on_base(void *ctx, const struct archive_base *b)
{
	(void)ctx;
	touch(b->method);
	touch(b->raw);
}

static void on_figure(void *ctx, const struct archive_figure *f)
{
	(void)ctx;
	touch(f->method);
	touch(f->spread);
}

static void on_trace(void *ctx, const struct archive_trace *t)
{
	(void)ctx;
	touch(t->app);
	touch(t->instance);
	touch(t->root);
	touch(t->thread);
	touch(t->data);
}

static void on_plan(void *ctx, const struct archive_plan *p)
{
	(void)ctx;
	touch(p->app);
	touch(p->by);
	touch(p->comment);
	touch(p->doc);
}

static void on_text(void *ctx, struct slice text)
{
	(void)ctx;
	touch(text);
}

static void on_carried(void *ctx, struct slice instance, struct slice texts)
{
	(void)ctx;
	touch(instance);
	touch(texts);
}

static void on_audit(void *ctx, const struct job_audit *a)
{
	(void)ctx;
	touch(a->who);
	touch(a->role);
	touch(a->from);
	touch(a->action);
	touch(a->target);
	touch(a->detail);
}

static void rows(unsigned which)
{
	static struct clickhouse c;
	struct archive_span span = { .to_ms = 1000 };
	struct archive_filter filter = { .limit = 10 };
	struct archive_alerts alerts = { .limit = 10 };
	struct slice none = { 0 };
	struct buf blob = { 0 };

	switch (which) {
	case 0:
		clickhouse_bases(&c, none, on_base, NULL);
		break;
	case 1:
		clickhouse_figures(&c, &span, on_figure, NULL);
		break;
	case 2:
		clickhouse_traces(&c, &filter, on_trace, NULL);
		break;
	case 3:
		clickhouse_trace(&c, 1, &blob, on_trace, NULL);
		break;
	case 4:
		clickhouse_plans(&c, none, 0, 10, on_plan, NULL);
		break;
	case 5:
		clickhouse_alerts(&c, &alerts, on_text, NULL);
		break;
	case 6:
		clickhouse_carried(&c, on_carried, NULL);
		break;
	default:
		clickhouse_audit(&c, 10, on_audit, NULL);
		break;
	}
	buf_release(&blob);
}

/* ---- documents ---- */

static void plan(struct slice in)
{
	struct plan_draft d = { 0 }, again = { 0 };
	struct buf out = { 0 };
	struct json j = json_to(&out);

	if (plan_read(in, &d) == 0 && plan_draft_check(&d) == 0) {
		json_open(&j, '{');
		plan_json(&d.plan, &j);
		json_close(&j, '}');
		need(plan_read(buf_slice(&out), &again) == 0 && plan_draft_check(&again) == 0);
		need(again.plan.n == d.plan.n);
		for (size_t i = 0; i < d.plan.n; i++)
			need(strcmp(again.plan.rules[i].text, d.plan.rules[i].text) == 0);
	}
	plan_draft_release(&d);
	plan_draft_release(&again);
	buf_release(&out);
}

static void alert(struct slice in)
{
	struct alert *a = alert_read(in), *again;
	struct buf out = { 0 }, text = { 0 };
	struct json j = json_to(&out);

	if (!a)
		return;
	alert_json(a, &j);
	again = alert_read(buf_slice(&out));
	need(again && again->n == a->n && again->began_ms == a->began_ms);
	alert_text(again, &text);
	alert_free(a);
	alert_free(again);
	buf_release(&out);
	buf_release(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct slice in = { data + 1, size - 1 };

	if (!size)
		return 0;
	answer = in;
	if (data[0] < 8)
		rows(data[0]);
	else if (data[0] & 1)
		plan(in);
	else
		alert(in);
	return 0;
}
