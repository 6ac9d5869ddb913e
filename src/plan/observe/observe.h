/* SPDX-License-Identifier: Apache-2.0 */
/* observe.h - which methods of a program are worth a hook, learned by watching it.
 *
 * Samples say where the time is and what it goes into, counts say how often methods are called,
 * byte code says how large they are and where they lead.  The driver hands in all three, in this
 * order:
 *
 *	observe_look		after o->samples was filled and sealed
 *	observe_put_counting	rules that count calls; observe_count for each method, observe_counted
 *	observe_ask		methods to ask about: observe_code, observe_callee for each
 *	observe_decide		then the methods are in order, best first, and each has its choice
 *
 * Counts and code may be missing.  Pure: knows neither JVM nor clock.  All memory is the arena's;
 * out of memory is sticky, in o->err.  One thread. */
#ifndef PLAN_OBSERVE_H
#define PLAN_OBSERVE_H

#include "base/buf.h"
#include "plan/dig/kind.h"
#include "plan/dig/samples.h"

enum observe_choice {
	OBSERVE_TIMED,
	OBSERVE_LIGHT,	 /* too hot to be timed within the budget */
	OBSERVE_HOT,	 /* ... or even to be counted: left out */
	OBSERVE_SMALL,	 /* so little code that a hook would be most of it: left out */
	OBSERVE_ENDLESS, /* runs on and on, so nothing would be timed: left out */
	OBSERVE_MINOR,	 /* not worth it */
};

enum { OBSERVE_PACKAGES = 8 };

struct observe_method {
	struct slice name; /* pkg.Class.method(desc) */
	/* by samples of threads that do not wait for work */
	uint64_t seen;			     /* in it or below it */
	uint64_t own;			     /* not below another method of the program */
	uint64_t by[KINDS];		     /* what its own go into */
	uint64_t from_outside;		     /* of `seen`: called by the JDK alone */
	const struct observe_method *caller; /* the one it is mostly called by; NULL: none */
	uint64_t caller_votes;
	/* by counts */
	bool is_counted, is_hot; /* hot: it is not counted any more */
	uint64_t calls, base;
	/* by code */
	uint32_t bytes;				 /* 0: not known */
	struct slice packages[OBSERVE_PACKAGES]; /* others of the program that it calls into */
	unsigned n_packages;
	/* decided */
	double score;	  /* 0 to 100 */
	double share;	  /* of the program's time */
	double rate;	  /* calls a second */
	double ns;	  /* a call; 0: not known */
	double cost;	  /* of the chosen hook, of one processor */
	double waits;	  /* share of its own samples that wait, for input and output or locks */
	enum kind kind;	  /* what most of that is for */
	bool is_endless;  /* at work all the time, and not called once while calls were counted */
	bool is_entry;	  /* the program's work begins here, or that of another package */
	bool is_corridor; /* passes on what its caller of the same package has handed to it */
	enum observe_choice choice;
	uint64_t stamp; /* private */
	struct observe_method *next;
};

struct observe_options {
	double budget; /* share of one processor that the hooks may cost together */
	unsigned most; /* rules to write */
};

struct observe {
	struct observe_options options;
	struct arena mem;
	struct samples samples;
	struct observe_method **list; /* after observe_decide: in order */
	size_t n;
	struct observe_method **buckets;
	uint64_t busy;	  /* samples that count */
	uint64_t resting; /* threads that slept or waited at one place all the time: left out ... */
	struct slice resting_in; /* ... the first of them in this method; a view of the samples */
	double seconds;		 /* that calls were counted */
	double cost;		 /* of all hooks that were chosen */
	uint64_t stamp;
	bool is_base;
	int err;
};

void observe_init(struct observe *o, const struct observe_options *options);
void observe_release(struct observe *o);

void observe_look(struct observe *o); /* may be called again when there are more samples */

/* Rules that count all methods of at most so many classes; false: there are none. */
bool observe_put_counting(struct observe *o, unsigned classes, struct buf *out);
void observe_count(struct observe *o, struct slice name, uint64_t calls);
void observe_counted(struct observe *o, double seconds);
/* After observe_counted: rules that take out what is called too often to be counted any longer;
 * false: there are none.  When they are in, counts begin anew with those handed in from
 * observe_base(true) to observe_base(false). */
bool observe_put_hot(struct observe *o, struct buf *out);
void observe_base(struct observe *o, bool begins);

/* The best so far, in order; how many were written to out. */
size_t observe_ask(struct observe *o, struct slice *out, size_t cap);
void observe_code(struct observe *o, struct slice name, uint32_t bytes);
void observe_callee(struct observe *o, struct slice caller, struct slice name);

void observe_decide(struct observe *o);

bool observe_is_hooked(const struct observe_method *m);

/* The rules, with a comment on each; `head` is put before them, as comments. */
void observe_print(const struct observe *o, struct slice head, struct buf *out);
/* "62 % of the time, ...": why it was chosen, or was not. */
void observe_put_reason(const struct observe *o, const struct observe_method *m, struct buf *out);

#endif
