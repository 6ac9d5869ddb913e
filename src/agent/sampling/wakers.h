/* SPDX-License-Identifier: Apache-2.0 */
/* wakers.h - what sends a thread a signal each time it has used so much processor time: a perf event of
 * its own (cpu-clock), or a timer of the kernel where there is no such event.
 *
 * The agent's thread; signal handlers ask whose a signal is, and go on. */
#ifndef AGENT_SAMPLING_WAKERS_H
#define AGENT_SAMPLING_WAKERS_H

#include <signal.h>

#include "agent/sampling/slots.h"

bool wakers_begin(uint64_t period_ns, int signal); /* false: memory is out */
void wakers_end(void); /* no signal is on its way any more, or its handler will not ask */
void wakers_come(struct thread_slot *s, uint32_t number);
void wakers_gone(struct thread_slot *s);

/* The slot that a signal is for, and how many samples it stands for; SLOTS_MAX: none of ours. */
uint32_t wakers_slot_of(const siginfo_t *info, uint32_t *times);
void wakers_go_on(const siginfo_t *info);

const char *wakers_name(void); /* "perf events", for people */

#endif
