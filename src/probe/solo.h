/* SPDX-License-Identifier: Apache-2.0 */
/* solo.h - single calls measured alone: while one of them runs, no hook below it costs anything.
 *
 * For the time of a window the agent closes all gates but those of some methods.  Whoever comes
 * first takes probe_words.solo, which closes these gates, too, reads the clock when what was under
 * way is done, and gives the word back when the call has ended.  So what is measured is the call as
 * it is without measurement, and an offset; below a method that calls itself, too.  The offset
 * depends on the JVM, on what it has compiled, and on how fast the processor is just now.  So it is
 * measured just before, by blank calls: solo_enter gives a token with all bits of SOLO_BLANK, for
 * which Java calls solo_exit at once and solo_enter again.  The first one warms up.
 *
 * What measures a call leaves traces in caches and predictors, and the program has to find its way
 * back: a call of 100 ns that walks a list took a quarter longer right after one that was measured.
 * So of methods whose calls are short some pass unmeasured in between, as many as the agent says,
 * more or less by chance.  They have a token, too, SOLO_TOKEN alone: a processor that is used to
 * calls which do not come to solo_exit would be surprised by one that does.
 *
 * Or a window only counts the calls of its methods, all of them: marks, by which the program's
 * speed is seen.
 *
 * Windows belong to the agent's thread, one after the other: solo_begin, then solo_end until it
 * says that the last call has ended (or solo_cut), then solo_sum.  Nothing blocks. */
#ifndef PROBE_SOLO_H
#define PROBE_SOLO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	SOLO_METHODS = 200, /* of one window */
	SOLO_REST = 127,
};

#define SOLO_TOKEN ((uint64_t)10 << 60) /* in tokens of calls that are measured alone */
#define SOLO_BLANK ((uint64_t)11 << 60) /* in those of blank ones */

/* ---- for observed threads ---- */

uint64_t solo_enter(uint32_t id); /* the token; 0: another call is being measured, or nothing */
void solo_exit(uint32_t id, uint64_t token);   /* returned, or left by exception */
void solo_forget(uint32_t id, uint64_t token); /* it is not to be counted */
void solo_mark(uint32_t id);

/* ---- for the agent ---- */

struct solo_sum {
	uint64_t calls, ticks;
	uint64_t max;	/* ticks of the longest */
	uint64_t blank; /* ticks of as many blank calls */
	uint64_t asked; /* calls whose ticks are without what the processor was taken away for */
};

/* How a method is measured from now on; all zero by default. */
struct solo_way {
	bool is_long; /* each call is asked for how long its thread had the processor (probe/taken.h): that is little
		       * beside it, and in a short one it would be seen */
	uint8_t rest; /* so many calls pass between two that are measured, on average; at most SOLO_REST.  Of a method that
		       * calls itself it is to be 0: an inner call would be taken for an outer one */
};
void solo_way(uint32_t id, const struct solo_way *way);

/* At most SOLO_METHODS; after so many calls, or that tick, no more are measured: whoever would have
 * ended the window from outside would have taken the processor away from a call, on a busy machine.
 * calls 0: they are only marks. */
void solo_begin(const uint32_t *ids, size_t n, uint64_t calls, uint64_t until);

/* No more calls are measured.  True: none runs any more. */
bool solo_end(void);

/* Gives up the call that still runs; its method's place among those of the window, or negative. */
int solo_cut(void);

struct solo_sum solo_sum(size_t i);
bool solo_is_over(void); /* no call is measured any more, and none runs */

#endif
