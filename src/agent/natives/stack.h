/* SPDX-License-Identifier: Apache-2.0 */
/* stack.h - looks at the Java stack of the calling thread where the probe cannot know: has one
 * method called another itself, and is a call inside a sequence whose steps cannot all be woven?
 *
 * Microseconds, not nanoseconds; counted. */
#ifndef AGENT_NATIVES_STACK_H
#define AGENT_NATIVES_STACK_H

#include <jni.h>
#include <stdint.h>

void stack_init(jclass probe); /* its frames are not the program's */

/* Answers what the probe asks about a method that begins now, and gives the call's token. */
uint64_t stack_ask(JNIEnv *jni, uint32_t id);

#endif
