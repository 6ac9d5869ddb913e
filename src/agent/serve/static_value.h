/* SPDX-License-Identifier: Apache-2.0 */
/* static_value.h - static fields and what lies below them, as text for people. */
#ifndef AGENT_SERVE_STATIC_VALUE_H
#define AGENT_SERVE_STATIC_VALUE_H

#include <jni.h>

#include "agent/core/conn.h"

void static_value_run(struct conn *c, JNIEnv *jni, struct slice payload);

#endif
