/* SPDX-License-Identifier: Apache-2.0 */
/* meant.h - is the application of this very process one that is to be observed?
 *
 * The environment variable SONDE_APPS names the file of applications (apps.h).  When it is not
 * set, all are meant; when the file cannot be read, none.  Never prints.  Any thread. */
#ifndef START_MEANT_H
#define START_MEANT_H

#include "jvm/launch.h"

enum { MEANT_PATH = 4096 };

/* The variable of the environment.  NULL where the program has more rights than who started it: it
 * takes nothing from there, as LD_PRELOAD is passed over. */
const char *meant_said(const char *name);

/* rules becomes the file of rules that goes with the application, or "". */
bool meant_here(const struct launch *launch, char rules[MEANT_PATH]);

/* For the agent.  One that came by JAVA_TOOL_OPTIONS or its like is in every JVM below, and asks
 * whether it should do anything; one that was named on the command line, or was put there by
 * the start library, is meant.  Arguments as for launch_of_properties. */
bool meant_agent(const char *command, const char *class_path, char rules[MEANT_PATH]);

#endif
