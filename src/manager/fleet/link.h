/* SPDX-License-Identifier: Apache-2.0 */
/* link.h - one connection to an agent that never blocks: frames in, frames out.
 *
 * A socket in /tmp proves nothing: the kernel is asked whose it is before anything is sent. */
#ifndef MANAGER_FLEET_LINK_H
#define MANAGER_FLEET_LINK_H

#include <sys/types.h>

#include "base/buf.h"

struct agent_link {
	int fd; /* -1: closed */
	struct buf in, out;
	size_t used, sent;
};

struct link_peer {
	pid_t pid, ns_pid;
	uid_t uid;
};

/* 0; E_NOT_FOUND: nobody listens; E_LIMIT: try later; E_UNSUPPORTED: it is somebody else's; E_IO. */
int link_open(struct agent_link *l, const struct link_peer *peer);
void link_close(struct agent_link *l);

short link_wants(const struct agent_link *l); /* of poll() */
/* Sends and reads what can be; E_IO: it is over. */
int link_pump(struct agent_link *l);
/* 1 and a frame; 0: no whole one is there; negative: nonsense. */
int link_next(struct agent_link *l, unsigned *type, struct slice *payload);

#endif
