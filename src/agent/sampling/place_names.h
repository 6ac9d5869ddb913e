/* SPDX-License-Identifier: Apache-2.0 */
/* place_names.h - what spots of stacks are: numbers for places, each told with its name once.
 *
 * A place is a method in a tier, a stub of the JVM, or an address of native code.  Names are read soon
 * after the sample was taken; a class or code that is gone by then is told as not known.  For one
 * session; the agent's thread only. */
#ifndef AGENT_SAMPLING_PLACE_NAMES_H
#define AGENT_SAMPLING_PLACE_NAMES_H

#include "agent/sampling/spot_cache.h"
#include "agent/sampling/vm_layout.h"
#include "base/arena.h"
#include "base/buf.h"
#include "base/map.h"
#include "sample/modules.h"

enum { PLACES_MAX = 200000 };

struct place_names {
	const struct vm_layout *layout;
	struct arena mem;
	struct map places;  /* kind and name, or file and address -> number */
	struct map methods; /* Method -> its name, and when that was read */
	struct spot_cache spots;
	const struct modules *modules; /* that spots of native code were found in */
	uint32_t n, round;
};

void place_names_init(struct place_names *n, const struct vm_layout *layout);
void place_names_release(struct place_names *n);

/* Appends the name of a piece of generated code: its method's, or a stub's.  Its PLACE_*. */
unsigned place_names_code(struct place_names *n, const struct blob *blob, struct buf *out);

/* What was read some rounds ago is read again when it is used next time. */
void place_names_next_round(struct place_names *n, const struct modules *modules);

/* Appends the numbers of the places of a spot, the innermost first, as big-endian words; what is told
 * for the first time is put into `rows` before. */
void place_names_put(struct place_names *n, uint64_t spot, struct buf *numbers, struct buf *rows);

#endif
