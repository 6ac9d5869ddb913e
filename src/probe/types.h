/* SPDX-License-Identifier: Apache-2.0 */
/* types.h - what methods are run by, and the least that calls took by the types of caller and method.
 *
 * A sequence is two transitions between three methods that follow each other with nothing hooked
 * between: the caller enters a method, and that returns, or throws, to the caller.  Only calls that are drawn
 * (1/N) count, in contexts from which nothing hooked was ever called; the caller is the nearest hooked one that
 * has a frame.  Memory is fixed, and taken when somebody first wants this.
 *
 * types_set, types_watch and types_read are for the agent, one thread at a time. */
#ifndef PROBE_TYPES_H
#define PROBE_TYPES_H

#include "probe/probe.h"

enum {
	TYPE_UNKNOWN, /* not looked at yet; of a caller: none is hooked */
	TYPE_INTERPRETED,
	TYPE_C1,
	TYPE_C2,
	TYPE_NATIVE,
	TYPE_STATIC = 8, /* besides */
	TYPES = 16,
	TYPE_LENGTHS = 4, /* classes of how long a call takes */
};

void types_set(uint32_t id, unsigned type);
unsigned types_of(uint32_t id);

/* From now on sequences are kept, or not any more; borders: the least ticks of the second class of lengths and
 * those after.  What was kept is forgotten when it is switched on.  0 or E_NO_MEMORY. */
int types_watch(bool on, const uint64_t borders[TYPE_LENGTHS - 1]);
bool types_are_watched(void);

struct types_sequence {
	unsigned caller, method; /* types */
	bool thrown;
	unsigned length; /* class */
	uint64_t calls;
	uint64_t min, low; /* ticks: of the shortest; below which one in twenty lies */
};
typedef void types_visit(void *ctx, const struct types_sequence *s);
void types_read(types_visit *visit, void *ctx); /* those that have calls */

#endif
