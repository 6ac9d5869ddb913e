/* SPDX-License-Identifier: Apache-2.0 */
#include "export/otlp_metrics.h"

enum { CUMULATIVE = 2 };

struct otlp_metrics otlp_metrics_begin(struct buf *out, struct slice host)
{
	struct otlp_metrics m = { .j = json_to(out), .host = host };

	json_open(&m.j, '{');
	json_put_open(&m.j, "resourceMetrics", '[');
	return m;
}

void otlp_metrics_resource(struct otlp_metrics *m, struct slice app, struct slice instance)
{
	json_open(&m->j, '{');
	otlp_resource(&m->j, app, instance, m->host);
	otlp_scope(&m->j, "scopeMetrics", "metrics");
}

void otlp_metrics_family(struct otlp_metrics *m, const char *name, const char *unit,
			 enum otlp_kind kind)
{
	static const char *const kinds[] = { "sum", "gauge", "histogram" };

	m->kind = kind;
	json_open(&m->j, '{');
	json_put_text(&m->j, "name", name);
	json_put_text(&m->j, "unit", unit);
	json_put_open(&m->j, kinds[kind], '{');
	if (kind != OTLP_GAUGE) {
		json_put_u64(&m->j, "aggregationTemporality", CUMULATIVE);
	}
	if (kind == OTLP_COUNTER) {
		json_put_bool(&m->j, "isMonotonic", true);
	}
	json_put_open(&m->j, "dataPoints", '[');
}

static void begin_point(struct otlp_metrics *m, struct slice method)
{
	json_open(&m->j, '{');
	if (m->kind != OTLP_GAUGE)
		otlp_number(&m->j, "startTimeUnixNano", m->began_ns);
	otlp_number(&m->j, "timeUnixNano", m->now_ns);
	json_put_open(&m->j, "attributes", '[');
	otlp_attribute(&m->j, slice_str("code.function.name"), method);
	json_close(&m->j, ']');
}

void otlp_metrics_value(struct otlp_metrics *m, struct slice method, double v)
{
	begin_point(m, method);
	json_put_double(&m->j, "asDouble", v);
	json_close(&m->j, '}');
}

void otlp_metrics_histogram(struct otlp_metrics *m, struct slice method,
			    const struct otlp_histogram *h)
{
	begin_point(m, method);
	otlp_number(&m->j, "count", h->n);
	json_put_double(&m->j, "sum", h->sum);
	json_put_open(&m->j, "explicitBounds", '[');
	for (size_t i = 0; i < h->n_bounds; i++)
		json_double(&m->j, h->bounds[i]);
	json_close(&m->j, ']');
	json_put_open(&m->j, "bucketCounts", '[');
	for (size_t i = 0; i <= h->n_bounds; i++)
		json_u64(&m->j, h->counts[i]);
	json_close(&m->j, ']');
	json_close(&m->j, '}');
}

void otlp_metrics_family_end(struct otlp_metrics *m)
{
	json_close(&m->j, ']');
	json_close(&m->j, '}');
	json_close(&m->j, '}');
}

void otlp_metrics_resource_end(struct otlp_metrics *m)
{
	otlp_scope_end(&m->j);
}

void otlp_metrics_end(struct otlp_metrics *m)
{
	json_close(&m->j, ']');
	json_close(&m->j, '}');
}
