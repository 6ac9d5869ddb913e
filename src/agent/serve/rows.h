/* SPDX-License-Identifier: Apache-2.0 */
/* rows.h - the probe's figures as messages: ticks become nanoseconds, samples become estimates
 * with their interval, numbers become names. */
#ifndef AGENT_SERVE_ROWS_H
#define AGENT_SERVE_ROWS_H

#include "agent/classes/woven.h"
#include "base/buf.h"
#include "probe/probe.h"

void rows_put_rules(struct buf *out);
void rows_put_missed(struct buf *out); /* tests of conditions that could not be made */
/* Of every method that is or was hooked; flags of the message `report`. */
void rows_put_methods(struct buf *out, uint32_t flags);
void rows_put_status(struct buf *out);
/* A tree may be much larger than what should be kept in memory: send(to), if there is one, is
 * called from time to time to take it out of `out`. */
int rows_put_tree(struct buf *out, void (*send)(void *to), void *to);
void rows_put_call(struct buf *out, const struct hooked *h, const struct probe_call *call);

void rows_thread(uint32_t tid, char out[32]); /* the thread's name, as the kernel has it */

/* Appends "pkg.Class.name(desc)". */
void rows_name(const struct hooked *h, struct buf *out);

/* Hooked only in a context or by a condition.  For the thread that has the rulebook. */
bool rows_is_conditional(const struct hooked *h);

/* Total over all calls, with the interval that holds it with 95 %. */
struct estimate {
	double total, low, high; /* ticks */
};
struct estimate rows_estimate(const struct probe_figures *f);

#endif
