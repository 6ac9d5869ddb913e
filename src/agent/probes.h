/* SPDX-License-Identifier: Apache-2.0 */
/* probes.h - the Java side of the probe: java.util.SondeProbe, its natives, its gates.
 *
 * probes_init defines the classes and binds the natives; from then on woven code may run.  They
 * stay in the JVM after detaching, closed and idle, since a class of java.base cannot be
 * unloaded and a frame of woven code may still want to call its exit. */
#ifndef AGENT_PROBES_H
#define AGENT_PROBES_H

#include <jni.h>
#include <stdbool.h>
#include <stdint.h>

/* 0, or negative with the reason noted.  Does nothing the second time. */
int probes_init(JNIEnv *jni);

/* ask: C is to be asked before a condition is looked at.  inside: the gate is closed, too, while no
 * thread is in a sequence of callers. */
void probes_open(JNIEnv *jni, uint32_t id, bool ask, bool inside);
void probes_close(JNIEnv *jni, uint32_t id);
/* Between these the calling thread's gates are kept back, and then told to the JVM at once: for the
 * methods of a class whose code does not run yet. */
void probes_hold(void);
void probes_let(JNIEnv *jni);
void probes_close_all(JNIEnv *jni);

/* For windows in which hooks are closed.  probes_shut sets the first n gates to what it is given,
 * and probes_reopen back to what they were, or have become meanwhile. */
enum { PROBES_OPEN = 1, PROBES_ALONE = -8 }; /* values of gates */
int probes_gate(uint32_t id);		     /* what it is when nothing is shut */
void probes_shut(JNIEnv *jni, const int8_t *all, uint32_t n);
void probes_reopen(JNIEnv *jni, uint32_t n);

/* How calls of a method are taken whose gate is below 0. */
enum probes_manner {
	PROBES_USUAL,
	PROBES_SOLO, /* measured alone, see probe/solo.h */
	PROBES_MARK,
};
void probes_manner(uint32_t id, enum probes_manner manner);

/* What may be told of a method's calls, whatever its hook knows. */
enum probes_tell {
	PROBES_TELL_ALL,
	PROBES_TELL_ARGUMENTS, /* but for the object, result and message */
	PROBES_TELL_TIMES,     /* no facts but the exception, no bytes */
	PROBES_TELL_CALLS,     /* ... nor of calls that are not timed that they threw one */
};
void probes_tell(uint32_t id, enum probes_tell tell);

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

/* The class of that name in java.base: the one there from an earlier attach, or a new one.  A
 * global reference; NULL: noted. */
jclass probes_define(JNIEnv *jni, const char *name, const uint8_t *from, const uint8_t *to);

const jclass *probes_own(size_t *n); /* all that were defined so */

jclass probes_text_class(void); /* java.util.SondeText */

#endif
