/* SPDX-License-Identifier: Apache-2.0 */
/* progress.h - one line on stderr that tells how far a long task is.
 *
 * Nothing appears when stderr is not a terminal, nor in the first two seconds. */
#ifndef CLI_SCREEN_PROGRESS_H
#define CLI_SCREEN_PROGRESS_H

#include "base/slice.h"

struct progress {
	const char *what;     /* "verify" */
	uint64_t start, next; /* nanoseconds; when to write again, UINT64_MAX: never */
	unsigned steps;
	bool shown;
};

void progress_start(struct progress *p, const char *what);
/* `done` from 0 to 1; `n` things are finished. */
void progress_step(struct progress *p, double done, uint64_t n);
void progress_clear(struct progress *p); /* before anything else is written, and at the end */

#endif
