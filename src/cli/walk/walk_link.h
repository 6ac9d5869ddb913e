/* SPDX-License-Identifier: Apache-2.0 */
/* walk_link.h - the hands of walk: samples, hooks and reads what the plan asks for, over one
 * connection to the agent.
 *
 * Its hooks are held by the connection, and leave with it however the command ends. */
#ifndef CLI_WALK_WALK_LINK_H
#define CLI_WALK_WALK_LINK_H

#include "cli/hot/sampled.h"
#include "plan/walk/climb.h"

struct walk_link {
	struct client client;
	struct climb climb;
	struct sampled sampled;
	uint32_t rate;
	bool native;	   /* the agent of a native process: rows are pairs of caller and callee */
	struct buf caller; /* of the pairs that come next */
	uint64_t before;   /* methods that others had hooked */
	uint64_t hooked, own; /* methods in the program now; of these ours */
	uint64_t most_own;
	uint64_t left;	    /* ours that were still hooked after the last one was taken out */
	uint64_t woven;	    /* classes that had not their original code then */
	uint64_t redefined; /* how often classes got other code */
	bool is_out;	    /* the agent has told so */
};

/* The first question to the agent, before the first action.  CLI_DONE, or an exit status after a
 * message; after Ctrl-C CLI_CANNOT without one: so for all here. */
int walk_link_begin(struct walk_link *l, const struct target *t);
int walk_link_do(struct walk_link *l, const struct climb_action *a);
int walk_link_leave(struct walk_link *l); /* takes the hooks out, and looks whether they are */
void walk_link_release(struct walk_link *l);

#endif
