/* SPDX-License-Identifier: Apache-2.0 */
/* beside.h - the agent of native functions in a JVM, beside the JVM's own agent.
 *
 * It comes with the first rule for a native function, and leaves with `detach`.  A native process has one
 * agent alone: nothing is beside it. */
#ifndef CLI_CLIENT_BESIDE_H
#define CLI_CLIENT_BESIDE_H

#include "cli/attach/target.h"
#include "cli/client/client.h"

struct beside {
	struct target target;
	struct client client;
	bool is_open;  /* else nothing of the client may be used */
	bool attached; /* by us */
};

bool beside_is_there(const struct target *t);

/* Opens the client where that agent is; CLI_DONE also where it is not. */
int beside_find(struct beside *b, const struct target *t);

/* Puts it in where it is not.  CLI_DONE, or an exit status after a message. */
int beside_bring(struct beside *b, const struct target *t);

/* All zero is fine.  Unless it is to stay, one that we put in is taken out again. */
void beside_end(struct beside *b, bool stay);

#endif
