/* SPDX-License-Identifier: Apache-2.0 */
/* machine.h - what a machine's processors were wanted for, and what its host kept from it.
 *
 * On a virtual machine the host may give processors to others while programs want them.  No thread
 * sees that: the kernel takes it for running, so methods that compute seem to take longer than they
 * do. */
#ifndef PLAN_MACHINE_H
#define PLAN_MACHINE_H

#include <stdbool.h>

#include "base/slice.h"

struct machine_time {	 /* since it was started, in ticks of all processors together */
	uint64_t wanted; /* run, or stolen */
	uint64_t stolen;
};

/* Of the text of /proc/stat; false: it is none. */
bool machine_read(struct slice stat, struct machine_time *out);

/* The share that was stolen of what was wanted in between. */
double machine_stolen(const struct machine_time *from, const struct machine_time *to);

/* Of threads that have run for so long, as the kernel tells, and waited for a processor for so
 * long: what they really had of processors, when a share was stolen meanwhile, and the share of the
 * time in which they wanted one and had none; negative: they wanted none. */
struct machine_had {
	double ran_ns, starved;
};
struct machine_had machine_had(double run_ns, double delay_ns, double stolen);

#endif
