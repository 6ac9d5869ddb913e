/* SPDX-License-Identifier: Apache-2.0 */
/* outside.h - samples of a native process that has no agent, as rows of `sampled`. */
#ifndef CLI_OUTSIDE_OUTSIDE_H
#define CLI_OUTSIDE_OUTSIDE_H

#include "cli/outside/perf_events.h"
#include "cli/outside/process_view.h"

struct target;

struct outside {
	struct sampled *s;
	struct perf_events events;
	struct process_view view;
	uint64_t begin_ns, next_ns, cpu_before, own_before; /* next_ns: to look at what is mapped */
	clockid_t clock;				    /* processor time of the process */
};

/* CLI_DONE, or an exit status after a message. */
int outside_begin(struct outside *o, struct sampled *s, const struct target *t, uint32_t rate);
void outside_end(struct outside *o);

/* As feed_take. */
int outside_take(struct outside *o, int timeout_ms, char why[200]);

#endif
