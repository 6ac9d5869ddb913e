/* SPDX-License-Identifier: Apache-2.0 */
/* relay_dig.h - `sonde dig` beside the relay, when the manager wants one.  Each has a thread. */
#ifndef MANAGER_RELAY_RELAY_DIG_H
#define MANAGER_RELAY_RELAY_DIG_H

#include <sys/types.h>

#include "base/slice.h"

/* Text: milliseconds (0: as usual), budget (0: as usual), method, as the manager sends them.  The
 * descriptor from which its records come (fleet/dig_far.h), or E_LIMIT: too many run; E_USAGE; E_IO. */
int relay_dig_start(const char *sonde, pid_t of, struct slice text);
/* All have been hung up on: waits, for a moment, until they have ended. */
void relay_dig_end_all(void);

#endif
