/* SPDX-License-Identifier: Apache-2.0 */
/* meter.h - what metered calls are told by the agent: how many bytes their thread has allocated,
 * for how long it was blocked, and whether the processor counts for them. */
#ifndef AGENT_METER_H
#define AGENT_METER_H

#include <jni.h>
#include <stdbool.h>

/* Finds out where the JVM keeps it.  By a thread of the JVM, before meter_start. */
void meter_prepare(JNIEnv *jni);
void meter_start(void);	 /* metered calls tell it from now on, or a note says why not; any thread */
void meter_follow(void); /* the rules have changed; on the agent's thread */
unsigned meter_unknown(void); /* METER_NO_* of wire.h */

#endif
