/* SPDX-License-Identifier: Apache-2.0 */
/* cost.h - what hooks cost on one machine with one JVM: the result of a calibration.
 *
 * Times are in ns.  A span says what was found: most bodies have the middle, all lie between low
 * and high.  A hooked call adds three things to the program: `inner` to its own measured time
 * (after the entry's clock was read, before the exit's), `outer` to its caller's besides, and so
 * `pair` in all.  Processors overlap work, so these depend on how long the call is: each is kept by
 * length class.  inner can be negative: the clock is read while the body still runs.
 *
 * A plain value; made by cost_read() from the text of a calibration. */
#ifndef TREE_COST_H
#define TREE_COST_H

#include "base/buf.h"

struct span {
	double low, mid, high;
};

/* How a call was observed. */
enum cost_kind {
	COST_EVERY,   /* timed, 1/1: the clock is read at once */
	COST_SETTLED, /* timed, what was under way is waited for */
	COST_RARE,    /* the same, but one of many: the processor did not expect it */
	COST_PASSED,  /* 1/N, and it was not this one's turn: counted; has no inner */
	COST_LIGHT,   /* counted; has no inner */
	COST_SOLO, /* measured alone, in a window in which other hooks are closed; inner is what a blank call has not */
	COST_CLOSED, /* not observed at all, but woven; has no inner */
	COST_KINDS
};

/* What the method is run by. */
enum cost_tier {
	COST_COMPILED,
	COST_INTERPRETED,
	COST_JNI, /* compiled, before the agent takes the cheaper way to C */
	COST_TIERS
};

enum { COST_CLASSES = 4 };

struct cost {
	struct span inner, outer, pair;
};

struct sequences;

struct costs {
	const struct sequences *seen; /* in the program itself (sequence.h); NULL: nothing */
	char mechanism[24];	      /* "FFM critical" */
	double pulse; /* status.pulse_ns of the wire while it was made; 0: not known */
	double noise; /* by what share the same code takes longer or shorter here, now and then */
	struct cost of[COST_TIERS][COST_KINDS][COST_CLASSES];
};

/* Class of a call that takes so many ns: below the first of these, the second, the third,
 * longer. */
#define COST_BORDERS          \
	{                     \
		40, 400, 4000 \
	}
unsigned cost_class(double ns);

/* The same at a time when the pulse is another one: what hooks cost goes with the pace of the
 * clock, and of all else that shares the processor.  0: not known, nothing changes. */
void cost_at(const struct costs *c, double pulse, struct costs *out);

/* The text of a calibration: its first line is "sonde calibration 3", then lines "KEY VALUE", of
 * which those that are not known are passed over. */
void cost_write(const struct costs *c, struct buf *out);

/* Of a whole text.  0; E_MAGIC: something else; E_SYNTAX: damaged or incomplete. */
int cost_read(struct slice text, struct costs *out);

/* Value of a line "KEY VALUE", without the line's end; .p is NULL when there is none. */
struct slice cost_line(struct slice text, const char *key);

#endif
