/* SPDX-License-Identifier: Apache-2.0 */
/* callees.h - what the methods of loaded classes call, read out of the byte code that the JVM has.
 *
 * Runs on the agent's thread. */
#ifndef AGENT_SERVE_CALLEES_H
#define AGENT_SERVE_CALLEES_H

#include <jni.h>

#include "agent/core/conn.h"

void callees_run(struct conn *c, JNIEnv *jni, struct slice payload); /* the command */

void callees_forget(void); /* what is remembered; when the agent leaves */

#endif
