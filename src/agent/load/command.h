/* SPDX-License-Identifier: Apache-2.0 */
/* command.h - what clients can ask of the agent.  Runs on the agent's thread. */
#ifndef AGENT_LOAD_COMMAND_H
#define AGENT_LOAD_COMMAND_H

#include "agent/core/conn.h"
#include "base/slice.h"

/* Answers one frame into c->out.  False: the client does not speak our language. */
bool command_answer(struct conn *c, unsigned type, struct slice payload);

#endif
