/* SPDX-License-Identifier: Apache-2.0 */
/* thread_show.h - threads for people, and as JSON. */
#ifndef CLI_LOOK_THREAD_SHOW_H
#define CLI_LOOK_THREAD_SHOW_H

#include <sys/types.h>

#include "cli/look/thread_look.h"

struct thread_view {
	const struct thread_look *set, *before;
	pid_t pid;
	uint64_t wall_ns;
	size_t top;	/* threads, 0: all */
	size_t stacks;	/* groups, 0: all */
	size_t frames;	/* of a stack */
	unsigned width; /* of the terminal; 0: without limit */
};

void thread_show(const struct thread_view *v, struct buf *out);
void thread_show_one(const struct thread_view *v, const struct thread_seen *t, struct buf *out);
void thread_json(const struct thread_view *v, struct buf *out);

#endif
