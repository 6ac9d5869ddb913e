/* SPDX-License-Identifier: Apache-2.0 */
/* dig_child.h - a `sonde dig` as a child process: beside the manager, or beside a relay. */
#ifndef MANAGER_FLEET_DIG_CHILD_H
#define MANAGER_FLEET_DIG_CHILD_H

#include <sys/types.h>

#include "base/buf.h"

struct dig_order {
	const char *sonde, *method; /* method "": all of it */
	pid_t of;
	uint64_t for_ms; /* 0: as usual */
	double budget;	 /* share of a processor; 0: as usual */
};

struct dig_child {
	pid_t pid;    /* 0: none */
	int out, err; /* its streams, which do not block; -1: at their end */
	char rules_path[64];
};

int dig_child_start(struct dig_child *c,
		    const struct dig_order *o); /* on failure c is as good as none */
/* What came; -1 instead of the descriptor when it is at its end.  True: something did. */
bool dig_child_drain(int *fd, struct buf *to);
/* After its end: the rules that it has saved. */
void dig_child_rules(struct dig_child *c, struct buf *rules);
void dig_child_release(struct dig_child *c); /* the process is not waited for */

#endif
