/* SPDX-License-Identifier: Apache-2.0 */
/* call_types.h - which types of methods call each other: interpreted, C1, C2, native.
 *
 * What a hook costs depends on it, so a report subtracts by it.  The agent's thread only. */
#ifndef AGENT_SERVE_CALL_TYPES_H
#define AGENT_SERVE_CALL_TYPES_H

#include <jni.h>

#include "agent/core/conn.h"

/* The command: looks at all hooked methods, and watches sequences for a moment. */
void call_types_run(struct conn *c, JNIEnv *jni, struct slice payload);
void call_types_put(struct buf *out); /* those that were seen since figures were reset */

#endif
