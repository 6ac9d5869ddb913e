/* SPDX-License-Identifier: Apache-2.0 */
/* walk_link.h - the hands of walk: samples, hooks and reads what the plan asks for, over a
 * connection to each agent.
 *
 * Its hooks are held by the connection, and leave with it however the command ends. */
#ifndef CLI_WALK_WALK_LINK_H
#define CLI_WALK_WALK_LINK_H

#include "cli/client/beside.h"
#include "cli/hot/sampled.h"
#include "plan/walk/climb.h"

struct walk_link;

/* A JVM has an agent of its own and, from the first hook in native code on, another one beside it. */
struct walk_agent {
	struct walk_link *link;
	struct client *client;
	bool native;	 /* rows are pairs of caller and callee */
	uint64_t before; /* methods that others had hooked */
	uint64_t own;	 /* methods of ours in the program now */
};

struct walk_link {
	struct client client;
	struct target target;
	struct beside beside;
	struct walk_agent agents[2];
	unsigned n_agents;
	bool alone; /* no other agent is, or can be put, beside the first one */
	struct climb climb;
	struct sampled sampled;
	uint32_t rate;
	struct buf caller;	 /* of the pairs that come next */
	uint64_t most_own, left; /* at a time; after the last one was taken out */
	bool is_out;		 /* the agents have told so */
};

/* The first question to the agent, before the first action.  CLI_DONE, or an exit status after a
 * message; after Ctrl-C CLI_CANNOT without one: so for all here. */
int walk_link_begin(struct walk_link *l, const struct target *t);
int walk_link_do(struct walk_link *l, const struct climb_action *a);
int walk_link_leave(struct walk_link *l); /* takes the hooks out, and looks whether they are */
void walk_link_end(struct walk_link *l);  /* an agent that it has put beside the JVM's goes */
void walk_link_release(struct walk_link *l);

#endif
