/* SPDX-License-Identifier: Apache-2.0 */
/* sequence.h - sequences of method types, and what they tell of the cost of hooks in the program
 * itself.
 *
 * A sequence is two events of one thread with no hooked event between them: three methods, by what
 * runs them, and two transitions.  Its time is from one reading of the clock to the next, spent in
 * the middle method.  When a method is entered and left again that is its own time and `inner` of
 * its hook; between the end of one call and the begin of the next it is the caller's time and
 * `outer`.
 *
 * A calibration was made in another process, and hooks do not cost the same in every one.  But the
 * shortest times of a sequence cannot be less than what its hook costs: so they bound it from
 * above.  They do not say what it is, since the shortest methods may not be empty.  Pure
 * arithmetic, in ns. */
#ifndef TREE_SEQUENCE_H
#define TREE_SEQUENCE_H

#include <stdbool.h>

#include "tree/cost.h"

/* What runs a method. */
enum {
	TYPE_UNKNOWN, /* not looked at yet; of a caller: none is hooked */
	TYPE_INTERPRETED,
	TYPE_C1,
	TYPE_C2,
	TYPE_NATIVE,
	TYPE_STATIC = 8, /* besides */
	TYPES = 16,
};

enum transition { TRANSITION_ENTER, TRANSITION_RETURN, TRANSITION_THROW, TRANSITIONS };

struct sequence {
	unsigned types[3]; /* the middle one has the time */
	enum transition transitions[2];
	bool settled; /* both events waited for what was under way: COST_SETTLED, else COST_EVERY */
	unsigned length; /* class of its time, as cost_class() has them */
	double calls;
	double min, low; /* the shortest; below which one in twenty lies */
};

/* The most that a part of a hook's cost can be. */
struct sequence_bound {
	double ns;	   /* 0: not known */
	double calls, all; /* in the class of lengths that tells it; and in all classes */
};

/* ... by types of caller and method. */
struct sequences {
	struct {
		struct sequence_bound inner, outer;
	} of[2][TYPES][TYPES]; /* settled, caller, method */
};

void sequences_add(struct sequences *s, const struct sequence *one); /* *s is zero at first */

/* Where a call is made: TYPE_* of caller and method. */
struct sequence_place {
	unsigned caller, method;
	enum cost_kind kind;
};

/* What a hook costs there: as calibrated for the tier and class, but not more than was seen.  s may
 * be NULL.  Calls that are drawn rarely cost what was calibrated: while sequences are watched, none
 * is rare. */
struct cost sequences_cost(const struct sequences *s, const struct sequence_place *at,
			   const struct cost calibrated[COST_CLASSES], unsigned class);

#endif
