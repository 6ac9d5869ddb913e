/* SPDX-License-Identifier: Apache-2.0 */
/* locks.h - which locks threads wait for while samples are taken, and who holds them.
 *
 * The JVM reports monitors when a thread begins to wait for one (in that thread; a few times a
 * second the holder is asked for, too).  Locks of java.util.concurrent are read from the waiting
 * thread's fields, by the agent's thread.  Bounded. */
#ifndef AGENT_NATIVES_LOCKS_H
#define AGENT_NATIVES_LOCKS_H

#include <jvmti.h>

#include "agent/classes/sites.h"
#include "base/buf.h"

void locks_begin(JNIEnv *jni); /* switches the JVM's events on */
void locks_end(void);
/* Metered calls learn for how long they are blocked, or do so no more.  false: the JVM does not
 * tell. */
bool locks_meter(bool on);

bool locks_time(bool on); /* each wait is told to agent/sampling/events.h; likewise */

/* The thread was seen parked below an acquire(). */
void locks_parked(JNIEnv *jni, jthread thread, struct sites *sites);

/* What a parked thread waits for, NULL if it has not said so, and in *owner who has that, or NULL: local
 * references. */
jobject locks_blocker(JNIEnv *jni, jthread thread, jthread *owner);

void locks_put(struct buf *out, JNIEnv *jni, struct sites *sites); /* as messages */

void JNICALL locks_on_contended(jvmtiEnv *jvmti, JNIEnv *jni, jthread thread, jobject object);
void JNICALL locks_on_entered(jvmtiEnv *jvmti, JNIEnv *jni, jthread thread, jobject object);

#endif
