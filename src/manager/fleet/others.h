/* SPDX-License-Identifier: Apache-2.0 */
/* others.h - a store that other managers write to as well, and that may be down: plans that they change
 * come from there, in a thread of its own, and what is needed to begin with comes when it is there. */
#ifndef MANAGER_FLEET_OTHERS_H
#define MANAGER_FLEET_OTHERS_H

#include "manager/fleet/fleet.h"

/* Reads plans, and what processes have had.  Without an answer of a shared store the fleet goes on without
 * (fleet.is_loaded), until it comes; *out stays NULL for a store that is ours alone. */
int others_start(struct others **out, struct fleet *f);
void others_stop(struct others *s); /* NULL is fine */

#endif
