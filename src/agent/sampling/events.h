/* SPDX-License-Identifier: Apache-2.0 */
/* events.h - samples that the JVM's events are the cause of: objects allocated, waits for monitors.
 *
 * Callbacks run in threads of the program.  Each event that is drawn adds the stack of the Java code that
 * it comes from, with the class of the object as the innermost frame, to the tables.  What is over
 * EVENTS_A_SECOND is counted as lost. */
#ifndef AGENT_SAMPLING_EVENTS_H
#define AGENT_SAMPLING_EVENTS_H

#include <jvmti.h>

#include "agent/sampling/vm_layout.h"

enum { EVENTS_A_SECOND = 20000 };

struct events_wish {
	const struct vm_layout *layout;
	unsigned mode;	   /* STACKS_ALLOC, STACKS_LOCK */
	uint64_t interval; /* one sample in so many bytes, or ns of waiting */
	bool live;	   /* objects are followed (survivors.h) */
};

/* The agent's thread.  NULL: events are counted from now on; or why not. */
const char *events_begin(JNIEnv *jni, const struct events_wish *wish);
void events_end(JNIEnv *jni);	/* jni NULL: the JVM has gone */
void events_round(uint64_t ns); /* so much time has passed: as many more may be counted */
uint64_t events_lost(void);

void JNICALL events_on_alloc(jvmtiEnv *jvmti, JNIEnv *jni, jthread thread, jobject object,
			     jclass klass, jlong size);
void events_on_contended(void);
void events_on_entered(jvmtiEnv *jvmti, JNIEnv *jni, jobject object);

#endif
