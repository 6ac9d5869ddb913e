/* SPDX-License-Identifier: Apache-2.0 */
/* types.h - what methods are run by, and the least that sequences of hooked events took
 * (tree/sequence.h).
 *
 * Sequences are watched for short whiles, in which every call of a timed method is timed, so that
 * no event is missed.  Calls that are metered or belong to a transaction are no events, and what
 * they are part of does not count; those that are only counted are a part of their caller, as what
 * is not hooked.  What was seen is kept in a fixed number of cells until it is forgotten.
 *
 * types_event and types_moved are for observed threads, the rest is for the agent, one thread at a
 * time. */
#ifndef PROBE_TYPES_H
#define PROBE_TYPES_H

#include "probe/probe.h"
#include "tree/sequence.h"

enum {
	TYPE_LENGTHS = COST_CLASSES, /* classes of how long it takes */
	/* Of types_set, besides: its timed calls wait for what is under way. */
	TYPE_SETTLED = TYPES,
};

void types_set(uint32_t id, unsigned type);
unsigned types_of(uint32_t id); /* without TYPE_SETTLED */

/* From now on sequences are watched, or not any more; borders: the least ticks of the second class
 * of lengths and those after, the same each time.  0 or E_NO_MEMORY. */
int types_watch(bool on, const uint64_t borders[TYPE_LENGTHS - 1]);
void types_forget(void);

/* As struct sequence, in ticks. */
struct types_sequence {
	struct sequence s; /* but for min and low */
	uint64_t calls, min, low;
};
typedef void types_visit(void *ctx, const struct types_sequence *s);
void types_read(types_visit *visit, void *ctx); /* those that have calls */
uint64_t types_missed(void); /* sequences that found no cell: there are too many kinds of them */

#endif
