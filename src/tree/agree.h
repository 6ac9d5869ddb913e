/* SPDX-License-Identifier: Apache-2.0 */
/* agree.h - makes the figures of a tree such that they can be true together: what a call has made
 * takes no longer than it does, and what is left is its self time.
 *
 * agree_raw() between tree_gather() and tree_compensate(), for what only the luck of the draw
 * has brought about; agree_all() after it (and after tree_place_into()), for what the spans of costs
 * have.  Where 1/N makes something unknowable it is not made up: the node gets TREE_RECURSIVE,
 * TREE_OVERLAP or TREE_SELF_BOUND.  Pure arithmetic, in ns. */
#ifndef TREE_AGREE_H
#define TREE_AGREE_H

#include "tree/tree.h"

void agree_raw(struct tree *t);
void agree_all(struct tree *t);

/* By what share an estimate from timed calls may be off with 95 %, by how many they are and how far
 * the shortest and longest are apart; 0 when every call was timed. */
double agree_margin(const struct tree_figures *f);

/* What a single call that was measured to take so long took without hooks, where the mean was `raw`
 * with `inner` of its own hook in it, and is `mean` without.  Keeps the order of calls, and takes the
 * mean to the mean. */
struct agree_call {
	double raw, inner, mean;
};
double agree_one(const struct agree_call *c, double ns);

#endif
