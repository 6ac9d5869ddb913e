/* SPDX-License-Identifier: Apache-2.0 */
/* caller_list.h - the functions that a walk has met: who calls whom, how often, and who was hooked.
 *
 * Linked both ways: each function has its callers and its callees, and all stand in one list in the
 * order in which they were met.  Names are copied.  All memory is the arena's; NULL: out of memory.
 * One thread. */
#ifndef PLAN_WALK_CALLER_LIST_H
#define PLAN_WALK_CALLER_LIST_H

#include "base/arena.h"
#include "base/map.h"

enum {
	CALLER_NO_HOOK = 1,  /* it has no code that a hook could be put in, or none was possible */
	CALLER_LIBRARY = 2,  /* of the JDK, libc ...: it does what it is told */
	CALLER_INNER = 4,    /* only carries calls: stubs, reflection; left out of stacks */
	CALLER_FRAME = 8,    /* runs threads and tasks: what it calls is a root */
	CALLER_REQUEST = 16, /* a transaction begins here */
	CALLER_NATIVE = 32,
};

struct caller {
	struct slice name;
	unsigned flags;
	uint64_t self, total; /* samples; total: of stacks that it is in */
	unsigned hooked;      /* how often a hook was put in */
	bool in;	      /* ... and is there now */
	unsigned refused;     /* how often none could be put in */
	/* All that was measured, and what of it belongs to the round that is under way. */
	double calls, ns, seconds;
	double round_calls, round_ns;
	uint64_t mark; /* the last stack that it was counted for */
	struct caller_link *callers, *callees;
	struct caller *prev, *next;
};

struct caller_link {
	struct caller *caller, *callee;
	struct caller_link *next_caller, *next_callee; /* of the same callee; of the same caller */
	uint64_t samples;
	double calls, ns;    /* of the callee, made by the caller */
	double paired_calls; /* ... while both were hooked */
	double caller_calls; /* of the caller, in those rounds */
	double round_calls, round_ns;
	/* Where figures only grow: all that was told in this reading, and in the round's first one. */
	double sum_calls, sum_ns, base_calls, base_ns;
	size_t reading;
	bool told;
};

struct caller_list {
	struct arena mem;
	struct map by_name;
	struct caller *first, *last;
	size_t n;
};

void caller_list_init(struct caller_list *l);
void caller_list_release(struct caller_list *l);

struct caller *caller_list_find(const struct caller_list *l, struct slice name);
struct caller *caller_list_add(struct caller_list *l, struct slice name, unsigned flags);
struct caller_link *caller_list_link(struct caller_list *l, struct caller *caller,
				     struct caller *callee);

#endif
