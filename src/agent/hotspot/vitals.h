/* SPDX-License-Identifier: Apache-2.0 */
/* vitals.h - how much the threads of this process have run, and waited for a processor. */
#ifndef AGENT_HOTSPOT_VITALS_H
#define AGENT_HOTSPOT_VITALS_H

#include <stdbool.h>
#include <stdint.h>

struct vitals { /* ns since the threads began; of those that are alive */
	uint64_t cpu;
	uint64_t delay; /* waiting for a processor; of the program's threads alone */
	uint64_t gc_cpu, jit_cpu, own_cpu;
	uint32_t threads;
};

void vitals_read(struct vitals *v); /* from /proc/self/task; what cannot be read counts as 0 */

#endif
