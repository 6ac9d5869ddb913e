/* SPDX-License-Identifier: Apache-2.0 */
/* outgoing.h - figures of all agents for other systems.  Takes the fleet's lock. */
#ifndef MANAGER_FLEET_OUTGOING_H
#define MANAGER_FLEET_OUTGOING_H

#include "manager/fleet/fleet.h"

void outgoing_metrics(void *fleet, struct buf *out); /* as OTLP has them; a push_metrics */

#endif
