/* SPDX-License-Identifier: Apache-2.0 */
/* observe_start.h - a program that is started in order to be watched. */
#ifndef CLI_CLIENT_OBSERVE_START_H
#define CLI_CLIENT_OBSERVE_START_H

#include <sys/types.h>

#include "cli/attach/target.h"

/* Runs COMMAND by "sonde run" and waits for the first JVM below it that has the agent in it.
 * CLI_DONE; or an exit status after a message, *child is 0 then. */
int observe_start(char **command, pid_t *child, struct target *out);

/* Waits until it has ended. */
void observe_start_end(pid_t child);

#endif
