/* SPDX-License-Identifier: Apache-2.0 */
/* steps.h - which steps of a rule's sequences of callers a method is.
 *
 * In an observed thread, but once for each method and edition: it takes memory. */
#ifndef AGENT_CLASSES_STEPS_H
#define AGENT_CLASSES_STEPS_H

#include <jni.h>
#include <stdint.h>

#include "agent/classes/rulebook.h"

struct steps_asked {
	JNIEnv *jni;
	const struct edition *edition;
	const struct rule *rule; /* of it: a hook */
};

/* One bit a step; none when the JVM does not tell. */
void steps_find(const struct steps_asked *a, jmethodID method, uint16_t steps[CONTEXT_MAX]);

#endif
