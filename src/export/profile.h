/* SPDX-License-Identifier: Apache-2.0 */
/* profile.h - stacks of named frames, each with how often it was seen: what samples come to.
 *
 * Names are kept once.  A stack that was added before only counts.  Grows with the number of different
 * stacks, up to PROFILE_STACKS_MAX and PROFILE_KEPT_MAX; what is beyond that is counted in `lost`.  One thread. */
#ifndef EXPORT_PROFILE_H
#define EXPORT_PROFILE_H

#include "base/arena.h"
#include "base/map.h"

enum {
	PROFILE_STACKS_MAX = 4 << 20,
	PROFILE_DEPTH_MAX = 4096,
	PROFILE_KEPT_MAX =
		128 << 20, /* frames of all stacks: a few bytes can stand for a deep one */
};

struct profile_frame {
	struct slice name;
	struct slice file; /* of native code: its file; else empty */
	uint32_t kind;	   /* a number of the caller's */
};

struct profile_stack {
	const uint32_t *frames; /* numbers of frames, the outermost first */
	uint32_t n;
	uint32_t thread; /* a number of the caller's; 0: not told */
	uint32_t kind;	 /* likewise, of the whole stack */
	uint64_t value;
	uint64_t count; /* how often it was seen, when the value is something else; or 0 */
};

struct profile {
	struct arena mem, stack_mem;
	struct map frame_ids, stack_ids;
	struct profile_frame *frames;
	struct profile_stack *stacks;
	size_t n_frames, frames_cap, n_stacks, stacks_cap;
	size_t kept;	      /* frames of all stacks */
	uint64_t total, lost; /* values */
	uint64_t count;
	int err; /* sticky: E_NO_MEMORY, E_LIMIT */
};

void profile_init(struct profile *p);
void profile_release(struct profile *p);

/* All stacks and sums are gone; frames keep their numbers. */
void profile_forget_stacks(struct profile *p);

/* All values and sums are 0; stacks keep their places. */
void profile_zero(struct profile *p);

/* The number of a frame; 0 after an error too. */
uint32_t profile_frame(struct profile *p, const struct profile_frame *f);

/* Adds to the stack's value and count.  Its place in `stacks`; PROFILE_NONE: there is no room. */
#define PROFILE_NONE SIZE_MAX
size_t profile_add(struct profile *p, const struct profile_stack *s);
void profile_add_again(struct profile *p, size_t place, uint64_t value, uint64_t count);

#endif
