/* SPDX-License-Identifier: Apache-2.0 */
/* countdown.h - one line on stderr that is written over: what a command waits for, how much of it has come,
 * and how long it still takes.
 *
 * Nothing appears when stderr is not a terminal, nor in the first second. */
#ifndef CLI_SCREEN_COUNTDOWN_H
#define CLI_SCREEN_COUNTDOWN_H

#include <stdbool.h>
#include <stdint.h>

struct countdown {
	const char *what;   /* "samples" */
	uint64_t end, next; /* steady ns; end 0: until Ctrl-C; next UINT64_MAX: never */
	bool shown;
};

void countdown_start(struct countdown *c, const char *what, uint64_t for_ns); /* 0: no end */
void countdown_step(struct countdown *c, uint64_t seen); /* as often as one likes */
void countdown_clear(struct countdown *c); /* before anything else is written, and at the end */

/* What is shown when so much is left; 0: no end. */
enum { COUNTDOWN_LINE = 160 };
void countdown_text(char line[COUNTDOWN_LINE], const char *what, uint64_t seen, uint64_t left_ns);

#endif
