/* SPDX-License-Identifier: Apache-2.0 */
/* visit.h - the agent for the time of one command.
 *
 * Commands that look for a while and leave nothing (dig, trace, watch) need not ask a person to
 * attach first: where no agent is, it is put in, as "sonde attach" does, and taken out at the end,
 * as "sonde detach" does.  What these two say goes to stderr.  An agent that was there stays. */
#ifndef CLI_CLIENT_VISIT_H
#define CLI_CLIENT_VISIT_H

#include "cli/client/client.h"

struct visit {
	pid_t pid;
	bool attached; /* by us */
};

/* Also opens the client.  CLI_DONE, or an exit status after a message. */
int visit_begin(struct visit *v, struct client *c, const struct target *t);

/* target_find, then visit_begin. */
int visit_find(struct visit *v, struct client *c, const char *text, struct target *t);

/* Says, of a JVM that has been running for long when the agent came, what hooks do to it first. */
void visit_tell_of_first_hook(double uptime);
void visit_will_hook(const struct visit *v); /* the same before hooks come, if that is news */

void visit_end(struct visit *v, struct client *c); /* closes it; v and c all zero is fine */

/* "sonde VERB PID OPTION MORE" as a program of its own, and its exit status; what it prints goes to stderr.
 * NULL: no more options. */
int visit_run_self(const char *verb, pid_t target, const char *option, const char *more);

#endif
