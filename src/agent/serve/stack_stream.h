/* SPDX-License-Identifier: Apache-2.0 */
/* stack_stream.h - samples of stacks for one client, as they come.
 *
 * The agent's thread only.  Ten times a second the stacks that were counted since the last time are
 * named and sent; the client adds them up.  So the agent needs the same memory however long it takes. */
#ifndef AGENT_SERVE_STACK_STREAM_H
#define AGENT_SERVE_STACK_STREAM_H

#include <jni.h>

#include "agent/core/conn.h"

void stack_stream_run(struct conn *c, JNIEnv *jni, struct slice payload); /* ask_stacks */

int stack_stream_patience(void); /* ms until stack_stream_tick is due; -1: never */
void stack_stream_tick(void);
bool stack_stream_is_for(const struct conn *c);
void stack_stream_client_gone(uint32_t number);
void stack_stream_stop(void);

#endif
