/* SPDX-License-Identifier: Apache-2.0 */
/* stretch.h - what was sampled in a stretch of time, as bytes that stand for themselves: one file of a history
 * (cli/hot/history.h).
 *
 * Stacks are a tree, so that what they have in common is written once, and names are written by what they
 * do not share with the one before.  A length and a checksum tell what was cut off or damaged.  Which
 * thread a stack was of is not kept. */
#ifndef EXPORT_STRETCH_H
#define EXPORT_STRETCH_H

#include "base/buf.h"
#include "export/profile.h"

enum { STRETCH_SUMS = 16, STRETCH_KINDS = 16, STRETCH_MAX = 64 << 20 };

struct stretch_facts {
	uint64_t began_ns; /* since 1970 */
	uint64_t wall_ns, cpu_ns, own_ns, period_ns, lost, samples, left_out;
	uint32_t mode, threads, pid;
	uint64_t ends[STRETCH_SUMS], states[STRETCH_SUMS]; /* by numbers of the caller's */
	struct slice name, engine;			   /* read: of the bytes */
};

/* Stacks without a value are left out.  Their kinds, and those of frames, are below STRETCH_KINDS.
 * A failure is out's. */
void stretch_put(struct buf *out, const struct stretch_facts *s, const struct profile *p);

/* Adds the stacks to p.  0, E_DAMAGED (p may then have some of them), or E_NO_MEMORY.
 * p NULL: only what stands before the stacks is read. */
int stretch_read(struct slice bytes, struct stretch_facts *s, struct profile *p);

#endif
