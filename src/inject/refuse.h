/* SPDX-License-Identifier: Apache-2.0 */
/* refuse.h - what can be seen from outside that makes it impossible, or unwise, to load a library into
 * a running native process.  Nothing here disturbs it. */
#ifndef INJECT_REFUSE_H
#define INJECT_REFUSE_H

#include <sys/types.h>

#include "base/buf.h"

struct refusal {
	char topic[12];
	char why[200];
	char todo[200];
	bool can_insist; /* --yes goes on all the same */
};

typedef void refuse_report(void *ctx, const struct refusal *r);

/* Reports each; how many there are. */
unsigned refuse_look(pid_t pid, refuse_report *report, void *ctx);

/* One of the lines of /proc/PID/status: "Uid:\t0\t0\t0\t0".  -1: there is none. */
long refuse_status_number(struct slice status, const char *key, unsigned field);

#endif
