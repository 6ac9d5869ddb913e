/* SPDX-License-Identifier: Apache-2.0 */
/* stitch.h - tasks of other threads put below the methods that wait for them.
 *
 * A method that hands a lambda or an anonymous class to a pool and waits for what comes of it is
 * seen waiting, and the task is seen in another thread, below nobody.  The task's name says whose
 * it is: javac calls it lambda$m$0, or C$1.run. */
#ifndef PLAN_STITCH_H
#define PLAN_STITCH_H

#include "plan/dig/samples.h"

enum { STITCH_LINKS = 48 };

struct stitch_link {
	struct slice waiter, task; /* names in the samples' memory */
};

/* Moves the samples of tasks to where they are waited for, in place of as many samples that wait
 * there; s is sealed.  What is left as waiting is waiting for a thread to begin with the task. Gives
 * how many links were written. */
unsigned stitch_tasks(struct samples *s, struct stitch_link links[STITCH_LINKS]);

bool stitch_names_maker(struct slice task); /* a lambda, or an anonymous class */
/* Is it a task, by its name, that this method has made? */
bool stitch_is_made_by(struct slice task, struct slice method);

#endif
