/* SPDX-License-Identifier: Apache-2.0 */
/* relay_run.h - `sonded --relay`: finds agents, and carries their connections to a manager. */
#ifndef MANAGER_RELAY_RELAY_RUN_H
#define MANAGER_RELAY_RELAY_RUN_H

#include "manager/settings.h"

/* Until *ends, which may be set by a signal handler that also writes to `wake`, an eventfd. */
int relay_run(const struct settings *c, const bool *ends, int wake);

#endif
