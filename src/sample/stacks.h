/* SPDX-License-Identifier: Apache-2.0 */
/* stacks.h - counts stacks in fixed memory, from signal handlers of many threads at once.
 *
 * A table of stacks by hash, and one row of spots that they lie in one behind the other.  Nothing is
 * locked and nothing moves.  Two stacks are the same when their 64-bit hashes are: nobody compares
 * the spots.  What finds no room is counted in `lost`.
 *
 * Who knows the hash of a stack that was added before, perhaps to another table, can add to it by the
 * hash alone: the reader gets such a stack without its spots when this table has not seen them.
 *
 * Reading (and stacks_clear) wants that nobody adds meanwhile: the owner sees to it. */
#ifndef SAMPLE_STACKS_H
#define SAMPLE_STACKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct stack {
	uint64_t hash;	 /* 0: free */
	uint64_t amount; /* what samples stand for: bytes, nanoseconds */
	uint64_t many;	 /* ... how many objects, or waits */
	uint32_t count;	 /* of samples */
	uint32_t at, n;	 /* its spots, the innermost first */
	uint32_t thread;
	uint8_t end, state; /* enum walk_end; what the thread did */
	bool again;	    /* added by its hash: no spots, no thread */
	bool whole;	    /* all of it is written */
};

struct stacks {
	struct stack *slots;
	uint64_t *spots;
	uint32_t n_slots, n_spots; /* room for; slots: a power of two */
	uint32_t used, spots_used; /* slots; spots, also of stacks that found no room */
	uint64_t lost;		   /* samples */
};

/* In memory of stacks_bytes(), which must be zero. */
size_t stacks_bytes(uint32_t n_slots, uint32_t n_spots);
void stacks_init(struct stacks *s, void *memory, uint32_t n_slots, uint32_t n_spots);
void stacks_clear(struct stacks *s);

struct stacks_new {
	const uint64_t *spots;
	uint32_t n, thread, count;
	uint64_t amount, many;
	uint64_t hash; /* stacks_add writes it; 0: no room */
	uint8_t end, state;
};

/* Safe in signal handlers.  The stack's hash, or 0: no room, and counted in `lost`. */
uint64_t stacks_add(struct stacks *s, struct stacks_new *new);
void stacks_again(struct stacks *s, uint64_t hash, uint32_t count, uint64_t amount);

/* The next one that is whole, from *i on, which moves behind it; NULL: no more. */
const struct stack *stacks_next(const struct stacks *s, uint32_t *i);

#endif
