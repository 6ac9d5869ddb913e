/* SPDX-License-Identifier: Apache-2.0 */
/* watch.h - watches all applications by itself: what is usual for each method at this time of day,
 * an alert when that breaks, and a dig for the reason.
 *
 * One thread, which reads the store once in each window; it knows only what is stored, so it goes on
 * over a restart. */
#ifndef MANAGER_WATCH_WATCH_H
#define MANAGER_WATCH_WATCH_H

#include "manager/fleet/fleet.h"
#include "manager/watch/tell.h"
#include "manager/watch/usual.h"

struct watch;

int watch_start(struct watch **out, struct fleet *f); /* *out NULL: it is switched off */
void watch_stop(struct watch *w);		      /* NULL is fine */

struct watch_counts {
	uint64_t raised, digs;
	struct tell_counts told;
};
struct watch_counts watch_counts(struct watch *w);
/* Calls `on` for each application and kind with an open alert. */
void watch_open(struct watch *w, void (*on)(void *ctx, const char *app, const char *kind),
		void *ctx);

#endif
