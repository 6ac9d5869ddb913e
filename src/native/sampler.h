/* SPDX-License-Identifier: Apache-2.0 */
/* sampler.h - stacks of the program's threads, taken by the clock for a few seconds.
 *
 * Each thread has a timer on its own processor time, whose signal makes it walk its own stack; what it
 * finds is counted in fixed memory, and read when the time is over.  The agent's thread alone, but for
 * the handler, which obeys the rules of src/probe. */
#ifndef NATIVE_SAMPLER_H
#define NATIVE_SAMPLER_H

#include "base/buf.h"

/* NULL: samples are taken from now on; or why not. */
const char *sampler_begin(uint32_t rate, uint64_t for_ns);

bool sampler_is_on(void);
int sampler_patience_ms(void); /* until sampler_look wants to be called; -1: nothing goes on */
bool sampler_look(void);       /* true: the time is over */

/* Ends it.  Frames for the client: stack_place, stack_row, stacks_state; the number of samples. */
uint64_t sampler_end(struct buf *out);

/* For the end: no signal comes here any more, and nothing stays mapped.  False: a handler still runs. */
bool sampler_release(void);

#endif
