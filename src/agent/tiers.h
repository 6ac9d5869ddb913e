/* SPDX-License-Identifier: Apache-2.0 */
/* tiers.h - what runs methods now: the interpreter, C1, C2, or native code.
 *
 * The JVM's events would tell each compilation, and cost each; here it is looked at when somebody
 * asks.  The agent's thread only. */
#ifndef AGENT_TIERS_H
#define AGENT_TIERS_H

#include <jvmti.h>

#include "agent/server.h"

/* A TYPE_* of probe/types.h; the caller holds the method's class. */
unsigned tiers_of(jmethodID method, jint access);
const char *tiers_text(unsigned type); /* "compiled by C2" */

/* The command: looks at all hooked methods, and watches sequences for a moment. */
void tiers_run(struct conn *c, JNIEnv *jni, struct slice payload);
void tiers_put_sequences(struct buf *out); /* those that were seen since figures were reset */

#endif
