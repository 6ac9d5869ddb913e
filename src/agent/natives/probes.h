/* SPDX-License-Identifier: Apache-2.0 */
/* probes.h - the Java side of the probe: java.util.SondeProbe, and how woven code calls C.
 *
 * probes_init defines the classes and binds the natives; from then on woven code may run.  They
 * stay in the JVM after detaching, closed and idle, since a class of java.base cannot be
 * unloaded and a frame of woven code may still want to call its exit. */
#ifndef AGENT_NATIVES_PROBES_H
#define AGENT_NATIVES_PROBES_H

#include <jni.h>
#include <stdbool.h>
#include <stdint.h>

/* 0, or negative with the reason noted.  Does nothing the second time. */
int probes_init(JNIEnv *jni);

/* When hooks have been put in: the JVM's flag that made the way into C cheaper goes back to what it
 * was, if it may.  Some ms, once. */
void probes_settle(JNIEnv *jni);

/* Goes over to the cheaper way into C, where the JVM has one and calls are frequent; takes some
 * 150 ms once, in this thread.  True: the way in use is the cheapest there is. */
bool probes_go_fast(JNIEnv *jni);
/* Has the code compiled that calls which are measured alone begin with. */
void probes_warm_blanks(JNIEnv *jni);
/* Lets compilers see closed hooks before they see open ones: gates can then be changed without
 * anything being compiled anew.  Takes a twentieth of a second, once, and on a busy machine up to
 * half of one. */
void probes_train(JNIEnv *jni);
const char *probes_mechanism(void); /* "JNI", "JNI critical", "FFM critical" */
bool probes_is_fast(void);

jclass probes_text_class(void); /* java.util.SondeText */

#endif
