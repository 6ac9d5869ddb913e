/* SPDX-License-Identifier: Apache-2.0 */
/* bus.h - what managers that share a store tell each other (--bus): plans as soon as they change, which of them
 * talks to which process, what their processes look like, and requests about them.
 *
 * Its lock is below the fleet's: whoever has both took the fleet's first. */
#ifndef MANAGER_BUS_BUS_H
#define MANAGER_BUS_BUS_H

#include "manager/fleet/fleet.h"
#include "manager/fleet/shown.h"

struct bus;

/* A request of another manager's client, to be answered by bus_answer. */
struct bus_call {
	struct bus_call *next;
	struct slice request; /* JSON */
	void *state;	      /* of who serves it, across calls of `serve` */
	uint64_t number;
	char from[FLEET_HOLDER];
	struct buf mem;
};

/* *out NULL: there is no bus.  0; or a line is in the log. */
int bus_start(struct bus **out, struct fleet *f);
/* To end, in this order; NULL is fine for each.  First, whoever waits for another manager is told that it is gone. */
void bus_quit(struct bus *b);
void bus_end_calls(struct bus *b); /* when agents have been hung up on: nobody is served any more */
void bus_stop(struct bus *b);	   /* gives processes back */

struct bus_state {
	bool is_up, is_twice; /* twice: somebody else has our name */
	unsigned managers;    /* that are alive, besides us */
	uint64_t processes;   /* of theirs */
	uint64_t asked, answered;
};
void bus_state(struct bus *b, struct bus_state *out); /* b may be NULL: all zero */

/* ---- processes of other managers ---- */

struct far_instance {
	char id[FLEET_ID], app[HUB_APP];
	const char *manager;
	char *json; /* as the API shows it */
	bool is_connected, has_ended;
	struct shown_sum sum;
	uint64_t plan_version;
	char *rules; /* one letter each: the first of reconcile_word */
};
typedef void bus_on_far(void *ctx, const struct far_instance *i);
/* Under both locks; app .n 0: of all.  b may be NULL. */
void bus_each(struct bus *b, struct slice app, bus_on_far *on, void *ctx);
/* The manager that has this process, or runs this dig; false: none but us. */
bool bus_holder(struct bus *b, struct slice instance, char to[FLEET_HOLDER]);
bool bus_digger(struct bus *b, struct slice dig, char to[FLEET_HOLDER]);
/* One that is connected to a process of the application. */
bool bus_any_holder(struct bus *b, struct slice app, char to[FLEET_HOLDER]);

/* ---- requests ---- */

enum { BUS_GONE = 503 };
/* Once, without locks, maybe before bus_ask returns. */
typedef void bus_on_answer(void *ctx, int status, struct slice body);
void bus_ask(struct bus *b, const char *manager, struct slice request, bus_on_answer *on,
	     void *ctx);

/* Whoever serves requests, in a thread of the bus.  True: it was answered; false: bus_again, later. */
typedef bool bus_serve(void *ctx, struct bus_call *call);
void bus_serve_by(struct bus *b, bus_serve *serve, void *ctx); /* before any comes */
void bus_answer(struct bus *b, struct bus_call *call, int status, struct slice body);
void bus_again(struct bus *b, struct bus_call *call); /* any thread: serve is called again */

#endif
