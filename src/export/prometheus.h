/* SPDX-License-Identifier: Apache-2.0 */
/* prometheus.h - metrics in Prometheus's text format 0.0.4.
 *
 *	prometheus_family(&p, "sonde_calls_total", "counter", "Calls of hooked methods.");
 *	prometheus_label(&p, "method", name); ... prometheus_value(&p, "", 12);
 *
 * Errors are the buf's (sticky). */
#ifndef EXPORT_PROMETHEUS_H
#define EXPORT_PROMETHEUS_H

#include "base/buf.h"

struct prometheus {
	struct buf *out;
	const char *name;
	struct buf labels; /* of the next value */
};

void prometheus_family(struct prometheus *p, const char *name, const char *type, const char *help);
void prometheus_label(struct prometheus *p, const char *name, struct slice value);
/* Labels stay for the next one: prometheus_clear takes them back.  suffix: "_sum", or "". */
void prometheus_value(struct prometheus *p, const char *suffix, double v);
void prometheus_clear(struct prometheus *p);
void prometheus_release(struct prometheus *p);

#endif
