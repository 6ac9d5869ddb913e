/* SPDX-License-Identifier: Apache-2.0 */
/* tour.h - samples by the wall clock: all threads are visited in turn, some at each tick, whatever they do.
 *
 * A sample stands for the time since the thread was visited last, so shares are right however many threads
 * there are, and a tick costs the same.  A visited thread gets a signal, and its handler counts the stack.
 * One that waits gets two: while its processor time stays as it was it has not run, and the stack that it
 * showed is counted again. */
#ifndef AGENT_SAMPLING_TOUR_H
#define AGENT_SAMPLING_TOUR_H

#include <stdbool.h>

#include "agent/sampling/slots.h"

void tour_begin(const struct vm_layout *l, uint64_t period_ns, int signal);
void tour_come(struct thread_slot *s); /* a new thread */
void tour_tick(void);
/* The time since each thread's last visit goes to the stack that it had then: else those that were visited
 * late in the last round would seem to have been there for longer. */
void tour_finish(void);
uint64_t tour_next_ns(void); /* until the next tick is due; the agent's thread */

/* In the handler: how long the thread's stack stands for, and what it does. */
uint64_t tour_weight(struct thread_slot *s);
unsigned tour_state(const struct thread_slot *s, const void *context);
void tour_answer(struct thread_slot *s, uint64_t hash, bool waits);

/* Visits to threads that have not answered for long: they block the signal, or the kernel holds them. */
uint64_t tour_silent(void);

#endif
