/* SPDX-License-Identifier: Apache-2.0 */
/* shown.h - a process as the API shows it, and what is added up over those of an application.  Under the
 * fleet's lock. */
#ifndef MANAGER_FLEET_SHOWN_H
#define MANAGER_FLEET_SHOWN_H

#include "base/json.h"
#include "manager/fleet/fleet.h"

struct shown_sum {
	uint64_t connected, known, methods, calls, total_ns, seen_ms;
	double rate, errors_rate, share;
};

void shown_instance(struct json *j, const struct instance *i); /* one value */
void shown_add(struct shown_sum *s, const struct instance *i);

#endif
