/* SPDX-License-Identifier: Apache-2.0 */
/* outgoing.c - totals of each hooked method since its process began, with a histogram of the timed
 * calls.  The fleet's lock is held for one process at a time. */
#include "manager/fleet/outgoing.h"

#include "export/otlp_metrics.h"
#include "manager/figures/spread.h"

/* From 1 us to about a minute, in steps of four. */
enum { BOUNDS = 14 };

static double bound_ns(unsigned i)
{
	return 1000 * (double)(1ull << (2 * i));
}

static void put_histogram(struct otlp_metrics *m, const struct figure *g)
{
	static struct call_spread s; /* of the one thread that pushes */
	double bounds[BOUNDS];
	uint64_t counts[BOUNDS + 1] = { 0 };
	struct otlp_histogram h = { .bounds = bounds, .counts = counts, .n_bounds = BOUNDS };
	unsigned at = 0;

	s = (struct call_spread){ 0 };
	spread_add_raw(&s, (struct slice){ NULL, 0 }, buf_slice(&g->raw));
	for (unsigned i = 0; i < BOUNDS; i++)
		bounds[i] = bound_ns(i) / 1e9;
	for (unsigned c = 0; c < SPREAD_CELLS; c++) {
		while (at < BOUNDS && (double)spread_low(c) >= bound_ns(at))
			at++;
		counts[at] += s.counts[c];
	}
	h.n = s.n;
	if (g->sums[SUM_CALLS]) /* totals are of all calls, also of those that were not timed */
		h.sum = (double)g->sums[SUM_TOTAL_NS] / 1e9 * (double)s.n /
			(double)g->sums[SUM_CALLS];
	otlp_metrics_histogram(m, g->name->text, &h);
}

static const struct {
	const char *name, *unit;
	enum otlp_kind kind;
} families[] = {
	{ "sonde.method.calls", "{call}", OTLP_COUNTER },
	{ "sonde.method.errors", "{call}", OTLP_COUNTER },
	{ "sonde.method.time", "s", OTLP_COUNTER },
	{ "sonde.method.stalls", "{call}", OTLP_COUNTER },
	{ "sonde.method.active", "{call}", OTLP_GAUGE },
	{ "sonde.method.duration", "s", OTLP_HISTOGRAM },
};

static void put_value(struct otlp_metrics *m, const struct figure *g, unsigned what)
{
	const double values[] = { (double)g->sums[SUM_CALLS], (double)g->sums[SUM_ERRORS],
				  (double)g->sums[SUM_TOTAL_NS] / 1e9, (double)g->sums[SUM_STALLS],
				  (double)g->active };

	if (what < COUNT(values))
		otlp_metrics_value(m, g->name->text, values[what]);
	else if (g->raw.n)
		put_histogram(m, g);
}

static void put_instance(struct otlp_metrics *m, const struct instance *i)
{
	m->began_ns = i->started_ms * 1000000;
	m->now_ns = i->seen_ms * 1000000;
	m->host = slice_str(i->host);
	otlp_metrics_resource(m, slice_str(i->app->name), slice_str(i->id));
	for (unsigned what = 0; what < COUNT(families); what++) {
		otlp_metrics_family(m, families[what].name, families[what].unit,
				    families[what].kind);
		for (size_t k = 0; k < i->n; k++)
			put_value(m, &i->figures[k], what);
		otlp_metrics_family_end(m);
	}
	otlp_metrics_resource_end(m);
}

/* The `at`th that is connected; false: there are no more. */
static bool put_nth(struct fleet *f, struct otlp_metrics *m, size_t at)
{
	struct instance *i;

	pthread_mutex_lock(&f->lock);
	for (i = f->instances; i; i = i->next)
		if (i->state == INSTANCE_CONNECTED && i->n && at-- == 0)
			break;
	if (i)
		put_instance(m, i);
	pthread_mutex_unlock(&f->lock);
	return i != NULL;
}

void outgoing_metrics(void *fleet, struct buf *out)
{
	struct fleet *f = fleet;
	struct otlp_metrics m = otlp_metrics_begin(out, slice_str(f->host));

	for (size_t at = 0; put_nth(f, &m, at); at++)
		;
	otlp_metrics_end(&m);
}
