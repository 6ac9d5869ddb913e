/* SPDX-License-Identifier: Apache-2.0 */
/* pprof.h - a profile in the format of Go's pprof (profile.proto), not compressed: pprof, Speedscope,
 * Grafana and others read it. */
#ifndef EXPORT_PPROF_H
#define EXPORT_PPROF_H

#include "base/buf.h"
#include "export/profile.h"

struct pprof_about {
	const char *type, *unit;       /* of values: "cpu", "nanoseconds" */
	const char *counts;	       /* of how often: "samples" */
	uint64_t value_each;	       /* what one of the profile's values is in that unit */
	uint64_t period;	       /* between samples, in that unit */
	uint64_t time_ns, duration_ns; /* when it began, since 1970; how long */
};

void pprof_put(struct buf *out, const struct profile *p, const struct pprof_about *about);

#endif
