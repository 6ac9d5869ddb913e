/* SPDX-License-Identifier: Apache-2.0 */
/* api_figures.c - figures of methods, merged over processes: now, of a time, and over time. */
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/mem.h"
#include "manager/figures/spread.h"
#include "manager/http/request.h"

enum { POINTS = 120, POINTS_MAX = 2000, ROWS = 1000, ROWS_MAX = 100000 };

/* One method, of all processes that were asked for. */
struct row {
	struct slice method;
	uint64_t sums[SUMS], low_ns, high_ns, min_ns, max_ns, active, active_peak;
	uint32_t level, one_in, instances;
	bool conditional, here, metered, has_bytes;
	double rate;
	struct call_spread *spread; /* NULL: never timed */
};

struct rows {
	struct arena *mem;
	struct map at; /* method -> struct row * */
	struct row **v;
	size_t n, cap;
	int err;
};

static struct row *row_of(struct rows *r, struct slice method)
{
	bool fresh = false;
	struct slice key = method;
	uintptr_t *at = map_get(&r->at, method);
	struct row *row;

	if (at)
		return (struct row *)*at;
	key = arena_dup(r->mem, method);
	row = arena_zero(r->mem, sizeof(*row));
	at = key.p && row ? map_put(&r->at, key, &fresh) : NULL;
	if (at && r->n == r->cap) {
		size_t cap = r->cap ? r->cap * 2 : 256;
		struct row **v = realloc(r->v, cap * sizeof(*v));

		r->v = v ? v : r->v;
		r->cap = v ? cap : r->cap;
	}
	if (!at || r->n == r->cap) {
		r->err = E_NO_MEMORY;
		return NULL;
	}
	row->method = key;
	*at = (uintptr_t)row;
	r->v[r->n++] = row;
	return row;
}

static struct call_spread *spread_of(struct rows *r, struct row *row)
{
	if (!row->spread)
		row->spread = arena_zero(r->mem, sizeof(*row->spread));
	return row->spread;
}

static uint64_t least(uint64_t a, uint64_t b)
{
	return !a || (b && b < a) ? b : a;
}

static uint64_t most(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* ---- now ---- */

static void add_figure(struct rows *r, const struct figure *g)
{
	struct row *row = row_of(r, g->name->text);

	if (!row)
		return;
	for (unsigned k = 0; k < SUMS; k++)
		row->sums[k] += g->sums[k];
	row->low_ns += g->low_ns;
	row->high_ns += g->high_ns;
	row->min_ns = least(row->min_ns, g->min_ns);
	row->max_ns = most(row->max_ns, g->max_ns);
	row->active += g->active;
	row->active_peak = most(row->active_peak, g->active_peak);
	row->level = g->level;
	row->one_in = g->one_in;
	row->rate += g->rate;
	row->conditional |= (g->flags & METHOD_PARTLY) != 0;
	row->here |= !(g->flags & METHOD_GONE);
	row->metered |= g->unknown != ~0u;
	row->has_bytes |= !(g->unknown & METER_NO_BYTES);
	row->instances++;
	if (g->raw.n && spread_of(r, row))
		spread_add_raw(row->spread, (struct slice){ NULL, 0 }, buf_slice(&g->raw));
}

static bool is_meant(const struct instance *i, const struct app *a, struct slice id)
{
	return i->app == a && (id.n ? slice_is(id, i->id) : i->state == INSTANCE_CONNECTED);
}

static void add_now(struct rows *r, const struct fleet *f, const struct app *a, struct slice id)
{
	for (struct instance *i = f->instances; i; i = i->next)
		for (size_t k = 0; is_meant(i, a, id) && k < i->n; k++)
			add_figure(r, &i->figures[k]);
}

/* ---- of a time ---- */

static void add_stored(void *ctx, const struct archive_figure *g)
{
	struct rows *r = ctx;
	struct row *row = row_of(r, g->method);

	if (!row)
		return;
	for (unsigned k = 0; k < SUMS; k++)
		row->sums[k] += g->sums[k];
	row->max_ns = most(row->max_ns, g->max_ns);
	row->active_peak = most(row->active_peak, g->active_peak);
	if (g->spread.n && spread_of(r, row))
		spread_add(row->spread, g->spread);
}

/* What only the processes know. */
static void add_levels(struct rows *r, const struct fleet *f, const struct app *a, struct slice id)
{
	for (struct instance *i = f->instances; i; i = i->next) {
		for (size_t k = 0; is_meant(i, a, id) && k < i->n; k++) {
			const struct figure *g = &i->figures[k];
			uintptr_t *at = map_get(&r->at, g->name->text);
			struct row *row = at ? (struct row *)*at : NULL;

			if (!row)
				continue;
			row->level = g->level;
			row->one_in = g->one_in;
			row->active += g->active;
			row->conditional |= (g->flags & METHOD_PARTLY) != 0;
			row->here |= !(g->flags & METHOD_GONE);
			row->instances++;
		}
	}
}

static unsigned level_for(uint64_t from, uint64_t to, uint64_t points)
{
	uint64_t span = to - from, now = clock_day_ms();

	if (span / archive_step_ms[0] <= points * 3 && from + 23 * 3600000ull > now)
		return 0;
	return span / archive_step_ms[1] <= points * 3 && from + 160 * 3600000ull > now ? 1 : 2;
}

/* ---- as JSON ---- */

static void put_times(struct json *j, const struct row *r)
{
	double calls = (double)r->sums[SUM_CALLS];

	json_put_u64(j, "total_ns", r->sums[SUM_TOTAL_NS]);
	if (r->high_ns) {
		json_put_u64(j, "low_ns", r->low_ns);
		json_put_u64(j, "high_ns", r->high_ns);
	}
	json_put_u64(j, "self_ns", r->sums[SUM_SELF_NS]);
	if (calls > 0)
		json_put_double(j, "mean_ns", (double)r->sums[SUM_TOTAL_NS] / calls);
	if (r->min_ns)
		json_put_u64(j, "min_ns", r->min_ns);
	json_put_u64(j, "max_ns", r->max_ns);
	if (!r->spread || !r->spread->n)
		return;
	json_put_u64(j, "p50_ns", spread_quantile(r->spread, 0.5));
	json_put_u64(j, "p90_ns", spread_quantile(r->spread, 0.9));
	json_put_u64(j, "p99_ns", spread_quantile(r->spread, 0.99));
}

static void put_row(struct json *j, const struct row *r)
{
	static const char *const levels[] = { "light", "timed", "full" };

	json_open(j, '{');
	json_put_str(j, "method", r->method);
	if (r->instances)
		json_put_nonempty(j, "level", levels[r->level < 3 ? r->level : 2]);
	if (r->one_in > 1)
		json_put_u64(j, "one_in", r->one_in);
	json_put_u64(j, "calls", r->sums[SUM_CALLS]);
	json_put_u64(j, "errors", r->sums[SUM_ERRORS]);
	json_put_u64(j, "timed", r->sums[SUM_TIMED]);
	if (r->sums[SUM_TIMED])
		put_times(j, r);
	json_put_u64(j, "active", r->active);
	json_put_u64(j, "active_peak", r->active_peak);
	json_put_u64(j, "stalls", r->sums[SUM_STALLS]);
	json_put_double(j, "rate", r->rate);
	if (r->metered) {
		json_put_u64(j, "cpu_ns", r->sums[SUM_CPU_NS]);
		json_put_u64(j, "blocked_ns", r->sums[SUM_BLOCKED_NS]);
	}
	if (r->metered && r->has_bytes)
		json_put_u64(j, "allocated", r->sums[SUM_ALLOCATED]);
	json_put_bool(j, "conditional", r->conditional);
	json_put_bool(j, "gone", !r->here);
	json_put_u64(j, "instances", r->instances);
	json_close(j, '}');
}

/* ---- sorting ---- */

static int descending(uint64_t a, uint64_t b)
{
	return (a < b) - (a > b);
}

static int by_total(const void *a, const void *b)
{
	const struct row *x = *(struct row *const *)a, *y = *(struct row *const *)b;
	int order = descending(x->sums[SUM_TOTAL_NS], y->sums[SUM_TOTAL_NS]);

	order = order ? order : descending(x->sums[SUM_CALLS], y->sums[SUM_CALLS]);
	return order ? order : slice_cmp(x->method, y->method);
}

static int by_self(const void *a, const void *b)
{
	const struct row *x = *(struct row *const *)a, *y = *(struct row *const *)b;
	int order = descending(x->sums[SUM_SELF_NS], y->sums[SUM_SELF_NS]);

	return order ? order : by_total(a, b);
}

static int by_calls(const void *a, const void *b)
{
	const struct row *x = *(struct row *const *)a, *y = *(struct row *const *)b;
	int order = descending(x->sums[SUM_CALLS], y->sums[SUM_CALLS]);

	return order ? order : slice_cmp(x->method, y->method);
}

static int by_name(const void *a, const void *b)
{
	const struct row *x = *(struct row *const *)a, *y = *(struct row *const *)b;

	return slice_cmp(x->method, y->method);
}

static void sort(struct rows *r, struct slice how)
{
	int (*order)(const void *a, const void *b) = slice_is(how, "calls")  ? by_calls
						     : slice_is(how, "self") ? by_self
						     : slice_is(how, "name") ? by_name
									     : by_total;

	if (r->n)
		qsort(r->v, r->n, sizeof(*r->v), order);
}

static bool holds(struct slice text, struct slice part)
{
	for (size_t i = 0; i + part.n <= text.n; i++)
		if (memcmp(text.p + i, part.p, part.n) == 0)
			return true;
	return false;
}

static int read_rows(struct api_request *c, struct rows *r, uint64_t from, uint64_t to)
{
	struct slice id = request_instance(c);
	struct archive_span span = {
		.app = c->args[0], .instance = id, .from_ms = from, .to_ms = to
	};
	struct app *a;
	int rc = 0;

	span.level = from ? level_for(from, to, POINTS) : 0;
	if (from)
		rc = archive_figures(c->f->store, &span, add_stored, r);
	pthread_mutex_lock(&c->f->lock);
	a = request_app(c);
	if (a && from)
		add_levels(r, c->f, a, id);
	else if (a)
		add_now(r, c->f, a, id);
	pthread_mutex_unlock(&c->f->lock);
	if (rc < 0)
		return request_fail(c, 500, "store", "the store cannot be read");
	return a ? 200 : 404;
}

int api_methods(struct api_request *c)
{
	struct slice match = query_get(&c->query, "match");
	uint64_t from = 0, to, limit = ROWS, n = 0;
	struct rows r = { .mem = &c->mem };
	struct json j;
	int status;

	if (!request_span(c, &from, &to))
		return 400;
	if (!query_number(&c->query, "limit", 1, ROWS_MAX, &limit))
		return request_fail(c, 400, "usage", "limit is a number up to %d", ROWS_MAX);
	status = read_rows(c, &r, from, to);
	if (status == 200 && !r.err) {
		sort(&r, query_get(&c->query, "sort"));
		j = request_json(c);
		if (from)
			json_put_u64(&j, "from_ms", from);
		json_put_u64(&j, "to_ms", to);
		json_put_open(&j, "methods", '[');
		for (size_t i = 0; i < r.n && n < limit; i++)
			if (!match.n || holds(r.v[i]->method, match))
				put_row(&j, r.v[i]), n++;
		json_close(&j, ']');
		request_end(&j, 200);
	}
	map_release(&r.at);
	free(r.v);
	return r.err ? request_fail(c, 500, "memory", "out of memory") : status;
}

/* ---- over time ---- */

struct point {
	uint64_t sums[SUMS], max_ns, active_peak;
	bool seen;
	struct call_spread *spread;
};

struct series {
	struct arena *mem;
	struct point *v;
	uint64_t from, step, n;
};

static void add_point(void *ctx, const struct archive_figure *g)
{
	struct series *s = ctx;
	uint64_t at = g->slot_ms >= s->from ? (g->slot_ms - s->from) / s->step : s->n;
	struct point *p;

	if (at >= s->n)
		return;
	p = &s->v[at];
	p->seen = true;
	for (unsigned k = 0; k < SUMS; k++)
		p->sums[k] += g->sums[k];
	p->max_ns = most(p->max_ns, g->max_ns);
	p->active_peak = most(p->active_peak, g->active_peak);
	if (g->spread.n && !p->spread)
		p->spread = arena_zero(s->mem, sizeof(*p->spread));
	if (p->spread)
		spread_add(p->spread, g->spread);
}

static void put_column(struct json *j, const struct series *s, const char *key, int sum)
{
	json_put_open(j, key, '[');
	for (uint64_t i = 0; i < s->n; i++) {
		if (s->v[i].seen)
			json_u64(j, s->v[i].sums[sum]);
		else
			json_null(j);
	}
	json_close(j, ']');
}

static void put_quantile(struct json *j, const struct series *s, const char *key, double q)
{
	json_put_open(j, key, '[');
	for (uint64_t i = 0; i < s->n; i++) {
		if (s->v[i].spread && s->v[i].spread->n)
			json_u64(j, spread_quantile(s->v[i].spread, q));
		else
			json_null(j);
	}
	json_close(j, ']');
}

/* Means, longest times and peaks, which only steps with timed calls have. */
static void put_others(struct json *j, const struct series *s)
{
	json_put_open(j, "mean_ns", '[');
	for (uint64_t i = 0; i < s->n; i++) {
		const struct point *p = &s->v[i];

		if (p->sums[SUM_CALLS] && p->sums[SUM_TIMED])
			json_double(j, (double)p->sums[SUM_TOTAL_NS] / (double)p->sums[SUM_CALLS]);
		else
			json_null(j);
	}
	json_close(j, ']');
	json_put_open(j, "max_ns", '[');
	for (uint64_t i = 0; i < s->n; i++) {
		if (s->v[i].max_ns)
			json_u64(j, s->v[i].max_ns);
		else
			json_null(j);
	}
	json_close(j, ']');
	json_put_open(j, "active_peak", '[');
	for (uint64_t i = 0; i < s->n; i++) {
		if (s->v[i].seen)
			json_u64(j, s->v[i].active_peak);
		else
			json_null(j);
	}
	json_close(j, ']');
}

static void put_series(struct api_request *c, const struct series *s)
{
	struct json j = request_json(c);

	json_put_u64(&j, "from_ms", s->from);
	json_put_u64(&j, "to_ms", s->from + s->step * s->n);
	json_put_u64(&j, "step_ms", s->step);
	json_put_open(&j, "t_ms", '[');
	for (uint64_t i = 0; i < s->n; i++)
		json_u64(&j, s->from + i * s->step);
	json_close(&j, ']');
	put_column(&j, s, "calls", SUM_CALLS);
	put_column(&j, s, "errors", SUM_ERRORS);
	put_column(&j, s, "total_ns", SUM_TOTAL_NS);
	put_column(&j, s, "stalls", SUM_STALLS);
	put_others(&j, s);
	put_quantile(&j, s, "p50_ns", 0.5);
	put_quantile(&j, s, "p90_ns", 0.9);
	put_quantile(&j, s, "p99_ns", 0.99);
	request_end(&j, 200);
}

/* The method with the most time, for who asks for none. */
static struct slice busiest(struct api_request *c, const struct app *a)
{
	const struct figure *best = NULL;
	struct slice id = request_instance(c);

	for (struct instance *i = c->f->instances; i; i = i->next)
		for (size_t k = 0; is_meant(i, a, id) && k < i->n; k++)
			if (!best || i->figures[k].sums[SUM_TOTAL_NS] > best->sums[SUM_TOTAL_NS])
				best = &i->figures[k];
	return best ? arena_dup(&c->mem, best->name->text) : slice_str("?");
}

int api_series(struct api_request *c)
{
	uint64_t from = clock_day_ms() - 3600000, to, points = POINTS, base;
	struct archive_span span = { .app = c->args[0],
				     .instance = request_instance(c),
				     .method = query_get(&c->query, "method") };
	struct series s = { .mem = &c->mem };
	struct app *a;

	if (!request_span(c, &from, &to))
		return 400;
	if (!query_number(&c->query, "points", 1, POINTS_MAX, &points))
		return request_fail(c, 400, "usage", "points is a number up to %d", POINTS_MAX);
	pthread_mutex_lock(&c->f->lock);
	a = request_app(c);
	if (a && !span.method.n)
		span.method = busiest(c, a);
	pthread_mutex_unlock(&c->f->lock);
	if (!a)
		return 404;
	span.level = level_for(from, to, points);
	base = archive_step_ms[span.level];
	s.step = ((to - from) / points / base + 1) * base;
	s.from = span.from_ms = from - from % s.step;
	s.n = (to - s.from) / s.step + 1;
	span.to_ms = to;
	s.v = arena_zero(&c->mem, s.n * sizeof(*s.v));
	if (!s.v || archive_figures(c->f->store, &span, add_point, &s) < 0)
		return request_fail(c, 500, "store", "the store cannot be read");
	put_series(c, &s);
	return 200;
}
