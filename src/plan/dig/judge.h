/* SPDX-License-Identifier: Apache-2.0 */
/* judge.h - whether a candidate for the root is slow; private to dig. */
#ifndef PLAN_JUDGE_H
#define PLAN_JUDGE_H

#include "plan/dig/dig_state.h"

struct candidate {
	const struct dig_figures *figures;
	struct spread spread;
	double limit; /* of slow calls, ns; 0: all of them */
	bool slow;
	double weight;	   /* ns of slow calls */
	double waiting;	   /* share of the samples that wait for locks */
	double statements; /* so many for each call; 0: that is not what makes it slow */
	const struct known_past *past;
	bool breaks;  /* with its past */
	bool stuck;   /* calls of it run still that have begun long ago */
	bool differs; /* few calls that take much longer than others have most of the time */
	bool sleeps;  /* most of its time */
	bool rests;   /* ... by itself: it is what a loop or a job does in between */
};

struct nature {			/* of a root, by samples */
	double waiting;		/* share of the samples that wait for locks */
	double computing;	/* ... that want a processor */
	double sleeping;	/* ... that sleep or wait to be notified */
	double concentrated;	/* of those that compute, the part in the same method */
	double resting;		/* ... that do so in the method itself, or in one that it calls */
	double scheduled;	/* ... that a timer has called */
	double handing;		/* ... that wait for tasks of other threads */
	double tasks_computing; /* ... while these want a processor */
};

struct nature judge_nature(const struct dig *d, struct slice name);

struct presence {     /* of a candidate, as shares of one thread's time */
	double looks; /* by samples */
	double hooks; /* by calls that have returned */
	double calls; /* so many */
};

bool judge_seen(const struct dig *d, const struct sample_node *n, struct presence *out);

void judge_root(const struct dig *d, const struct dig_figures *f, struct candidate *c);
/* It runs, and does not return. */
void judge_stuck(const struct dig *d, const struct sample_node *n, struct candidate *c);
/* Its share of one thread's time, by the calls that have returned. */
double judge_weight(const struct dig *d, const struct dig_figures *f);
/* How much longer it takes since the machine has too few processors for all that runs on it. */
double judge_stretch(const struct dig *d, double computing);
struct known_run judge_run(const struct dig *d, const struct dig_figures *f);

#endif
