/* SPDX-License-Identifier: Apache-2.0 */
/* watch.h - single calls, sent to clients that watch.  Runs on the agent's thread. */
#ifndef AGENT_SERVE_WATCH_H
#define AGENT_SERVE_WATCH_H

#include <jni.h>

#include "agent/core/conn.h"

void watch_run(struct conn *c, JNIEnv *jni, struct slice payload); /* answers `watch` */
void watch_send(void); /* the calls that have ended since, to those who watch them */

#endif
