/* SPDX-License-Identifier: Apache-2.0 */
/* tree_rows.h - the call tree of hooked methods, built from the agent's rows.
 *
 * The agent sends nodes in pre-order with their depth.  call_tree_sort puts the most expensive
 * children first and sums up the roots.  Nodes live until call_tree_clear.  Out of memory is
 * sticky, in tree.err.  Nothing here recurses: a tree is as deep as whoever sent it likes. */
#ifndef CLI_REPORT_TREE_ROWS_H
#define CLI_REPORT_TREE_ROWS_H

#include "base/arena.h"
#include "base/json.h"
#include "cli/report/states.h"
#include "cli/screen/method_name.h"
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
	uint64_t below_ns; /* of its children */
	/* After call_tree_compensate; m.total_ns and the like are compensated, too.  least_ns: at least,
	 * what the calls that run still have called. */
	bool compensated;
	bool reconciled;	  /* total and self are known, with or without a calibration */
	double raw_ns, raw_calls; /* as measured, of so many calls */
	struct span total, self;
	unsigned flags; /* TREE_* */
	struct call_node *parent;
	struct call_node *first, *next; /* child, sibling */
	size_t n_children;
	unsigned level; /* number of ancestors; in JSON and pictures */
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
	uint64_t too_deep;     /* rows that no agent sends, and that were left out */
	int err;
};

/* The node after n in pre-order; NULL: there is none. */
struct call_node *call_node_after(const struct call_tree *t, const struct call_node *n);

/* The same without what is below n. */
struct call_node *call_node_beside(const struct call_tree *t, const struct call_node *n);

/* In post-order, children before their parents: start with NULL; the root is the last, then
 * NULL. */
struct call_node *call_node_up(const struct call_tree *t, const struct call_node *n);

void call_tree_init(struct call_tree *t);
void call_tree_clear(struct call_tree *t);
void call_tree_release(struct call_tree *t);

bool call_tree_take(void *ctx, unsigned type, struct slice payload); /* a client_row */

/* Puts calls back where they were made, and takes the cost of hooks out; c may be NULL: only the
 * first.  Once, after all rows and before call_tree_sort. */
void call_tree_compensate(struct call_tree *t, const struct costs *c);
void call_tree_sort(struct call_tree *t);

/* What a call took: the mean, of a bound its high end. */
double call_node_avg_ns(const struct call_node *n);
bool call_node_is_bounded(const struct call_node *n);	   /* of total only total.high is known */
bool call_node_self_is_bounded(const struct call_node *n); /* ... of self */
bool call_node_runs(const struct call_node *n); /* calls below are of ones that run still */

struct states call_node_states(const struct call_node *n); /* of a kind with total */
double call_node_share(const struct call_tree *t, const struct call_node *n); /* of all roots */

/* "total_ns": ..., "roots": [...], nested by "children", for an open object.  Nodes below `least`
 * (a share) or deeper than `depth` are left out, and counted as "left_out" of their parent. */
void call_tree_json(const struct call_tree *t, struct json *j, double least, unsigned depth);

#endif
