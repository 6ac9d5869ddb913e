/* SPDX-License-Identifier: Apache-2.0 */
/* found.h - which processes of this machine have an agent.  One thread. */
#ifndef MANAGER_FLEET_FOUND_H
#define MANAGER_FLEET_FOUND_H

#include "manager/fleet/link.h"

enum { FOUND_MAX = 4000 };

struct found_agents {
	uint64_t near_ms, far_ms; /* monotonic: when to look again */
	struct link_peer peer[FOUND_MAX];
	size_t n;
};

/* False: it is not time yet.  Else .peer has those that were seen now; one that is not among them
 * may still be there. */
bool found_look(struct found_agents *all, uint64_t now);

/* When the process began, in ticks since the machine did; 0: it is not there. */
unsigned long long found_begin(pid_t pid);

/* This machine since it was started, and which processes of it we see: what process numbers are of. */
void found_where(char to[64]);

#endif
