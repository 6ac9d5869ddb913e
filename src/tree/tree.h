/* SPDX-License-Identifier: Apache-2.0 */
/* tree.h - a call tree with the figures of hooks in it, and what they would be without the hooks.
 *
 * Nodes are in an array; a parent stands before its children.  tree_add() in pre-order, then
 * tree_gather(), tree_compensate(), and then read the nodes or tree_methods().  Pure arithmetic, in
 * ns: live and afterwards it gives the same.  One thread. */
#ifndef TREE_TREE_H
#define TREE_TREE_H

#include "tree/cost.h"

#define TREE_NONE UINT32_MAX

enum {
	TREE_CLAMPED = 1, /* more would have been subtracted than there was */
	TREE_SHORT = 2,	  /* most of what was measured is the hooks': trust the interval only */
	TREE_PLACED = 4,  /* measured alone: nothing was subtracted but the offset of one hook */
	/* Set by agree.h: */
	TREE_RUNNING =
		8, /* calls below are of calls that still run: total is of those that ended */
	TREE_RECURSIVE = 16, /* calls itself while one call in N is timed: total.high is a bound */
	TREE_OVERLAP = 32, /* calls below lie within each other: only each by itself is within it */
	TREE_SELF_BOUND = 64,	 /* self.high is a bound, the middle says nothing */
	TREE_CALLS_ITSELF = 128, /* there is a call within one of the same method */
};

/* What raw is the time of.  An agent of before does not say so. */
enum tree_raw { TREE_RAW_GUESS, TREE_RAW_ENDED, TREE_RAW_ALL };

/* What is known of a node before. */
struct tree_figures {
	uint32_t id;
	uint32_t depth;	     /* 0: called by nothing that is hooked */
	enum cost_kind kind; /* of its timed calls: COST_EVERY or COST_SETTLED */
	bool light;	     /* those that are not timed are COST_LIGHT, else COST_PASSED */
	double calls, timed;
	double raw;	    /* total over all calls, as measured or estimated */
	double margin;	    /* 0.03: raw is right within 3 % with 95 % */
	double interpreted; /* share of calls that the interpreter ran */
	double jni;	    /* share of the others that were COST_JNI */
	unsigned type;	    /* TYPE_* of sequence.h */
	enum tree_raw of;   /* ALL: one call in N was timed, raw is an estimate for all of them */
	double running;	    /* calls that have begun to be timed and have not ended */
	double min, max;    /* of single calls; max 0: not known */
};

struct tree_node {
	struct tree_figures f;
	unsigned caller;		    /* its type; set by tree_compensate() */
	uint32_t parent, first, last, next; /* TREE_NONE: none */
	/* Results.  self is without the hooked calls below. */
	double raw_self;
	struct span total, self;
	struct span
		least; /* total, or what is known of calls that still run: what they have called */
	struct span below; /* what the hooks below cost */
	double inner;	   /* what its own hook adds to one call's time */
	double hooks;	   /* calls below, all of them; set by tree_place_into() */
	double grows;	   /* what is below belongs to so many times as many calls */
	unsigned flags;
};

struct tree {
	struct tree_node *nodes;
	uint32_t n, room;
	uint32_t first, last, at; /* roots; the node that was added last */
	uint32_t looks;		  /* of tree_gather(), which may not take for ever */
	int err;		  /* E_NO_MEMORY or E_LIMIT, sticky */
};

void tree_init(struct tree *t);
void tree_release(struct tree *t);

void tree_add(struct tree *t, const struct tree_figures *f);

/* Is the method called by another one of the tree?  A node without a caller says little: see
 * below. */
bool tree_is_called(const struct tree *t, uint32_t id);

/* A call of which it was not the turn (1/N) is not on the probe's stack, so what it calls is found
 * below its caller.  This puts that back where it belongs, by how often the timed calls of the
 * same method called it. */
void tree_gather(struct tree *t);

void tree_compensate(struct tree *t, const struct costs *c);

bool tree_is_drawn(const struct tree_figures *f); /* one call in N was timed */

/* The calls that raw is the time of: all, when it is an estimate; else those that have ended. */
double tree_calls_in_raw(const struct tree_figures *f);

bool tree_is_inner(const struct tree *t,
		   const struct tree_node *n); /* called by itself, further out */

/* One method over the whole tree.  total is that of the outermost calls: a method that calls
 * itself has its time once. */
struct tree_method {
	uint32_t id;
	unsigned flags;
	double raw, raw_self;
	struct span total, self;
	double raw_all;	  /* of all calls, the inner ones of a recursion several times */
	double calls;	  /* in the tree */
	double outermost; /* calls of them that are not within another one */
	double inner;	  /* what the hook adds to the time of one call */
	double least;	  /* as total.mid, with what calls that still run have called */
	double bounded, self_bounded; /* shares of total and self that are known only as bounds */
};
int tree_methods(const struct tree *t, struct tree_method **out, size_t *n); /* by id; mem_free() */

#endif
