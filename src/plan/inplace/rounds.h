/* SPDX-License-Identifier: Apache-2.0 */
/* rounds.h - what a method takes, from several rounds before each of which the JVM compiled it
 * anew.
 *
 * The same byte code is not as fast each time that it is compiled: what is inlined where depends on
 * what the JVM had seen by then.  The windows of one round know nothing of that, however many they
 * are.  So the margin here is from how rounds differ, and it says where the next compilation will
 * be, not only where the mean is: whoever runs the program without hooks has one more.
 *
 * Plain values; no JVM, no clock. */
#ifndef PLAN_ROUNDS_H
#define PLAN_ROUNDS_H

#include "plan/stats/stats.h"

enum { ROUNDS_MAX = 8 };

struct rounds {
	uint32_t id;
	uint32_t n;
	double calls; /* of all rounds */
	double plain; /* the mean with calls in it that were out of all proportion, the most, as a ratio to mean */
	struct {
		double mean, margin; /* ns; margin < 0: not known */
		double calls, windows;
	} of[ROUNDS_MAX];
};

/* One round more.  Its calls are its weight: what a program's calls take on average is the time of
 * all by their number, and a machine that is slower in one round has fewer of them in it. */
struct rounds_one {
	struct estimated mean;
	double plain, calls, windows;
};
void rounds_add(struct rounds *r, const struct rounds_one *one);

/* How much the rounds of a program's methods differ, in the middle; < 0: no method has two. */
double rounds_scatter(const struct rounds *all, size_t n);

/* scatter: from rounds_scatter, or negative.  margin < 0: not known. */
struct estimated rounds_mean(const struct rounds *r, double scatter);

#endif
