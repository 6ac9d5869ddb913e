/* SPDX-License-Identifier: Apache-2.0 */
/* perf_events.h - the kernel's samples of another process: of each thread, also of those that it makes later.
 *
 * The process notices nothing: it is neither stopped nor changed, and nothing is loaded into it. */
#ifndef CLI_OUTSIDE_PERF_EVENTS_H
#define CLI_OUTSIDE_PERF_EVENTS_H

#include <sys/types.h>

#include "outside/perf_sample.h"
#include "outside/perf_ring.h"

enum { EVENTS_WHY = 400, EVENTS_STACK = 16 << 10 }; /* bytes of a stack in a sample */

struct perf_events_ring { /* of one processor */
	void *base;	  /* NULL: that one is off */
	int fd;
	struct perf_ring ring;
};

struct perf_events {
	pid_t pid;
	struct perf_events_ring *rings;
	unsigned n_rings;
	int *fds;
	size_t n_fds, cap_fds;
	size_t ring_bytes;
	uint8_t *whole;
	uint64_t period_ns, lost;
	bool kernel;  /* samples in the kernel are seen */
	bool machine; /* all processes are seen, and others' samples dropped */
};

/* False, with the reason and what to do. */
bool perf_events_open(struct perf_events *e, pid_t pid, uint32_t rate, char why[EVENTS_WHY]);
void perf_events_close(struct perf_events *e);

void perf_events_start(struct perf_events *e);
void perf_events_wait(const struct perf_events *e,
		      int timeout_ms); /* until there is something, or Ctrl-C */

typedef void perf_events_visit(void *ctx, const struct perf_sample *s);
void perf_events_take(struct perf_events *e, perf_events_visit *visit, void *ctx);

#endif
