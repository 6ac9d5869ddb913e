/* SPDX-License-Identifier: Apache-2.0 */
/* virtuals.h - finds the virtual threads of the program, which JVMTI does not list.
 *
 * The agent's thread, while it is held in the JVM. */
#ifndef AGENT_NATIVES_VIRTUALS_H
#define AGENT_NATIVES_VIRTUALS_H

#include <jvmti.h>
#include <stdint.h>

enum { VIRTUALS_MAX = 256 }; /* at one look */

struct virtuals {
	jthread threads[VIRTUALS_MAX]; /* local references */
	jint n;
	uint32_t each; /* each stands for so many, since there are more than are looked at */
};

/* Some chosen at random when there are more than VIRTUALS_MAX.  None before JDK 21, and where the
 * program's options say that they are not to be tracked (jdk.trackAllThreads). */
void virtuals_find(JNIEnv *jni, struct virtuals *out, uint64_t random);

#endif
