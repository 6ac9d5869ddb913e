/* SPDX-License-Identifier: Apache-2.0 */
/* lookup.h - which loaded method a person means: the one way in which all verbs find it. */
#ifndef AGENT_SERVE_LOOKUP_H
#define AGENT_SERVE_LOOKUP_H

#include <jni.h>

#include "agent/core/conn.h"

/* Answers `resolve` and `find`. */
void lookup_resolve(struct conn *c, JNIEnv *jni, struct slice payload);
void lookup_find(struct conn *c, JNIEnv *jni, struct slice payload);

#endif
