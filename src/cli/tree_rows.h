/* SPDX-License-Identifier: Apache-2.0 */
/* tree_rows.h - the call tree of hooked methods, built from the agent's rows.
 *
 * The agent sends nodes in pre-order with their depth.  call_tree_sort puts the most expensive
 * children first and sums up the roots.  Nodes live until call_tree_clear.  Out of memory is
 * sticky, in tree.err. */
#ifndef CLI_TREE_ROWS_H
#define CLI_TREE_ROWS_H

#include "base/arena.h"
#include "base/json.h"
#include "cli/method_name.h"
#include "tree/sequence.h"
#include "tree/tree.h"
#include "wire/wire.h"

struct call_node {
	struct wire_node m; /* its name is in the tree's memory */
	struct method_name name;
	bool overloaded; /* another one in the tree differs in the parameters alone */
	/* Its total, or that of its children when they have more: calls that run still are in
	 * nobody's total, but those that they have made are. */
	uint64_t least_ns;
	/* After call_tree_compensate; m.total_ns and m.self_ns are compensated, too. */
	bool compensated;
	double raw_ns;
	struct span total, self;
	unsigned flags; /* TREE_* */
	struct call_node *parent;
	struct call_node *first, *next; /* child, sibling */
	size_t n_children;
};

struct call_tree {
	struct arena mem;
	struct call_node root; /* of no method: its children are the roots */
	struct call_node *last;
	size_t n;				/* nodes */
	uint64_t pruned, bound_ns, bound_calls; /* contexts that were taken out, see messages.def */
	uint64_t memory_limit;
	double pulse_ns;       /* as in messages.def */
	uint64_t total_ns;     /* of all roots, at least */
	struct sequences seen; /* of method types */
	int err;
};

void call_tree_init(struct call_tree *t);
void call_tree_clear(struct call_tree *t);
void call_tree_release(struct call_tree *t);

bool call_tree_take(void *ctx, unsigned type, struct slice payload); /* a client_row */

/* Puts calls back where they were made, and takes the cost of hooks out; c may be NULL: only the
 * first.  Once, after all rows and before call_tree_sort. */
void call_tree_compensate(struct call_tree *t, const struct costs *c);
void call_tree_sort(struct call_tree *t);

double call_node_share(const struct call_tree *t, const struct call_node *n); /* of all roots */

/* "total_ns": ..., "roots": [...], nested by "children", for an open object.  Nodes below `least`
 * (a share) or deeper than `depth` are left out, and counted as "left_out" of their parent. */
void call_tree_json(const struct call_tree *t, struct json *j, double least, unsigned depth);

#endif
