/* SPDX-License-Identifier: Apache-2.0 */
/* memory.h - what is kept about an application between commands: findings of dig, and how long its
 * methods usually take (plan/dig/known.h), in files of the user's (cache/state.h).
 *
 * Several commands may keep something at once: what is there is read anew before it is written,
 * under a lock.  A memory that cannot be had is empty; nothing fails for want of one. */
#ifndef CLI_CLIENT_MEMORY_H
#define CLI_CLIENT_MEMORY_H

#include <limits.h>
#include <sys/types.h>

#include "plan/dig/known.h"

struct memory {
	bool quiet;	    /* say nothing when it cannot be kept */
	bool usable;	    /* there is a place for it, and the application has a name */
	bool foreign;	    /* not usable, since it is another user's program */
	struct known known; /* add runs here */
	uint64_t when;	    /* now, in seconds since 1970; of runs that are added */
	char dir[PATH_MAX];
	char app[256];
};

/* Reads what is there.  app: as the agent of process `pid` tells it in `welcome`; empty: not usable.
 * Nothing is kept of a program of another user, or in a container: what it says of itself would
 * become rules of the caller's. */
void memory_open(struct memory *m, struct slice app, pid_t pid);
void memory_release(struct memory *m);

/* Keeps the runs that were added since, and a finding (NULL: none).  CLI_DONE, or CLI_CANNOT after
 * a message. */
int memory_keep(struct memory *m, const struct known_finding *finding);

/* All applications of which something is kept, by name. */
typedef int memory_visit(void *ctx, const struct known *known); /* not 0: stop, and give that */
int memory_each(memory_visit *visit, void *ctx);

/* Of one application; false: there was nothing. */
bool memory_forget(struct slice app);

/* Where the rules for the agent are; false: nowhere. */
bool memory_place(char dir[PATH_MAX]);

#endif
