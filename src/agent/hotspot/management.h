/* SPDX-License-Identifier: Apache-2.0 */
/* management.h - what the JVM tells java.lang.management of threads that wait for monitors.
 *
 * JVMTI tells it only to agents that were there when the JVM began. */
#ifndef AGENT_HOTSPOT_MANAGEMENT_H
#define AGENT_HOTSPOT_MANAGEMENT_H

#include <jni.h>
#include <stdint.h>

#include "base/buf.h"

/* One ThreadInfo, or null, for each number of a Java thread: a local reference.  No thread is stopped
 * and no code of the program runs.  NULL: not to be had, as without the module java.management. */
jobjectArray management_threads(JNIEnv *jni, const jlong *numbers, jsize n);

/* Appends what the i-th of them waits for, "a.b.C@1f2e", and the name of who holds it.  The holder's
 * number; 0: nobody, or not known. */
uint64_t management_waits(JNIEnv *jni, jobjectArray threads, jsize i, struct buf *lock,
			  struct buf *holder);

#endif
