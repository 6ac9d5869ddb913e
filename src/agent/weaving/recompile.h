/* SPDX-License-Identifier: Apache-2.0 */
/* recompile.h - what the JVM's compilers do on account of hooks.
 *
 * When a class is replaced, the JVM throws away all compiled code that has a method of it inside.
 * What was in that code, the method it was made for and all that were compiled into it, has to be
 * recompiled, and counts; everything else the compilers would have done anyway, and in a program
 * that has just started that is a lot.
 *
 * It is counted while a client wants to know (struct conn, accounts).  On the agent's thread but
 * for the event. */
#ifndef AGENT_WEAVING_RECOMPILE_H
#define AGENT_WEAVING_RECOMPILE_H

#include <jvmti.h>
#include <stddef.h>
#include <stdint.h>

/* These classes are about to be replaced.  Switches the counting on and off, too, so it must be
 * called also when there are none. */
void recompile_before(JNIEnv *jni, const jclass *classes, size_t n);
void recompile_client_gone(void);
void recompile_end(void);

uint64_t recompile_ns(void); /* of processor time of the compilers, since the counting began */

void JNICALL recompile_on_compiled(jvmtiEnv *jvmti, jmethodID method, jint size, const void *code,
				   jint n_map, const jvmtiAddrLocationMap *map, const void *info);

#endif
