/* SPDX-License-Identifier: Apache-2.0 */
/* trail.h - the way that the time goes, from a method down through the frames of samples.
 *
 * Frames of the JDK are passed over: what matters is which method of the program (or of its
 * libraries) the time ends in, and what the JDK does for that one is reported as a kind of time. */
#ifndef PLAN_TRAIL_H
#define PLAN_TRAIL_H

#include "plan/dig/samples.h"

enum { TRAIL_MAX = 80, TRAIL_BESIDE = 4 };

struct trail_step {
	const struct sample_node *node;
	/* The other methods called there, with the most samples; all of them together. */
	const struct sample_node *beside[TRAIL_BESIDE];
	unsigned n_beside;
};

struct trail {
	struct trail_step steps[TRAIL_MAX];
	unsigned n;
};

/* From top (which is step 0) on; it ends where no callee has most of the time of its caller, and at
 * calls of a database. */
void trail_follow(struct trail *t, const struct sample_node *top);
void trail_extend(struct trail *t, const struct sample_node *top); /* the same behind its end */

/* Where the time goes after it has divided: the method below the end of the trail that has most of
 * the end's samples, by whatever ways it is called.  .n 0: there is none. */
struct slice trail_joint(const struct trail *t);

/* Cuts the trail off where it goes on with part of the time only, and some method further down has
 * nearly all of it: trail_joint then finds that one. */
void trail_cut(struct trail *t);

bool trail_is_sql(struct slice name); /* executes a statement, by its name */

/* Methods of the program that a thread enters first: candidates for roots, each once, outermost
 * first, as far down as `depth` methods of the program.  Those that execute statements belong to
 * them wherever they are.  `least`: with more samples than that.  Gives how many. */
enum { TRAIL_ROOTS = 48, TRAIL_ROOT_DEPTH = 10 };
unsigned trail_roots(const struct samples *s, unsigned depth, uint64_t least,
		     const struct sample_node *out[TRAIL_ROOTS]);
unsigned trail_depth(const struct sample_node *n); /* so many methods of the program, with itself */

bool trail_can_hook(const struct sample_node *n);

#endif
