/* SPDX-License-Identifier: Apache-2.0 */
/* api_metrics.c - /metrics: of each hooked method in each process, of the agents, of the manager.
 *
 * Methods of one name in a process are one series.  A page is at most METHODS_MAX methods long; what
 * is left out is counted. */
#include "export/prometheus.h"
#include "manager/http/request.h"
#include "manager/watch/lookout.h"

enum { METHODS_MAX = 20000 };

struct metrics_page {
	struct prometheus p;
	struct fleet *f;
	struct arena *mem;
	uint64_t left_out;
};

static void label_instance(struct prometheus *p, const struct instance *i)
{
	prometheus_clear(p);
	prometheus_label(p, "application", slice_str(i->app->name));
	prometheus_label(p, "instance_id", slice_str(i->id));
}

static double seconds(const struct figure *g)
{
	return (double)g->sums[SUM_TOTAL_NS] / 1e9;
}

static double value_of(const struct figure *g, int what)
{
	switch (what) {
	case 0:
		return (double)g->sums[SUM_CALLS];
	case 1:
		return (double)g->sums[SUM_ERRORS];
	case 2:
		return seconds(g);
	case 3:
		return (double)g->active;
	default:
		return (double)g->sums[SUM_STALLS];
	}
}

static void put_method(struct metrics_page *p, const struct instance *i, size_t k, double v)
{
	label_instance(&p->p, i);
	prometheus_label(&p->p, "method", i->figures[k].name->text);
	prometheus_value(&p->p, "", v);
}

/* Rows of one name stand for one method of several loaders: they are added to the first. */
static void put_methods(struct metrics_page *p, const struct instance *i, int what)
{
	double *sums = arena_zero(p->mem, (i->n + 1) * sizeof(*sums));
	struct map first = { 0 };

	if (!sums)
		p->p.out->err = E_NO_MEMORY;
	for (size_t k = 0; sums && k < i->n; k++) {
		bool fresh = false;
		uintptr_t *at = map_put(&first, i->figures[k].name->text, &fresh);

		if (fresh)
			*at = k;
		if (at)
			sums[*at] += value_of(&i->figures[k], what);
	}
	for (size_t k = 0; sums && k < i->n; k++) {
		uintptr_t *at = map_get(&first, i->figures[k].name->text);

		if (k >= METHODS_MAX)
			p->left_out++;
		else if (at && *at == k)
			put_method(p, i, k, sums[k]);
	}
	map_release(&first);
}

static void put_all_methods(struct metrics_page *p)
{
	static const struct {
		const char *name, *type, *help;
	} families[] = {
		{ "sonde_method_calls_total", "counter", "Calls of a hooked method." },
		{ "sonde_method_errors_total", "counter", "Calls that were left by an exception." },
		{ "sonde_method_seconds_total", "counter",
		  "Time in a hooked method, with what it calls." },
		{ "sonde_method_active", "gauge", "Calls that have begun and not ended." },
		{ "sonde_method_stalls_total", "counter",
		  "Calls that ran longer than the stall limit." },
	};

	for (int what = 0; what < (int)COUNT(families); what++) {
		prometheus_family(&p->p, families[what].name, families[what].type,
				  families[what].help);
		for (struct instance *i = p->f->instances; i; i = i->next)
			if (i->state == INSTANCE_CONNECTED)
				put_methods(p, i, what);
	}
}

static void put_agents(struct metrics_page *p)
{
	static const struct {
		const char *name, *type, *help;
	} families[] = {
		{ "sonde_agent_methods", "gauge", "Methods that are hooked." },
		{ "sonde_agent_memory_bytes", "gauge", "Memory of call trees." },
		{ "sonde_agent_overhead_ratio", "gauge",
		  "What hooks and agent cost, of one processor." },
		{ "sonde_agent_contexts_lost_total", "counter",
		  "Contexts for which there was no memory." },
	};

	for (size_t what = 0; what < COUNT(families); what++) {
		prometheus_family(&p->p, families[what].name, families[what].type,
				  families[what].help);
		for (struct instance *i = p->f->instances; i; i = i->next) {
			const double values[] = { (double)i->status.methods,
						  (double)i->status.memory,
						  i->hooks_share + i->agent_share,
						  (double)i->status.contexts_lost };

			if (i->state != INSTANCE_CONNECTED)
				continue;
			label_instance(&p->p, i);
			prometheus_value(&p->p, "", values[what]);
		}
	}
	prometheus_clear(&p->p);
}

static void put_one(struct metrics_page *p, const char *name, const char *type, const char *help,
		    double v)
{
	prometheus_family(&p->p, name, type, help);
	prometheus_value(&p->p, "", v);
}

static void put_manager(struct metrics_page *p)
{
	struct archive_state store;
	double connected = 0;

	archive_state(p->f->store, &store);
	for (struct instance *i = p->f->instances; i; i = i->next)
		connected += i->state == INSTANCE_CONNECTED;
	put_one(p, "sonde_manager_agents", "gauge", "Agents that are connected.", connected);
	put_one(p, "sonde_manager_traces_kept_total", "counter", "Transactions that were stored.",
		(double)p->f->traces_kept);
	put_one(p, "sonde_manager_traces_passed_total", "counter",
		"Transactions that were not stored because the store was behind.",
		(double)p->f->traces_passed);
	put_one(p, "sonde_manager_store_bytes", "gauge", "Size of the store.", (double)store.bytes);
	put_one(p, "sonde_manager_store_queued", "gauge", "Jobs that wait to be stored.",
		(double)store.queued);
	put_one(p, "sonde_manager_store_failed_total", "counter", "Jobs that could not be stored.",
		(double)store.failed);
	put_one(p, "sonde_manager_store_spooled_bytes", "gauge",
		"What waits on disk for an engine that is down.", (double)store.spooled);
	put_one(p, "sonde_manager_methods_left_out", "gauge",
		"Series that this page has no room for.", (double)p->left_out);
}

static void put_open(void *ctx, const char *app, const char *kind)
{
	struct prometheus *p = ctx;

	prometheus_clear(p);
	prometheus_label(p, "application", slice_str(app));
	prometheus_label(p, "kind", slice_str(kind));
	prometheus_value(p, "", 1);
	prometheus_clear(p);
}

static void put_lookout(struct metrics_page *p, struct lookout *w)
{
	struct lookout_counts c = lookout_counts(w);

	prometheus_family(&p->p, "sonde_alert_open", "gauge",
			  "1 for each alert that is open: figures of methods are not as usual.");
	lookout_open(w, put_open, &p->p);
	put_one(p, "sonde_manager_alerts_total", "counter", "Alerts that were raised.",
		(double)c.raised);
	put_one(p, "sonde_manager_alert_digs_total", "counter",
		"Digs that were started for alerts.", (double)c.digs);
	put_one(p, "sonde_manager_alert_messages_total", "counter",
		"Messages about alerts that were delivered.", (double)c.told.delivered);
	put_one(p, "sonde_manager_alert_messages_failed_total", "counter",
		"Messages about alerts that were given up.", (double)c.told.failed);
}

static void put_push(struct metrics_page *p, struct push *push)
{
	struct push_counts c = push_counts(push);

	put_one(p, "sonde_manager_otlp_spans_total", "counter", "Spans that the receiver took.",
		(double)c.spans);
	put_one(p, "sonde_manager_otlp_rejected_total", "counter",
		"Spans and points that the receiver refused.", (double)c.rejected);
	put_one(p, "sonde_manager_otlp_dropped_total", "counter",
		"Transactions that found no room in the queue.", (double)c.dropped);
	put_one(p, "sonde_manager_otlp_failed_total", "counter",
		"Requests that failed, with those tried again.", (double)c.failed);
}

int api_metrics(struct api_request *c)
{
	struct metrics_page p = { .p = { .out = &c->out }, .f = c->f, .mem = &c->mem };

	pthread_mutex_lock(&c->f->lock);
	put_all_methods(&p);
	put_agents(&p);
	put_manager(&p);
	pthread_mutex_unlock(&c->f->lock);
	if (c->f->lookout)
		put_lookout(&p, c->f->lookout);
	if (c->f->push)
		put_push(&p, c->f->push);
	prometheus_release(&p.p);
	c->type = "text/plain; version=0.0.4; charset=utf-8";
	return 200;
}
