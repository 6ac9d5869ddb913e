/* SPDX-License-Identifier: Apache-2.0 */
/* replace.h - has the JVM replace classes: it shows each again, and takes what instrument.c makes of it.
 *
 * The JVM redefines a whole batch or nothing, so a batch that it refuses is halved until the bad
 * class stands alone. */
#ifndef AGENT_WEAVING_REPLACE_H
#define AGENT_WEAVING_REPLACE_H

#include <jvmti.h>
#include <stdbool.h>
#include <stdint.h>

/* Retransforms these, all at once or, when the JVM refuses that, in parts; gives how many it would
 * not take even alone. */
uint64_t replace_classes(JNIEnv *jni, const jclass *classes, size_t n);

/* RetransformClasses, and whether the calling thread is in it. */
jvmtiError replace_show(const jclass *classes, size_t n);
bool replace_is_on(void);

#endif
