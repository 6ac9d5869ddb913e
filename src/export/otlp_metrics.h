/* SPDX-License-Identifier: Apache-2.0 */
/* otlp_metrics.h - figures as the body of an OTLP/HTTP request for metrics, in JSON.
 *
 *	begin, (resource, (family, values, family_end), ..., resource_end), ..., end
 *
 * Counters are totals since the process began (cumulative). */
#ifndef EXPORT_OTLP_METRICS_H
#define EXPORT_OTLP_METRICS_H

#include "export/otlp.h"

enum otlp_kind { OTLP_COUNTER, OTLP_GAUGE, OTLP_HISTOGRAM };

struct otlp_metrics {
	struct json j;
	struct slice host;
	uint64_t began_ns, now_ns; /* of the values that come; since 1970 */
	enum otlp_kind kind;
};

struct otlp_metrics otlp_metrics_begin(struct buf *out, struct slice host);
void otlp_metrics_resource(struct otlp_metrics *m, struct slice app, struct slice instance);
void otlp_metrics_family(struct otlp_metrics *m, const char *name, const char *unit,
			 enum otlp_kind kind);
void otlp_metrics_value(struct otlp_metrics *m, struct slice method, double v);

struct otlp_histogram {
	uint64_t n;
	double sum;
	const double *bounds;	/* n_bounds */
	const uint64_t *counts; /* n_bounds + 1 */
	size_t n_bounds;
};
void otlp_metrics_histogram(struct otlp_metrics *m, struct slice method,
			    const struct otlp_histogram *h);
void otlp_metrics_family_end(struct otlp_metrics *m);
void otlp_metrics_resource_end(struct otlp_metrics *m);
void otlp_metrics_end(struct otlp_metrics *m);

#endif
