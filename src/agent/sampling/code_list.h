/* SPDX-License-Identifier: Apache-2.0 */
/* code_list.h - answers ask_code: all code that the JVM has generated, by address and name.
 *
 * The agent's thread only. */
#ifndef AGENT_SAMPLING_CODE_LIST_H
#define AGENT_SAMPLING_CODE_LIST_H

#include <jni.h>

#include "agent/core/conn.h"

void code_list_run(struct conn *c, JNIEnv *jni, struct slice payload);

#endif
