/* SPDX-License-Identifier: Apache-2.0 */
/* thread_look.h - the threads of one look into a JVM, and what two looks tell together: processor time,
 * deadlocks, and which threads stand at the same place. */
#ifndef CLI_LOOK_THREAD_LOOK_H
#define CLI_LOOK_THREAD_LOOK_H

#include "base/arena.h"
#include "base/buf.h"
#include "wire/wire.h"

struct thread_seen {
	struct wire_thread row;
	bool cpu_known;
	uint64_t cpu_ns;	    /* since the look before */
	struct thread_seen *holder; /* of what it waits for, or NULL */
	unsigned deadlock;	    /* number of the one it is in, from 1; 0: none */
	unsigned mark;		    /* of the search for deadlocks */
	unsigned group;		    /* how many threads have its stack and state, with it */
};

struct thread_group { /* threads with one stack and one state */
	struct thread_seen *first;
	unsigned n;
	uint64_t cpu_ns;
};

struct thread_look {
	struct arena mem;
	struct buf rows;	/* struct thread_seen *, in the order of the agent */
	struct thread_seen **v; /* once it is compared: the busiest first, then who is in trouble */
	size_t n;
	struct thread_group *groups; /* the largest first */
	size_t n_groups;
	unsigned deadlocks;
	struct wire_vitals vitals; /* without texts */
	int err;
};

void thread_look_init(struct thread_look *s);
void thread_look_release(struct thread_look *s);

void thread_look_take(struct thread_look *s, const struct wire_thread *row); /* copied */

/* What has happened since `before`.  Negative: out of memory. */
int thread_look_compare(struct thread_look *s, const struct thread_look *before, uint64_t wall_ns);

/* The next frame off row.frames; false: there is none. */
bool thread_frame(struct slice *frames, struct slice *name, struct slice *line);

/* By number, whole name or a part of one name alone.  NULL: none, or several (then *several). */
struct thread_seen *thread_look_find(const struct thread_look *s, const char *text, bool *several);

const char *thread_state_text(unsigned state);

#endif
