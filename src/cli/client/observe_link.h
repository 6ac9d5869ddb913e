/* SPDX-License-Identifier: Apache-2.0 */
/* observe_link.h - the hands of observe: gathers what it scores, over one connection to the agent.
 *
 * The hooks that count calls are held by the connection, and leave with it.  When the program ends,
 * or Ctrl-C comes, what was gathered by then is kept. */
#ifndef CLI_CLIENT_OBSERVE_LINK_H
#define CLI_CLIENT_OBSERVE_LINK_H

#include "cli/client/client.h"
#include "plan/observe/observe.h"

struct observe_link {
	struct client client;
	struct observe observe;
	struct samples fresh;
	uint64_t for_ns;
	bool is_gone;  /* the program has ended meanwhile, or the agent has left it */
	char why[200]; /* what the agent said when it did not want to go on; "": it did */
};

/* CLI_DONE: something was seen, and decided; or an exit status after a message. */
int observe_link_watch(struct observe_link *l);

/* Puts rules in for good. */
int observe_link_apply(struct observe_link *l, struct slice rules);

#endif
