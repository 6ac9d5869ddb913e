/* SPDX-License-Identifier: Apache-2.0 */
/* bus_link.h - the connection to NATS: one bucket of its key-value store, and subjects.  Nothing here knows
 * what is in them.  Any thread, but for watching, which one does; each call may take seconds when servers do not
 * answer, so it is none for threads that others wait for. */
#ifndef MANAGER_BUS_BUS_LINK_H
#define MANAGER_BUS_BUS_LINK_H

#include "base/buf.h"
#include "manager/settings.h"

struct bus_link;

struct bus_entry {
	const char *key;
	struct slice value;
	uint64_t revision, created_ns; /* by the server's clock */
	bool is_gone;
};

/* Goes on trying to connect for as long as it takes.  0, E_USAGE (a line in the log), E_NO_MEMORY. */
int bus_link_open(struct bus_link **out, const struct settings *c, const char *name);
void bus_link_close(struct bus_link *l);
bool bus_link_is_connected(struct bus_link *l);
void bus_link_why(struct bus_link *l, char *to, size_t room); /* it is not */
size_t bus_link_most(struct bus_link *l);		      /* bytes of a message */

/* In place of *revision (BUS_ANY: of whatever is there; 0: of nothing), which becomes the new one.  0; E_DUPLICATE:
 * something else is there; E_IO. */
#define BUS_ANY UINT64_MAX
int bus_link_put(struct bus_link *l, const char *key, struct slice value, uint64_t *revision);
int bus_link_drop(struct bus_link *l, const char *key);
/* Takes out what is left of keys that were dropped half an hour ago or earlier. */
int bus_link_tidy(struct bus_link *l);

/* Begins to watch, anew: all that is there comes first.  E_IO: not now.  Also makes a new connection where the library
 * has given up. */
int bus_link_watch(struct bus_link *l);
typedef void bus_on_entry(void *ctx, const struct bus_entry *e);
/* One entry, within about ms: 1; none: 0; E_IO: watch again. */
int bus_link_next(struct bus_link *l, int ms, bus_on_entry *on, void *ctx);

/* `on` is called in a thread of the library's, until bus_link_close.  Before any other thread is there. */
typedef void bus_on_message(void *ctx, struct slice message);
int bus_link_listen(struct bus_link *l, const char *subject, bus_on_message *on, void *ctx);
int bus_link_send(struct bus_link *l, const char *subject, struct slice message);

#endif
