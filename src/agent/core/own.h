/* SPDX-License-Identifier: Apache-2.0 */
/* own.h - the agent's own classes in the JVM (java.util.Sonde*), which stay there when it leaves. */
#ifndef AGENT_CORE_OWN_H
#define AGENT_CORE_OWN_H

#include <jni.h>
#include <stdint.h>

/* The class of that name in java.base: the one there from an earlier attach, or a new one.  A
 * global reference; NULL: noted. */
jclass own_define(JNIEnv *jni, const char *name, const uint8_t *from, const uint8_t *to);

const jclass *own_all(size_t *n); /* all that were defined so */

#endif
