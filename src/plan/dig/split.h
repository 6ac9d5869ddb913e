/* SPDX-License-Identifier: Apache-2.0 */
/* split.h - which data go with slow calls and not with others.
 *
 * Each watched call gives its time and its arguments as text.  Values become facts: $1 == "x",
 * $1.kind == "GIFT" (a field of an object), the size of a number, a text, an array or a collection.
 * The fact that holds for most slow calls, by their time, and for few others is reported as a condition
 * of the rule language, when chance does not explain it: a rare value needs few slow calls, a
 * frequent one many. */
#ifndef PLAN_SPLIT_H
#define PLAN_SPLIT_H

#include "base/arena.h"
#include "base/buf.h"

enum { SPLIT_CALLS = 16000 };

struct split_fact {
	struct slice path;  /* $1, $1.kind, $2.length() */
	struct slice value; /* as text; empty for a number that is only a size */
	double number;
	bool has_number;
	struct split_fact *next;
};

struct split_call {
	double ns;
	struct split_fact *facts;
	struct split_call *next;
};

struct split {
	struct arena mem;
	struct split_call *calls;
	size_t n;
	size_t tried; /* conditions, by the last split_find */
	int err;
};

void split_init(struct split *s);
void split_release(struct split *s);

/* One call: then its arguments, $1 first. */
void split_call(struct split *s, double ns);
void split_value(struct split *s, unsigned number, struct slice text);

struct split_answer {
	struct slice condition; /* in the split's memory; .n 0: no data go with slow calls */
	size_t slow, slow_met;	/* calls, and those for which the condition holds */
	size_t fast, fast_met;
	double slow_ns, fast_ns; /* mean times of calls that meet it, and of the others */
	double slow_time; /* what the slow calls that meet it have of the time of all slow ones */
	double score;	  /* 0: it tells nothing; 1: all slow calls, and no other, meet it */
	double chance;	  /* that calls to which it means nothing look like that */
	bool is_value;	  /* it is one value, not a size */
};

enum { SPLIT_LIMITS = 12 };

/* Slow are calls from limit_ns on. */
void split_find(struct split *s, double limit_ns, struct split_answer *out);

/* The same, when it is not known from where on they are slow: of several limits the one whose
 * condition is the least probable to be chance. */
void split_find_among(struct split *s, const double *limits, size_t n, struct split_answer *out);

/* Limits that have the longest calls above them which matter: much longer than usual, and with most
 * of the time beyond what is usual.  Gives how many. */
size_t split_limits(const struct split *s, double out[SPLIT_LIMITS]);

size_t split_count(const struct split *s, double limit_ns); /* calls that are slow */

/* A limit between usual and slow calls; 0 when they are much the same. */
double split_limit(const struct split *s);

#endif
