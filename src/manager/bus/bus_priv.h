/* SPDX-License-Identifier: Apache-2.0 */
/* bus_priv.h - what the files of the bus share.
 *
 * Two threads: the reader follows the bucket, the writer puts there what is new here, and sends requests.  A third
 * serves those of others.  They alone call bus_link.h, whose calls may take seconds. */
#ifndef MANAGER_BUS_BUS_PRIV_H
#define MANAGER_BUS_BUS_PRIV_H

#include <cjson/cJSON.h>

#include "manager/bus/bus.h"
#include "manager/bus/bus_key.h"
#include "manager/bus/bus_link.h"

enum {
	FAR_MANAGERS = 64,
	FAR_PART = 64, /* processes in one entry */
	FAR_PARTS = (FLEET_INSTANCES + FAR_PART - 1) / FAR_PART,
	FAR_JSON = 4096,
	HOLD_BUCKETS = 4096,
	HOLDS_MAX = 100000,
	SAY_MS = 2000,	    /* between two words of a manager */
	SILENT_MS = 6000,   /* our own word has not come back */
	DEAD_MS = 10000,    /* another's has not come */
	PATIENCE_MS = 5000, /* for the bus, before processes are taken without it */
	CALLS_MAX = 32,
	ASKS_MAX = 64,
	PLANS_MAX = 2000,
	APPS_MAX = 2000, /* that others may name */
	DIGS_TOLD = 16,
};

struct far_part {
	struct far_instance *v;
	size_t n;
};

struct far_manager {
	struct far_manager *next;
	char name[FLEET_HOLDER];
	uint64_t created_ns; /* of its part 0 */
	unsigned parts;
	struct far_part part[FAR_PARTS];
	char digs[DIGS_TOLD][40];
	unsigned n_digs;
};

struct held {
	struct held *next;
	uint64_t revision;
	char manager[FLEET_HOLDER];
	char id[];
};

/* What the bus has of a plan. */
struct told_plan {
	struct told_plan *next;
	uint64_t version, revision;
	char app[HUB_APP];
};

struct far_ask {
	struct far_ask *next;
	uint64_t number, until_ms;
	char manager[FLEET_HOLDER];
	bus_on_answer *on;
	void *ctx;
	struct buf request; /* empty: it is sent */
	struct buf got;
	uint32_t pieces;
};

struct bus {
	struct fleet *f;
	struct bus_link *link;
	char name[FLEET_HOLDER];
	uint64_t run, began_ms;
	pthread_t reader, writer, server;
	bool has_reader, has_writer, has_server;
	pthread_mutex_t lock;
	pthread_cond_t work, called; /* of the writer; of the server */
	bool ends, wanted, has_unsent, ends_serving;
	/* of the bucket */
	uint64_t newest_ns, newest_at_ms; /* the server's clock, and ours then */
	uint64_t own_at_ms, up_at_ms, down_at_ms, twice_at_ms;
	bool is_up;
	struct far_manager *managers;
	unsigned n_managers;
	struct held *held[HOLD_BUCKETS];
	size_t n_held;
	struct told_plan *plans;
	size_t n_plans;
	struct map plans_at; /* application -> its struct told_plan */
	/* requests */
	bus_serve *serve;
	void *serve_ctx;
	struct bus_call *calls, **last_call;
	unsigned n_calls; /* also those that are being served */
	struct far_ask *asks;
	unsigned n_asks;
	uint64_t asked, answered;
	unsigned parts_put; /* of the writer */
	uint64_t tidied_ms;
};

void bus_wake(struct bus *b); /* the writer */
/* Under the bus's lock. */
bool bus_is_alive(const struct bus *b, const struct far_manager *m);
uint64_t bus_silent_ms(const struct bus *b,
		       const struct far_manager *m);		  /* by the server's clock */
struct far_manager *bus_manager(struct bus *b, const char *name); /* NULL: not heard of */

/* ---- bus_peers.c ---- */
void bus_peers_put(struct bus *b);			       /* of the writer */
void bus_peers_take(struct bus *b, const struct bus_entry *e); /* of the reader */
void bus_peers_leave(struct bus *b);
bool bus_peers_key(char to[BUS_KEY + 16], const char *name, unsigned part);
void bus_peers_release(struct bus *b);
size_t bus_apps_left(const struct bus *b); /* that others may still name; under the fleet's lock */

/* ---- bus_holds.c ---- */
void bus_holds_step(struct bus *b);
void bus_holds_take(struct bus *b, const struct bus_entry *e);
void bus_holds_leave(struct bus *b);
void bus_holds_forget(struct bus *b); /* what is on the bus; like that of plans, under the lock */
const struct held *bus_held(const struct bus *b, const char *id); /* NULL: nobody has it */

/* ---- bus_sweep.c ---- */
void bus_sweep(struct bus *b); /* of the writer: takes out what nobody will */

/* ---- bus_plans.c ---- */
void bus_plans_step(struct bus *b);
void bus_plans_take(struct bus *b, const struct bus_entry *e);
void bus_plans_forget(struct bus *b);

/* ---- bus_ask.c ---- */
int bus_ask_start(struct bus *b);
void bus_ask_step(struct bus *b);
void bus_ask_quit(struct bus *b);

#endif
