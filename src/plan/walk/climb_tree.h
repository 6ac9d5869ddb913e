/* SPDX-License-Identifier: Apache-2.0 */
/* climb_tree.h - sampled stacks turned round: from a hot spot outwards, one caller at a time.
 *
 * Each stack stands at a node, the frame up to which it was followed; climb_tree_expand moves the
 * stacks of a node on to its callers.  A function that is on the way already is stepped over, so
 * recursion, of one function or of several, does not make the way longer. */
#ifndef PLAN_WALK_CLIMB_TREE_H
#define PLAN_WALK_CLIMB_TREE_H

#include "plan/walk/caller_list.h"

struct climb_node {
	struct caller *method;
	struct climb_node *below; /* whom it calls, towards the hot spot; NULL: the hot spot */
	struct climb_node *first, *next; /* its callers, by samples; its sibling */
	const struct caller_link *link;	 /* to what is below; NULL: there is none */
	uint64_t samples;
	uint64_t outermost; /* of these: nobody calls it */
	unsigned depth;	    /* of the hot spot: 0 */
	bool expanded, followed;
	bool runs_on;	/* not called while it was hooked, so neither is what calls it */
	bool recursive; /* a frame between it and what it calls was stepped over */
};

struct climb_stack {
	struct caller **frames; /* outermost first */
	uint32_t n, at;
	uint64_t value;
	struct climb_node *node; /* NULL: does not belong to the hot spot in question */
};

struct climb_stacks {
	struct arena mem; /* of stacks and nodes */
	struct climb_stack *v;
	size_t n, cap;
	uint64_t total;	  /* samples, also those without a frame to begin at */
	uint64_t nowhere; /* ... without one */
	uint64_t marks;
	int err;
};

enum { CLIMB_DEPTH_MAX = 4096, CLIMB_STACKS_MAX = 1 << 20 };

struct climb_frame {
	struct slice name;
	unsigned flags; /* CALLER_* */
};

void climb_stacks_init(struct climb_stacks *s);
void climb_stacks_release(struct climb_stacks *s);

/* Outermost frame first.  Counts in the list, too. */
void climb_stacks_add(struct climb_stacks *s, struct caller_list *l,
		      const struct climb_frame *frames, size_t n, uint64_t value);

/* The tree of a hot spot: stacks that end in it, or, with `inside`, that have it anywhere. */
struct climb_node *climb_tree_begin(struct climb_stacks *s, struct caller *hot, bool inside);
void climb_tree_expand(struct climb_stacks *s, struct caller_list *l, struct climb_node *n);

/* A caller that samples have not seen; NULL: out of memory. */
struct climb_node *climb_tree_add(struct climb_stacks *s, struct climb_node *below,
				  struct caller *caller);

/* What most of the stacks that have passed a node begin with. */
struct caller *climb_tree_outermost(const struct climb_stacks *s, const struct climb_node *n);

struct climb_node *climb_tree_next(struct climb_node *n, const struct climb_node *top);

#endif
