/* SPDX-License-Identifier: Apache-2.0 */
/* turns.h - which methods are measured alone next.
 *
 * In one window only methods take part of which none calls another, as far as the call tree shows.
 * Those that are called often come more often, and every method comes.
 *
 * turns_begin, turns_node for each node of a call tree in pre-order, turns_end; then turns_next as
 * often as one likes, or the same with a newer tree: what has had its turn is remembered.  One
 * thread; no JVM, no clock.  Out of memory is sticky, in err: then no method has a turn. */
#ifndef PLAN_TURNS_H
#define PLAN_TURNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct turns_node {
	uint32_t method; /* in turns.methods */
	uint32_t parent; /* + 1; 0: none */
	uint32_t end;	 /* the first node that is not below this one */
	uint32_t same;	 /* the next node of the method, + 1 */
	bool taken;	 /* it is in this window, or above or below one that is */
};

struct turns_method {
	uint32_t id;
	uint32_t first; /* node, + 1 */
	uint64_t calls;
	double turns; /* that it has had */
	bool nested;  /* it calls itself, by way of others or not */
	bool out;     /* it gets none any more */
};

struct turns {
	struct turns_node *nodes;
	size_t n, room;
	struct turns_method *methods; /* by id */
	size_t n_methods, methods_room;
	uint32_t *depths; /* the way to the last node */
	size_t depths_room, depth;
	int err;
};

void turns_init(struct turns *t);
void turns_release(struct turns *t);

void turns_begin(struct turns *t);
/* calls 0: the node is on the way to others, and keeps no method from having a turn. */
void turns_node(struct turns *t, uint32_t id, unsigned depth, uint64_t calls);
void turns_end(struct turns *t);

/* The methods of the next window; none: there is nothing to be measured. */
size_t turns_next(struct turns *t, uint32_t *ids, size_t most);

/* Does the tree show the method below itself? */
bool turns_is_nested(const struct turns *t, uint32_t id);

/* The method is not to have turns: its calls are too long, or its hook must not be closed. */
void turns_leave_out(struct turns *t, uint32_t id);

#endif
