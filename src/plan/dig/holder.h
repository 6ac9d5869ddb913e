/* SPDX-License-Identifier: Apache-2.0 */
/* holder.h - who has what the guilty method waits for, where the JVM cannot say; private to dig.
 *
 * It knows the owners of monitors and of java.util.concurrent's locks, but not who has the permits of
 * a semaphore, the connections of a pool, or the room in a queue.  So the methods in which other
 * threads are meanwhile are asked what they call: one that takes the same kind of thing, or calls the
 * guilty method itself, and spends its time elsewhere, is likely to have it. */
#ifndef PLAN_HOLDER_H
#define PLAN_HOLDER_H

#include "plan/dig/dig_state.h"

/* Fills d->holders with the methods that are to be asked; false: there is nothing to look for. */
bool holder_begin(struct dig *d);
struct slice holder_next(const struct dig *d); /* whose callees are wanted; .n 0: none */
void holder_callee(struct dig *d, struct slice name);
void holder_asked(struct dig *d); /* these were all of them */
void holder_end(struct dig *d);	  /* writes the answer */

#endif
