/* SPDX-License-Identifier: Apache-2.0 */
/* trace.h - transactions, sent to the one client that traces.  Runs on the agent's thread. */
#ifndef AGENT_TRACE_H
#define AGENT_TRACE_H

#include <jni.h>

#include "agent/server.h"

void trace_run(struct conn *c, JNIEnv *jni, struct slice payload); /* answers `trace` */
void trace_send(void);			 /* the transactions that were kept since */
bool trace_is_on(void);			 /* somebody traces */
bool trace_is_for(const struct conn *c); /* does this client trace? */
void trace_client_gone(uint32_t number); /* then it traces no more */
void trace_stop(void);

#endif
