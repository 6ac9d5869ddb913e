/* SPDX-License-Identifier: Apache-2.0 */
/* life.h - the agent's first and last acts. */
#ifndef AGENT_LIFE_H
#define AGENT_LIFE_H

#include <jni.h>

#include "agent/server.h"

void life_at_start(JNIEnv *jni); /* rules of the options; in the thread that starts the VM */
void life_last_report(void);	 /* in the thread that ends the VM */

/* The command that takes all hooks out, proves it, and ends the agent's thread. */
void life_detach(struct conn *c, JNIEnv *jni, struct slice payload);
void life_after_stop(void); /* the last thing that thread does */

#endif
