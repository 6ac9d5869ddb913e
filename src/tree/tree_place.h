/* SPDX-License-Identifier: Apache-2.0 */
/* tree_place.h - figures that were measured in place, while all other hooks were closed, put into a
 * tree.
 *
 * What a method took alone, less a blank call, is the truth and the little that a hooked call has
 * and a blank one has not, which a calibration knows (COST_SOLO).  Nothing below it has to be taken
 * out.  So it stands instead of what was worked out by subtraction, wherever there is such a
 * figure.  Pure arithmetic, in ns; after tree_compensate(). */
#ifndef TREE_TREE_PLACE_H
#define TREE_TREE_PLACE_H

#include "tree/tree.h"

/* Without its longest calls a mean is too small: no larger share of them may have been cut. */
#define PLACE_CUT_MAX 0.001

/* A method: the mean of its outermost calls as measured. */
struct place_alone {
	uint32_t id;
	double calls;	     /* that were measured; 0: only too long ones */
	double mean, margin; /* margin < 0: not known, and then the mean is not used */
	double cut;	     /* calls that were too long to be measured */
	bool bare;	     /* nothing below was woven then */
	bool anew;	     /* the margin is from several compilations (plan/inplace/rounds.h) */
	double plain;	     /* the mean with the calls in it that were out of all proportion */
};

/* The program as a whole, in windows with open hooks and with closed ones. */
struct place_program {
	double open, closed;	    /* time */
	double speed, speed_margin; /* with hooks, as a share; margin < 0: not known */
	double alone;		    /* calls that were measured alone */
	double more;		    /* what Sonde did besides, in the program's threads */
};

/* How long the program would have taken without hooks. */
struct span tree_place_total(const struct place_program *p, const struct costs *c);

/* The methods are ordered by id.  p is NULL unless windows took turns all the time that the tree is
 * of: then calls that are too long to be measured alone get the program's share. */
void tree_place_into(struct tree *t, const struct place_alone *alone, size_t n,
		     const struct place_program *p, const struct costs *c);

#endif
