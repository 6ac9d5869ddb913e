/* SPDX-License-Identifier: Apache-2.0 */
/* origin.h - where a loaded class comes from, on which lines its methods are, and its class file. */
#ifndef AGENT_SERVE_ORIGIN_H
#define AGENT_SERVE_ORIGIN_H

#include <jni.h>

#include "agent/core/conn.h"

void origin_run(struct conn *c, JNIEnv *jni, struct slice payload);
void origin_bytes(struct conn *c, JNIEnv *jni, struct slice payload);

#endif
