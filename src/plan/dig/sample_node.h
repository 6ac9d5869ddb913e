/* SPDX-License-Identifier: Apache-2.0 */
/* sample_node.h - a method in its sequence of callers, as samples saw it, and the parts of its name.
 *
 * Nodes belong to the tree that samples.h builds. */
#ifndef PLAN_SAMPLE_NODE_H
#define PLAN_SAMPLE_NODE_H

#include <stdbool.h>

#include "base/slice.h"

enum sample_state { /* what a thread did */
		    SAMPLE_RUNNING,
		    SAMPLE_NATIVE,
		    SAMPLE_BLOCKED,
		    SAMPLE_WAITING,
		    SAMPLE_PARKED,
		    SAMPLE_SLEEPING,
		    SAMPLE_STATES
};

enum {
	SAMPLE_IS_NATIVE = 1, /* no byte code */
	SAMPLE_IS_FIXED = 2,  /* cannot be hooked */
	SAMPLE_IS_SYNTHETIC = 4,
};

struct sample_node {
	struct slice name; /* pkg.Class.method(desc) */
	unsigned flags;
	uint32_t depth; /* of an outermost frame: 1 */
	struct sample_node *parent, *first, *last, *next;
	uint64_t self[SAMPLE_STATES];
	uint64_t total;	 /* in it and below */
	uint64_t busy;	 /* of these, not waiting for work to come */
	uint64_t queued; /* of the others, those that wait at a queue */
	uint64_t stretches;
	uint32_t threads;
};

/* The next one in pre-order, in and below top; NULL: that was the last. */
const struct sample_node *samples_next(const struct sample_node *n, const struct sample_node *top);

/* Parts of a name; views of it. */
struct slice sample_node_class(struct slice name);  /* pkg.Class */
struct slice sample_node_method(struct slice name); /* method, without the descriptor */
struct slice sample_node_plain(struct slice name);  /* pkg.Class.method */
struct slice sample_node_desc(struct slice name);   /* (desc); empty when there is none */

/* Can a rule name it?  The JVM lets classes have line breaks in their names, which would be the end
 * of one rule and the begin of another. */
bool sample_node_can_be_named(struct slice name);

bool sample_node_is_jdk(struct slice name); /* of a package of the JDK's own */

#endif
