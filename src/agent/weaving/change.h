/* SPDX-License-Identifier: Apache-2.0 */
/* change.h - rules come and go, and with them the hooks.  Runs on the agent's thread;
 * change_to_rules also in the one that starts the VM. */
#ifndef AGENT_WEAVING_CHANGE_H
#define AGENT_WEAVING_CHANGE_H

#include <jni.h>

#include "agent/classes/rulebook.h"
#include "agent/core/conn.h"

/* Commands; each answers into c->out. */
void change_hook(struct conn *c, JNIEnv *jni, struct slice payload);
void change_unhook(struct conn *c, JNIEnv *jni, struct slice payload);

/* Puts rules in for as long as the client is there, with what a hook would answer as a warning.
 * The number of the first of them, or negative: not done, and the client knows. */
struct change_rules {
	struct slice rules;
	const char *origin;
	struct rule_entry as;
	uint32_t flags;
	bool quiet; /* the warning is not sent */
};
int change_hold(struct conn *c, JNIEnv *jni, const struct change_rules *r);

void change_client_gone(uint32_t number); /* what it held goes */

/* Takes out the rules that are meant, and their hooks.  How many, or negative. */
int change_remove(bool (*meant)(const struct rule_entry *e, void *ctx), void *ctx);

/* Makes the JVM's classes look as the rules in force say. */
int change_to_rules(JNIEnv *jni);
/* ... and gives those that no rule wants their original code now, and not some seconds later. */
int change_to_rules_at_once(JNIEnv *jni);

/* Classes came that the rules want, and that were not touched when they were loaded. */
void change_follow(void);

/* Those that no rule wants, and that have rested, get their original code.  Every second. */
void change_end_rest(void);

bool change_is_about_data(const struct rules *rules);	/* conditions or captures */
bool change_any(const struct rule_entry *e, void *ctx); /* for change_remove: all of them */
void change_put_left(struct buf *out);			/* methods that are left alone, and why */

#endif
