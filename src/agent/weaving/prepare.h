/* SPDX-License-Identifier: Apache-2.0 */
/* prepare.h - classes whose ancestors were not known when they were loaded.
 *
 * A rule that asks for an ancestor further up than the class file names cannot be decided at load.
 * Such a class is looked at again when it is prepared, before any of its code runs. */
#ifndef AGENT_WEAVING_PREPARE_H
#define AGENT_WEAVING_PREPARE_H

#include <jvmti.h>

/* The JVMTI callback. */
void JNICALL prepare_on_class(jvmtiEnv *jvmti, JNIEnv *jni, jthread thread, jclass klass);

#endif
