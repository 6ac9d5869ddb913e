/* SPDX-License-Identifier: Apache-2.0 */
/* walk_diary.h - walks again and again into a file, in the foreground or as a daemon beside the program.
 *
 * Each walk is a process of its own, so that no walk can end the others.  The file ends with a sum: who was
 * responsible how often. */
#ifndef CLI_WALK_WALK_DIARY_H
#define CLI_WALK_WALK_DIARY_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct walk_diary {
	const char *path;
	uint64_t
		every_ns; /* from the begin of a walk to that of the next one, if it is over by then */
	uint64_t most_bytes; /* of the file and of the one before it */
	bool json, daemon;
	pid_t program;		/* ends when this does */
	int (*walk)(void *ctx); /* prints the answer to stdout; gives an exit status */
	void *ctx;
};

/* Until the program ends, or SIGTERM or Ctrl-C.  An exit status. */
int walk_diary_write(const struct walk_diary *d);

#endif
