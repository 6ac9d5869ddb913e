/* SPDX-License-Identifier: Apache-2.0 */
/* hub.h - what happens, for everybody who listens: the last events, each with a number.  Any thread.
 *
 * Whoever has fallen behind by more than HUB_EVENTS has missed some, and is told by hub_read. */
#ifndef MANAGER_FLEET_HUB_H
#define MANAGER_FLEET_HUB_H

#include <pthread.h>

#include "base/buf.h"

enum { HUB_EVENTS = 512, HUB_APP = 128 };

struct hub_event {
	char app[HUB_APP]; /* "": concerns all */
	struct buf text;   /* "event: NAME\ndata: {...}\n\n" */
};

struct hub {
	pthread_mutex_t lock;
	uint64_t next; /* number of the event that comes */
	struct hub_event events[HUB_EVENTS];
	pthread_mutex_t waking; /* the listener is there as long as it is held */
	void (*woken)(void *ctx);
	void *ctx;
};

void hub_init(struct hub *h);
void hub_release(struct hub *h);
void hub_put(struct hub *h, struct slice app, const char *name, struct slice json);
uint64_t hub_now(struct hub *h);

/* Who is called when something came, without h->lock; it may not call the hub.  NULL: nobody any more;
 * when that returns no call is under way. */
void hub_listen(struct hub *h, void (*woken)(void *ctx), void *ctx);
void hub_wake(struct hub *h); /* calls them, though nothing came */

/* Appends what came since *at, of one application (NULL: of all), and moves *at.  False: some were
 * missed. */
bool hub_read(struct hub *h, uint64_t *at, const char *app, struct buf *out);

#endif
