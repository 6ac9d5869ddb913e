/* SPDX-License-Identifier: Apache-2.0 */
/* push.h - sends kept transactions and figures on by OTLP/HTTP (--otlp-url), in a thread of its own.
 *
 * Transactions wait in a queue of limited size.  While the receiver is down or busy one batch is
 * tried again, later and later; what finds no room in the queue is counted and left out. */
#ifndef MANAGER_PUSH_PUSH_H
#define MANAGER_PUSH_PUSH_H

#include "manager/archive/archive.h"
#include "manager/settings.h"

struct push;

/* Appends the figures of all agents, as otlp_metrics.h has them. */
typedef void push_metrics(void *ctx, struct buf *out);

/* *out NULL: it is switched off. */
int push_start(struct push **out, const struct settings *c, push_metrics *metrics, void *ctx);
void push_stop(struct push *p); /* one last try for what waits; NULL is fine */
/* Any thread; copies.  NULL is fine. */
void push_trace(struct push *p, const struct archive_trace *t);

struct push_counts {
	uint64_t spans, rejected, dropped, failed; /* dropped: transactions; failed: requests */
};
struct push_counts push_counts(struct push *p);

#endif
