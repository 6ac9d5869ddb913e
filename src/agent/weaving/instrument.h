/* SPDX-License-Identifier: Apache-2.0 */
/* instrument.h - weaves classes when the JVM shows their bytes.
 *
 * Classes that are loaded from now on are woven as they come, in the thread that loads them; those
 * already there are surveyed (survey.h) and retransformed by the agent's thread.  The JVM always
 * hands out a class as it was before anybody's hooks, so taking hooks out is the same act under
 * other rules. */
#ifndef AGENT_WEAVING_INSTRUMENT_H
#define AGENT_WEAVING_INSTRUMENT_H

#include <jvmti.h>

#include "agent/classes/rulebook.h"
#include "agent/classes/woven.h"

/* Switches the JVM's events to what the edition in force needs. */
void instrument_events(void);

/* The class file of a class as the JVM has it, without anybody's hooks; false: not to be had.  On
 * the agent's thread. */
bool instrument_bytes(JNIEnv *jni, jclass klass, struct buf *out);

/* JVMTI callback. */
void JNICALL instrument_on_bytes(jvmtiEnv *jvmti, JNIEnv *jni, jclass klass, jobject loader,
				 const char *name, jobject domain, jint n,
				 const unsigned char *bytes, jint *new_n,
				 unsigned char **new_bytes);

/* Was a class loaded since the last call that is to be redefined live? */
bool instrument_live_waits(void);
void instrument_live_wait(void); /* there is one */

/* Class names by whose code the probe or the thread switch itself runs; LEFT_KINDS: none. */
enum left_kind instrument_kind(const char *name, size_t n);

#endif
