/* SPDX-License-Identifier: Apache-2.0 */
/* command.h - what clients can ask of the agent.  Runs on the agent's thread, except for the two that
 * say otherwise. */
#ifndef AGENT_COMMAND_H
#define AGENT_COMMAND_H

#include <jni.h>

#include "agent/rulebook.h"
#include "agent/server.h"

/* Answers one frame into c->out.  False: the client does not speak our language. */
bool command_run(struct conn *c, unsigned type, struct slice payload);

void command_client_gone(uint32_t number); /* what it held goes */
void command_after_stop(void);		   /* the last thing the thread does */

/* Puts rules in for as long as the client is there, with what a hook would answer as a warning.  The
 * number of the first of them, or negative: not done, and the client knows. */
struct command_rules {
	struct slice rules;
	const char *origin;
	struct entry as;
	uint32_t flags;
	bool quiet; /* the warning is not sent */
};
int command_hold(struct conn *c, JNIEnv *jni, const struct command_rules *r);

/* Takes out the rules that are meant, and their hooks. */
int command_remove(bool (*meant)(const struct entry *e, void *ctx), void *ctx);

void command_at_start(JNIEnv *jni); /* rules of the options; in the thread that starts the VM */
void command_last_report(void);	    /* in the thread that ends the VM */

/* Classes came that the rules want, and that were not touched when they were loaded. */
void command_follow(void);

#endif
