/* SPDX-License-Identifier: Apache-2.0 */
/* thread_list.h - all Java threads: their states, processor time, stacks, and what they wait for. */
#ifndef AGENT_SERVE_THREAD_LIST_H
#define AGENT_SERVE_THREAD_LIST_H

#include <jni.h>

#include "agent/core/conn.h"

void thread_list_run(struct conn *c, JNIEnv *jni, struct slice payload);

#endif
