/* SPDX-License-Identifier: Apache-2.0 */
/* samples.h - stack samples of a program as one tree, and questions about it.
 *
 * A node is a method in its sequence of callers, outermost first.  Rows come in pre-order; after
 * samples_seal every node knows the samples in it and below it.  Names are copied.  All memory is
 * the arena's; out of memory is sticky, in samples.err.  One thread. */
#ifndef PLAN_SAMPLES_H
#define PLAN_SAMPLES_H

#include "base/arena.h"
#include "base/map.h"
#include "plan/dig/sample_node.h"

struct sample_lock {
	struct slice class, waiter, thread, holder;
	bool parked; /* of java.util.concurrent */
	uint64_t samples;
	struct sample_lock *next;
};

struct sample_vitals { /* ns; delay is of the program's own threads, cpu of all */
	uint64_t wall, cost, gc, cpu, delay, gc_cpu, jit_cpu, own_cpu;
	uint64_t samples, gcs;
	uint32_t threads, cpus;
	uint32_t answers; /* looks come in; a stretch ends with each of them */
};

struct samples {
	struct arena mem;
	struct sample_node root; /* of no method */
	struct sample_node *last;
	size_t n;
	struct map children; /* by parent and name */
	struct sample_lock *locks;
	struct sample_vitals vitals;
	int err;
};

void samples_init(struct samples *s);
void samples_release(struct samples *s);

struct sample_row {
	uint32_t depth; /* from 0 */
	struct slice name;
	unsigned flags;
	uint64_t self[SAMPLE_STATES];
	uint64_t stretches;
	uint32_t threads;
};
void samples_add(struct samples *s, const struct sample_row *row);
void samples_add_lock(struct samples *s, const struct sample_lock *lock);
void samples_seal(struct samples *s);

/* Copies n with all below it under `under`, which is not in or below n: so much of its samples. */
void samples_graft(struct samples *s, struct sample_node *under, const struct sample_node *n,
		   double part);

/* Adds another answer: counts are summed up. */
void samples_merge(struct samples *into, const struct samples *more);

/* What lies below the outermost calls of a method, wherever it was called: `out`, initialised by
 * the caller, gets it as its only root, sealed.  Calls of a method by itself are folded into the
 * outermost one.  Gives how many samples that are. */
uint64_t samples_under(const struct samples *s, struct slice method, struct samples *out);

#endif
