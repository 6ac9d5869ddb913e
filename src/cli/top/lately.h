/* SPDX-License-Identifier: Apache-2.0 */
/* lately.h - the samples of the last some seconds, in parts of which the oldest goes when one comes. */
#ifndef CLI_TOP_LATELY_H
#define CLI_TOP_LATELY_H

#include "export/profile.h"

enum { LATELY_PARTS = 120 };

struct lately_time {
	uint64_t seen_ns; /* time that went by while samples came */
	uint64_t wall_ns,
		cpu_ns; /* the same as the process was last asked, and what it used of processors */
};

struct lately_part {
	struct arena mem; /* of the stacks */
	struct profile_stack *stacks;
	size_t n;
	struct lately_time time;
};

struct lately {
	struct lately_part parts[LATELY_PARTS];
	unsigned cap, n, next; /* cap: at most LATELY_PARTS */
	struct lately_time time;
};

void lately_init(struct lately *l, unsigned cap);
void lately_release(struct lately *l); /* empty again, and as good as before */

/* A new part, with the stacks that p has: false: out of memory. */
bool lately_add(struct lately *l, const struct profile *p, const struct lately_time *time);

/* p, whose frames they have, gets the stacks of all parts instead of its own: those of one thread, or
 * (0) all. */
void lately_sum(const struct lately *l, uint32_t thread, struct profile *p);

#endif
