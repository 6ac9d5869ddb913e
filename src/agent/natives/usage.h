/* SPDX-License-Identifier: Apache-2.0 */
/* usage.h - what the agent measures for metered calls: how many bytes their thread has allocated,
 * for how long it was blocked, and whether the processor counts for them. */
#ifndef AGENT_NATIVES_USAGE_H
#define AGENT_NATIVES_USAGE_H

#include <jni.h>
#include <stdbool.h>

/* Finds out where the JVM keeps it.  By a thread of the JVM, before usage_start. */
void usage_prepare(JNIEnv *jni);
void usage_start(void);	 /* metered calls tell it from now on, or a note says why not; any thread */
void usage_follow(void); /* the rules have changed; on the agent's thread */
unsigned usage_unknown(void); /* METER_NO_* of wire.h */

#endif
