/* SPDX-License-Identifier: Apache-2.0 */
/* warm.h - what a JVM's compilers do on account of hooks, and what they would have done anyway.
 *
 * A program that has just started is compiled for a while, and less and less; one that loads classes all the time is
 * compiled all the time.  Both go by what the program does, not by the clock on the wall: on a machine that is busy
 * with other things it takes longer.  So the clock here is the processor time of the program.
 *
 * warm_see every now and then, with times since any moment, in ns; warm_hooked when the first hooks come.  A plain
 * value; all zero is one that has seen nothing. */
#ifndef PLAN_WARM_H
#define PLAN_WARM_H

#include <stdbool.h>

enum { WARM_SPANS = 64 };

struct warm_times {
	double run; /* of the program's threads, on a processor */
	double jit; /* of the compilers */
};

struct warm {
	struct warm_times begun, hooked, last;
	struct warm_times span; /* where the span began that is looked at */
	/* What compilers took of each span since the hooks came, as a multiple of it, and how long spans are; when there
	 * are too many, two become one. */
	double spans[WARM_SPANS], length;
	unsigned n_spans;
	bool has_begun, is_hooked;
};

void warm_see(struct warm *w, struct warm_times now);
void warm_hooked(struct warm *w);
double warm_caused(const struct warm *w); /* compiled on account of hooks, ns */

#endif
