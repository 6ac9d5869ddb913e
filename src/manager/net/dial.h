/* SPDX-License-Identifier: Apache-2.0 */
/* dial.h - an HTTP connection to another server that becomes one of bytes (Upgrade), by libcurl, which
 * checks certificates.  One thread. */
#ifndef MANAGER_NET_DIAL_H
#define MANAGER_NET_DIAL_H

#include <stdbool.h>
#include <stddef.h>

#include "base/slice.h"

struct dial;

struct dial_wish {
	const char *url;   /* of the server; what is in it is put before the path */
	const char *path;  /* with its query */
	const char *token; /* as Authorization: Bearer */
	const char *ca;	   /* file of certificates; "": those of the system */
	const char *protocol;
	const bool *ends; /* gives up soon after it is set */
};

/* NULL: not connected, and `why` says why; at most 20 seconds. */
struct dial *dial_open(const struct dial_wish *w, char why[300]);
void dial_close(struct dial *d);
struct slice dial_first(const struct dial *d); /* bytes that have come already */
int dial_fd(const struct dial *d);
/* As those of struct pump_way. */
long dial_send(void *dial, const void *p, size_t n);
long dial_recv(void *dial, void *to, size_t n);

/* Is the host of that URL this machine, by its name or address? */
bool dial_is_loopback(const char *url);
bool dial_is_tls(const char *url);

#endif
