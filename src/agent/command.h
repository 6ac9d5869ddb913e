/* SPDX-License-Identifier: Apache-2.0 */
/* command.h - what clients can ask of the agent.  Runs on the agent's thread. */
#ifndef AGENT_COMMAND_H
#define AGENT_COMMAND_H

#include "agent/server.h"
#include "base/slice.h"

/* Answers one frame into c->out.  False: the client does not speak our language. */
bool command_run(struct conn *c, unsigned type, struct slice payload);

#endif
