/* SPDX-License-Identifier: Apache-2.0 */
/* api_trace.c - kept transactions: listed, as a map of time and duration, and one whole. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/json.h"
#include "export/otlp.h"
#include "export/perfetto.h"
#include "manager/figures/pack.h"
#include "manager/http/request.h"

enum { LIMIT = 100, LIMIT_MAX = 1000, COLUMNS = 80, ROWS = 30, CELLS_MAX = 400, MAP_MAX = 500000 };

/* ---- filters ---- */

static bool is_on(const struct api_request *c, const char *name)
{
	struct slice v = query_get(&c->query, name);

	return slice_is(v, "1") || slice_is(v, "true");
}

static void read_data(struct api_request *c, struct archive_filter *f)
{
	for (size_t i = 0; i < c->query.n; i++) {
		const struct query_param *p = &c->query.v[i];

		if (p->name.n <= 5 || memcmp(p->name.p, "data.", 5) != 0 ||
		    f->n_data == COUNT(f->data))
			continue;
		f->data[f->n_data][0] = (struct slice){ p->name.p + 5, p->name.n - 5 };
		f->data[f->n_data++][1] = p->value;
	}
}

/* "WHEN.ID", of a page before. */
static bool read_before(struct api_request *c, struct archive_filter *f)
{
	struct slice v = query_get(&c->query, "before");
	unsigned long long at, id;

	if (!v.n)
		return true;
	if (sscanf((const char *)v.p, "%llu.%llu", &at, &id) != 2)
		return false;
	f->before_ms = at;
	f->before_id = id;
	return true;
}

static bool read_filter(struct api_request *c, struct archive_filter *f)
{
	uint64_t limit = LIMIT;

	*f = (struct archive_filter){ .app = query_get(&c->query, "application"),
				      .instance = query_get(&c->query, "instance"),
				      .root = query_get(&c->query, "root"),
				      .q = query_get(&c->query, "q"),
				      .max_ns = UINT64_MAX };
	if (!request_span(c, &f->from_ms, &f->to_ms))
		return false;
	read_data(c, f);
	f->flags = (is_on(c, "failed") ? TX_IS_FAILED : 0u) | (is_on(c, "slow") ? TX_IS_SLOW : 0u);
	if (query_number(&c->query, "min_ns", 0, INT64_MAX, &f->min_ns) &&
	    query_number(&c->query, "max_ns", 0, INT64_MAX, &f->max_ns) &&
	    query_number(&c->query, "limit", 1, LIMIT_MAX, &limit) && read_before(c, f)) {
		f->limit = (unsigned)limit;
		return true;
	}
	request_fail(c, 400, "usage",
		     "min_ns, max_ns and limit (up to %d) are numbers, before is the "
		     "`next` of a page",
		     LIMIT_MAX);
	return false;
}

/* ---- the list ---- */

static void put_data(struct json *j, struct slice rest)
{
	json_put_open(j, "data", '{');
	while (rest.n) {
		const uint8_t *end = memchr(rest.p, 0, rest.n), *last;

		last = end ? memchr(end + 1, 0, rest.n - (size_t)(end + 1 - rest.p)) : NULL;
		if (!last)
			break;
		json_put_str(j, (const char *)rest.p,
			     (struct slice){ end + 1, (size_t)(last - end - 1) });
		rest = (struct slice){ last + 1, rest.n - (size_t)(last + 1 - rest.p) };
	}
	json_close(j, '}');
}

/* Members of an open object. */
static void put_row(struct json *j, const struct archive_trace *t)
{
	char id[24];

	snprintf(id, sizeof(id), "%llx", (unsigned long long)t->id);
	json_put_nonempty(j, "id", id);
	json_put_str(j, "application", t->app);
	json_put_str(j, "instance", t->instance);
	json_put_str(j, "root", t->root);
	json_put_str(j, "thread", t->thread);
	json_put_u64(j, "when_ms", t->when_ms);
	json_put_u64(j, "elapsed_ns", t->elapsed_ns);
	json_put_u64(j, "calls", t->calls);
	if (t->parts) /* else the parts themselves are there */
		json_put_u64(j, "parts", t->parts);
	json_put_bool(j, "failed", t->flags & TX_IS_FAILED);
	json_put_bool(j, "slow", t->flags & TX_IS_SLOW);
	json_put_bool(j, "sampled", t->flags & TX_IS_SAMPLED);
	json_put_bool(j, "cut", t->flags & TX_IS_CUT);
	put_data(j, t->data);
}

struct list {
	struct json j;
	unsigned n;
	uint64_t at, id;
};

static void list_row(void *ctx, const struct archive_trace *t)
{
	struct list *l = ctx;

	json_open(&l->j, '{');
	put_row(&l->j, t);
	json_close(&l->j, '}');
	l->n++;
	l->at = t->when_ms;
	l->id = t->id;
}

int api_traces(struct api_request *c)
{
	struct archive_filter f;
	struct list l = { 0 };
	char next[48];

	if (!read_filter(c, &f))
		return 400;
	l.j = request_json(c);
	json_put_open(&l.j, "traces", '[');
	if (archive_traces(c->f->store, &f, list_row, &l) < 0)
		return request_fail(c, 500, "store", "the store cannot be read");
	json_close(&l.j, ']');
	if (l.n == f.limit) {
		snprintf(next, sizeof(next), "%llu.%llu", (unsigned long long)l.at,
			 (unsigned long long)l.id);
		json_put_nonempty(&l.j, "next", next);
	}
	return request_end(&l.j, 200);
}

/* ---- the map ---- */

struct heat {
	uint64_t columns, rows, from, step, total;
	double low, high; /* logarithms */
	uint32_t *cells, *failed;
};

static void heat_row(void *ctx, const struct archive_trace *t)
{
	struct heat *h = ctx;
	double at = log((double)t->elapsed_ns + 1);
	uint64_t row =
		at <= h->low ? 0 : (uint64_t)((at - h->low) / (h->high - h->low) * (double)h->rows);
	uint64_t column = t->when_ms < h->from ? 0 : (t->when_ms - h->from) / h->step;

	row = row < h->rows ? row : h->rows - 1;
	column = column < h->columns ? column : h->columns - 1;
	h->cells[row * h->columns + column]++;
	h->failed[row * h->columns + column] += (t->flags & TX_IS_FAILED) != 0;
	h->total++;
}

/* Shortest and longest, to know the scale. */
static void range_row(void *ctx, const struct archive_trace *t)
{
	struct heat *h = ctx;
	double at = log((double)t->elapsed_ns + 1);

	h->low = at < h->low ? at : h->low;
	h->high = at > h->high ? at : h->high;
}

static void put_cells(struct json *j, const struct heat *h, const char *key, const uint32_t *cells)
{
	json_put_open(j, key, '[');
	for (uint64_t row = 0; row < h->rows; row++) {
		json_open(j, '[');
		for (uint64_t column = 0; column < h->columns; column++)
			json_u64(j, cells[row * h->columns + column]);
		json_close(j, ']');
	}
	json_close(j, ']');
}

static void put_heat(struct api_request *c, const struct heat *h)
{
	struct json j = request_json(c);

	json_put_u64(&j, "from_ms", h->from);
	json_put_u64(&j, "to_ms", h->from + h->step * h->columns);
	json_put_u64(&j, "step_ms", h->step);
	json_put_open(&j, "bounds_ns", '[');
	for (uint64_t i = 0; i <= h->rows; i++)
		json_u64(&j,
			 (uint64_t)exp(h->low + (h->high - h->low) * (double)i / (double)h->rows));
	json_close(&j, ']');
	put_cells(&j, h, "cells", h->cells);
	put_cells(&j, h, "failed", h->failed);
	json_put_u64(&j, "total", h->total);
	request_end(&j, 200);
}

int api_heatmap(struct api_request *c)
{
	struct heat h = { .columns = COLUMNS, .rows = ROWS, .low = 1e9, .high = 0 };
	struct archive_filter f;

	if (!read_filter(c, &f))
		return 400;
	if (!query_number(&c->query, "columns", 1, CELLS_MAX, &h.columns) ||
	    !query_number(&c->query, "rows", 1, CELLS_MAX, &h.rows))
		return request_fail(c, 400, "usage", "columns and rows are numbers up to %d",
				    CELLS_MAX);
	if (!f.from_ms)
		f.from_ms = f.to_ms > 3600000 ? f.to_ms - 3600000 : 0;
	f.limit = MAP_MAX;
	h.from = f.from_ms;
	h.step = (f.to_ms - f.from_ms) / h.columns + 1;
	h.cells = arena_zero(&c->mem, h.columns * h.rows * sizeof(*h.cells));
	h.failed = arena_zero(&c->mem, h.columns * h.rows * sizeof(*h.failed));
	if (!h.cells || !h.failed)
		return request_fail(c, 500, "memory", "out of memory");
	if (archive_traces(c->f->store, &f, range_row, &h) < 0)
		return request_fail(c, 500, "store", "the store cannot be read");
	if (h.high < h.low)
		h.low = log(1e3), h.high = log(1e9);
	h.high += 1e-6;
	h.low -= 1e-6;
	if (archive_traces(c->f->store, &f, heat_row, &h) < 0)
		return request_fail(c, 500, "store", "the store cannot be read");
	put_heat(c, &h);
	return 200;
}

/* ---- one ---- */

struct one {
	struct arena *mem;
	struct archive_trace row;
	struct buf blob;
	struct transaction t;
};

static void take_one(void *ctx, const struct archive_trace *t)
{
	struct one *o = ctx;

	o->row = *t;
	o->row.app = arena_dup(o->mem, t->app);
	o->row.instance = arena_dup(o->mem, t->instance);
	o->row.root = arena_dup(o->mem, t->root);
	o->row.thread = arena_dup(o->mem, t->thread);
	o->row.data = arena_dup(o->mem, t->data);
}

/* 200, or it failed; release o->blob in any case. */
static int read_one(struct api_request *c, struct one *o)
{
	uint64_t id = strtoull((const char *)c->args[0].p, NULL, 16);
	int rc;

	*o = (struct one){ .mem = &c->mem };
	rc = id && id <= INT64_MAX ? archive_trace(c->f->store, id, &o->blob, take_one, o)
				   : E_NOT_FOUND;
	if (rc >= 0)
		rc = pack_read(buf_slice(&o->blob), &c->mem, &o->t);
	if (rc == E_NOT_FOUND)
		return request_fail(c, 404, "not_found",
				    "there is no such transaction, or it is too old");
	if (rc < 0)
		return request_fail(c, 500, "store", "the transaction cannot be read: %s",
				    err_text(rc));
	o->t.id = c->args[0];
	o->t.app = o->row.app;
	o->t.instance = o->row.instance;
	o->t.root = o->row.root;
	o->t.data = o->row.data;
	o->t.elapsed_ns = o->row.elapsed_ns;
	o->t.flags = o->row.flags;
	return 200;
}

static void put_calls(struct json *j, const struct txn_part *p)
{
	json_put_open(j, "calls", '[');
	for (size_t i = 0; i < p->n; i++) {
		const struct txn_call *call = &p->calls[i];

		json_open(j, '[');
		json_u64(j, call->name);
		json_i64(j, (int64_t)call->parent - 1);
		json_u64(j, call->begin_ns);
		json_u64(j, call->elapsed_ns);
		json_u64(j, call->flags);
		json_close(j, ']');
	}
	json_close(j, ']');
}

static void put_part(struct json *j, const struct txn_part *p)
{
	json_open(j, '{');
	json_put_u64(j, "part", p->part);
	json_put_u64(j, "from", p->from);
	json_put_i64(j, "call", (int64_t)p->call - 1);
	json_put_u64(j, "tid", p->tid);
	json_put_str(j, "thread", p->thread);
	json_put_u64(j, "submitted_ns", p->submitted_ns);
	json_put_u64(j, "begin_ns", p->begin_ns);
	json_put_u64(j, "end_ns", p->end_ns);
	json_put_bool(j, "open", p->flags & TX_PART_OPEN);
	json_put_bool(j, "never_begun", p->flags & TX_PART_NEVER_BEGUN);
	put_calls(j, p);
	json_close(j, '}');
}

int api_trace(struct api_request *c)
{
	struct one o;
	struct json j;
	int status = read_one(c, &o);

	if (status == 200) {
		j = request_json(c);
		o.row.parts = 0;
		put_row(&j, &o.row);
		json_put_u64(&j, "missed", o.t.missed);
		json_put_open(&j, "names", '[');
		for (size_t i = 0; i < o.t.n_names; i++) {
			json_open(&j, '{');
			json_put_str(&j, "method", o.t.names[i].method);
			json_put_bool(&j, "conditional", o.t.names[i].conditional);
			json_close(&j, '}');
		}
		json_close(&j, ']');
		json_put_open(&j, "parts", '[');
		for (size_t i = 0; i < o.t.n_parts; i++)
			put_part(&j, &o.t.parts[i]);
		json_close(&j, ']');
		request_end(&j, 200);
	}
	buf_release(&o.blob);
	return status;
}

int api_trace_perfetto(struct api_request *c)
{
	struct one o;
	int status = read_one(c, &o);

	if (status == 200)
		perfetto_put(&o.t, &c->out);
	buf_release(&o.blob);
	return status;
}

int api_trace_otlp(struct api_request *c)
{
	struct one o;
	int status = read_one(c, &o);

	if (status == 200)
		otlp_put(&o.t, archive_host(o.t.instance), &c->out);
	buf_release(&o.blob);
	return status;
}
