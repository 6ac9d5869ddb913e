/* SPDX-License-Identifier: Apache-2.0 */
/* relays.h - the manager's side of relays (`sonded --relay`): each has a connection with a thread of
 * its own, which moves bytes between it and socket pairs; the other ends of these are connections to
 * agents as any others.  See docs/decisions/manager-relay.md. */
#ifndef MANAGER_FLEET_RELAYS_H
#define MANAGER_FLEET_RELAYS_H

#include "manager/fleet/fleet.h"

enum { RELAYS_MAX = 256, RELAY_NAME = 64 };

struct relay_line; /* a connection */

/* Under the fleet's lock. */
struct relay {
	struct relay *next;
	char name[RELAY_NAME], where[64], from[64], build[64];
	struct relay_line *line;     /* NULL: it is away */
	uint64_t turn;		     /* the number of its connection */
	uint64_t since_ms, heard_ms; /* of the day; heard_ms when it went, see relays_heard_ms */
	uint64_t got, gave;	     /* bytes of earlier connections */
	char why[200];		     /* it went; "" */
	struct relay_fact *facts, **last_fact;
	unsigned n_facts;
	unsigned n_lines; /* also those that are about to end */
};

struct relay_arrival {
	struct slice name, where, build, from;
	int fd;		    /* of the connection; does not block */
	struct slice first; /* bytes that came already */
	void (*hang_up)(void *ctx);
	void *ctx;
};

/* 0; or E_*, and why it may not come.  Takes the lock. */
int relays_admit(struct fleet *f, const struct relay_arrival *a, char why[200]);
/* hang_up is called when it is over, which may be at once.  Takes the lock. */
void relays_join(struct fleet *f, const struct relay_arrival *a);

/* ---- under the lock ---- */

/* As link_open. */
int relays_open(struct fleet *f, struct instance *i, struct agent_link *l);
/* The same for others than links: the end of a socket pair, or E_*. */
int relays_channel(struct fleet *f, struct instance *i, unsigned kind, struct slice text);
uint64_t relays_heard_ms(const struct relay *r); /* of the day: when its last word came */
void relays_bytes(const struct relay *r, uint64_t *got, uint64_t *gave);
void relays_step(struct fleet *f); /* the fleet's thread */

void relays_stop(struct fleet *f); /* all connections end; takes the lock */
void relays_release(struct fleet *f);

#endif
