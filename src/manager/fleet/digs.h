/* SPDX-License-Identifier: Apache-2.0 */
/* digs.h - digs that the manager has started: each is a `sonde dig` of its own process, which is read
 * here.  A dig that has ended is in the store.  Under the fleet's lock. */
#ifndef MANAGER_FLEET_DIGS_H
#define MANAGER_FLEET_DIGS_H

#include <poll.h>

#include "base/json.h"
#include "manager/fleet/dig_child.h"
#include "manager/fleet/fleet.h"

enum { DIGS_AT_ONCE = 8 };

struct digs_wish {
	struct slice instance, method, by;
	uint64_t for_ms; /* 0: as usual */
	double budget;	 /* share of a processor; 0: as usual */
};

struct dug {
	struct dug *next;
	char id[40], instance[FLEET_ID], app[HUB_APP], by[64];
	char method[1024];
	char state[16];
	struct dig_child child; /* beside us */
	int far;		/* -1; or from beside a relay: records */
	struct buf far_in;
	uint64_t started_ms, ended_ms, end_by_ms;
	struct buf answer, lines; /* lines: each with its line end */
	struct buf rules;
	bool cancelled;
	char why[256];
	uint64_t pushed;
};

int digs_load(struct fleet *f);
/* 0 and *out; E_NOT_FOUND: no such instance, or not connected; E_LIMIT: too many; E_IO.  The dig of a
 * process at a relay runs beside that. */
int digs_start(struct fleet *f, const struct digs_wish *w, struct dug **out);
struct dug *digs_find(struct fleet *f, struct slice id); /* NULL: not here any more, or never */
void digs_cancel(struct dug *d);
void digs_json(const struct dug *d, struct json *j); /* one value */
bool digs_runs(const struct dug *d);
void digs_pushed(struct fleet *f, struct dug *d, uint64_t version);

/* Of the fleet's thread. */
nfds_t digs_watch(struct fleet *f, struct pollfd *fds, nfds_t room);
void digs_step(struct fleet *f, uint64_t now);
void digs_end_all(struct fleet *f);

#endif
