/* SPDX-License-Identifier: Apache-2.0 */
/* gates.h - a byte for each method, which woven code looks at first: closed, open, or how far.
 *
 * They are set in C and copied to the JVM afterwards, without any lock.  Closing a gate takes effect
 * at the next call of the method; nothing is compiled anew. */
#ifndef AGENT_CORE_GATES_H
#define AGENT_CORE_GATES_H

#include <jni.h>
#include <stdbool.h>
#include <stdint.h>

void gates_init(jbyteArray array); /* SondeProbe.OPEN, as a global reference */
bool gates_are_there(void);

/* ask: C is to be asked before a condition is looked at.  inside: the gate is closed, too, while no
 * thread is in a sequence of callers. */
void gates_open(uint32_t id, bool ask, bool inside);
void gates_close(uint32_t id);
/* Closed for as long as it is held, whatever rules want meanwhile.  On the agent's thread. */
void gates_hold(uint32_t id, bool hold);
bool gates_is_held(uint32_t id);
/* Tells the JVM of the gates that the calling thread has opened and closed since the last time.  No
 * lock may be held. */
void gates_tell(JNIEnv *jni);
void gates_close_all(JNIEnv *jni);

/* For windows in which hooks are closed.  gates_shut sets the first n gates to what it is given,
 * and gates_reopen back to what they were, or have become meanwhile. */
enum { GATE_OPEN = 1, GATE_ALONE = -8 }; /* values of gates */
int gates_of(uint32_t id);		 /* what it is when nothing is shut */
void gates_shut(JNIEnv *jni, const int8_t *all, uint32_t n);
void gates_reopen(JNIEnv *jni, uint32_t n);

#endif
