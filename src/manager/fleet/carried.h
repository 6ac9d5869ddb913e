/* SPDX-License-Identifier: Apache-2.0 */
/* carried.h - which rules of the plan a process has had, over restarts of the manager: what was in and
 * is in no more has left by its own limit, or by somebody's hand, and must not come again.  Under
 * the fleet's lock. */
#ifndef MANAGER_FLEET_CARRIED_H
#define MANAGER_FLEET_CARRIED_H

#include "manager/fleet/fleet.h"

int carried_load(
	struct fleet
		*f); /* also what others have stored since; without the lock.  E_IO: as it was */
void carried_release(struct fleet *f);
void carried_recall(struct fleet *f, struct instance *i); /* before rules are compared */
void carried_keep(struct fleet *f, struct instance *i);	  /* into the store, if it has changed */

#endif
