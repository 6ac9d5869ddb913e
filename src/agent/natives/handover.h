/* SPDX-License-Identifier: Apache-2.0 */
/* handover.h - transactions and captured values go along when work changes threads.
 *
 * The places where the JDK hands work over and takes it up are woven by rules of our own, which
 * look like captures; java/probe/java/util/SondeHop.java does the rest.  The rules are in force
 * only while somebody traces, or some condition reads a captured value (carry.h). */
#ifndef AGENT_NATIVES_HANDOVER_H
#define AGENT_NATIVES_HANDOVER_H

#include <jvmti.h>

#include "base/slice.h"

int handover_define(JNIEnv *jni);  /* the classes; 0 or E_UNSUPPORTED */
struct slice handover_rules(void); /* for the JVM that this is */

/* Threads that begin from now on look whether they belong to something; or no more, and what was
 * remembered is forgotten. */
void handover_on(void);
void handover_off(void);

/* JVMTI callback. */
void JNICALL handover_on_start(jvmtiEnv *jvmti, JNIEnv *jni, jthread thread);

#endif
