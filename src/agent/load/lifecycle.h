/* SPDX-License-Identifier: Apache-2.0 */
/* lifecycle.h - the agent's first and last acts. */
#ifndef AGENT_LOAD_LIFECYCLE_H
#define AGENT_LOAD_LIFECYCLE_H

#include <jni.h>

#include "agent/core/conn.h"

void lifecycle_at_start(JNIEnv *jni);	/* rules of the options; in the thread that starts the VM */
void lifecycle_undo_start(JNIEnv *jni); /* ... when the agent cannot run after all */
void lifecycle_last_report(void);	/* in the thread that ends the VM */

/* The command that takes all hooks out, proves it, and ends the agent's thread. */
void lifecycle_detach(struct conn *c, JNIEnv *jni, struct slice payload);
void lifecycle_after_stop(void); /* the last thing that thread does */

#endif
