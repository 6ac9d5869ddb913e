/* SPDX-License-Identifier: Apache-2.0 */
/* meter.h - how many bytes a Java thread has allocated, without asking the JVM. */
#ifndef AGENT_METER_H
#define AGENT_METER_H

#include <jni.h>
#include <stdbool.h>

/* Finds out where the JVM keeps it.  By a thread of the JVM, before meter_start. */
void meter_prepare(JNIEnv *jni);
void meter_start(void); /* metered calls tell it from now on, or a note says why not; any thread */
bool meter_has_bytes(void);

#endif
