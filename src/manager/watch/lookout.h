/* SPDX-License-Identifier: Apache-2.0 */
/* lookout.h - watches all applications by itself: what is usual for each method at this time of day,
 * an alert when that breaks, and a dig for the reason.
 *
 * One thread, which reads the store once in each window; it knows only what is stored, so it goes on
 * over a restart. */
#ifndef MANAGER_WATCH_LOOKOUT_H
#define MANAGER_WATCH_LOOKOUT_H

#include "manager/fleet/fleet.h"
#include "manager/watch/tell.h"
#include "manager/watch/usual.h"

struct lookout;

int lookout_start(struct lookout **out, struct fleet *f); /* *out NULL: it is switched off */
void lookout_stop(struct lookout *w);			  /* NULL is fine */

struct lookout_counts {
	uint64_t raised, digs;
	struct tell_counts told;
};
struct lookout_counts lookout_counts(struct lookout *w);
/* Calls `on` for each application and kind with an open alert. */
void lookout_open(struct lookout *w, void (*on)(void *ctx, const char *app, const char *kind),
		  void *ctx);

#endif
