/* SPDX-License-Identifier: Apache-2.0 */
/* climb_answer.h - who is responsible for a hot spot, by what the walk has found so far. */
#ifndef PLAN_WALK_CLIMB_ANSWER_H
#define PLAN_WALK_CLIMB_ANSWER_H

#include "plan/walk/climb_tree.h"

struct climb_verdict {
	const struct climb_node *node;	/* who is responsible; NULL: nobody alone */
	const struct climb_node *outer; /* the outermost that the walk has reached from there */
	double share;			/* of the hot spot's samples */
	double fan;	/* calls of what it calls for each of its own; 0: not known */
	bool by_itself; /* nothing of the program calls it */
	bool clear;	/* walking on would not change it */
};

struct climb_spot {
	struct climb_node *top;
	double share; /* of all samples */
	struct climb_verdict verdict;
	const struct caller *root; /* where the stacks through who is responsible begin */
	bool cut;		   /* time was over before its end */
};

void climb_answer_find(const struct climb_spot *s, struct climb_verdict *out);

/* Calls of its callee for each of its own; 0: not known. */
double climb_answer_fan(const struct climb_node *n);

/* The callee that these are of: what is below, or what could be hooked below it; NULL: none. */
const struct climb_node *climb_answer_callee(const struct climb_node *n);

#endif
