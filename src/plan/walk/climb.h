/* SPDX-License-Identifier: Apache-2.0 */
/* climb.h - walks up from the hot spots of a program to who is responsible: whom to hook next, when
 * that was measured for long enough, and what follows.
 *
 * A machine without hands.  Whoever drives it calls climb_next, does what that says, hands in what
 * came of it, and calls climb_next again until it says CLIMB_DONE:
 *
 *	CLIMB_SAMPLE	take samples; climb_stacks_add for each stack; then climb_sampled
 *	CLIMB_HOOK	hook these and nothing else; climb_is_in for each that is; then climb_hooked
 *	CLIMB_MEASURE	wait, then read: rows into climb.measure, or climb_told for each pair of caller
 *			and callee; then climb_measured
 *
 * Samples say who may be the callers, and which share of the hot spot's time each is good for; hooks
 * say who calls whom how often, and how long that takes.  A round hooks a level and its callers; the
 * next one takes out the level and hooks the callers' callers, so there are never more than `bound`
 * hooks.  climb.said is what there is to tell a person.  Nothing here knows a JVM or a clock.  Out of
 * memory is sticky, in climb.err.  One thread. */
#ifndef PLAN_WALK_CLIMB_H
#define PLAN_WALK_CLIMB_H

#include "base/buf.h"
#include "plan/dig/measure.h"
#include "plan/walk/climb_answer.h"

enum { CLIMB_HOOKS_MAX = 8, CLIMB_SPOTS_MAX = 8, CLIMB_LEVEL_MAX = 3 };

enum climb_step { CLIMB_SAMPLE, CLIMB_HOOK, CLIMB_MEASURE, CLIMB_DONE };

struct climb_options {
	double above;	   /* hot spots have at least this share of the samples */
	unsigned top;	   /* ... but at most so many; if none has it, that is their number */
	struct slice from; /* the walk begins here instead */
	unsigned bound;	   /* of hooks, up to CLIMB_HOOKS_MAX */
	double sample_ns, for_ns;
	double calls, most_ns; /* a level is measured for so many calls, or so long */
	bool to_root;	       /* goes on when the answer is clear */
};

struct climb_action {
	enum climb_step step;
	uint64_t for_ns; /* of SAMPLE and MEASURE */
	struct caller *const *hooks;
	unsigned n;
};

struct climb {
	struct climb_options options;
	struct caller_list list;
	struct climb_stacks stacks;
	struct climb_spot spots[CLIMB_SPOTS_MAX];
	unsigned n_spots, spot; /* the one that is walked up from */

	struct climb_node *level[CLIMB_LEVEL_MAX];
	unsigned n_level;
	struct caller *hooks[CLIMB_HOOKS_MAX];
	unsigned n_hooks, rounds;
	unsigned most_hooks; /* that were in at a time */
	struct measure measure;
	double round_began, began, now;
	enum { CLIMB_BEGINS, CLIMB_LEVEL, CLIMB_HOOKED, CLIMB_MEASURED, CLIMB_ENDS } at;

	struct buf said;
	int err;
};

void climb_init(struct climb *c, const struct climb_options *options);
void climb_release(struct climb *c);

void climb_next(struct climb *c, double now_ns, struct climb_action *out);

void climb_sampled(struct climb *c);
void climb_is_in(struct climb *c, struct slice name);
void climb_hooked(struct climb *c);
/* Calls and time since some beginning, of a callee by a caller that need not be hooked; an empty one is
 * compiled Java code. */
void climb_told(struct climb *c, struct slice caller, struct slice callee, uint64_t calls,
		uint64_t ns);
void climb_measured(struct climb *c, double now_ns);

#endif
