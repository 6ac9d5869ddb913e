/* SPDX-License-Identifier: Apache-2.0 */
/* process_view.h - a process as it is seen from outside: what it has mapped, and names of its code.
 *
 * Read from /proc again and again: libraries come and go, and programs that generate code list it in
 * /tmp/perf-PID.map if they were told to (node --perf-basic-prof, python -X perf). */
#ifndef CLI_OUTSIDE_PROCESS_VIEW_H
#define CLI_OUTSIDE_PROCESS_VIEW_H

#include "cli/hot/sampled.h"
#include "outside/listed.h"
#include "sample/modules.h"

struct process_view {
	struct sampled *s; /* whose profile gets the frames */
	pid_t pid, ns_pid; /* ns_pid: as it sees itself */
	struct modules modules;
	bool has_modules;
	uint64_t digest;
	struct buf maps, shown; /* as /proc has them, and with names for code without a file */
	struct buf vdso;
	struct listed jit, kernel;
	struct buf jit_text, kernel_text;
	int64_t jit_size, jit_time; /* of the file when it was read */
	bool has_kernel;
	struct arena mem;  /* of places */
	struct map places; /* spot -> frame of the profile */
};

void process_view_init(struct process_view *w, struct sampled *s, pid_t pid, pid_t ns_pid);
void process_view_release(struct process_view *w);

void process_view_refresh(struct process_view *w); /* a few times a second */

/* Frames of the profile. */
uint32_t process_view_frame(struct process_view *w, uint64_t spot);
uint32_t process_view_kernel_frame(struct process_view *w, uint64_t address);

#endif
