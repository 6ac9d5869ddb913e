/* SPDX-License-Identifier: Apache-2.0 */
/* measure.h - what hooks have measured, window by window, of each hooked method in its sequence of
 * hooked callers.
 *
 * The agent's figures grow; a reading is one answer of it, and two readings are a window.  For each
 * reading: measure_begin, measure_row for every node in pre-order, measure_end.  Calls of a method
 * of which only one in N is timed leave no frame otherwise, and what they call is read below their
 * callers: measure_end puts that back.  Calls of a method by itself are part of the outermost one,
 * which alone is counted.  Out of memory is sticky, in err. */
#ifndef PLAN_MEASURE_H
#define PLAN_MEASURE_H

#include "base/arena.h"
#include "base/map.h"
#include "plan/stats/stats.h"

enum { WINDOWS_MAX = 48, LINKS_MAX = 48 };

struct measured { /* a node */
	struct slice name;
	struct measured *parent, *first, *next; /* child, sibling */
	uint32_t depth;
	uint32_t number;			  /* of its name */
	uint64_t last_calls, last_ended, last_ns; /* at the reading before */
	uint64_t now_calls, now_ended, now_ns;	  /* at this one */
	bool seen;				  /* in this reading */
	double calls[WINDOWS_MAX], ns[WINDOWS_MAX];
};

struct measure {
	struct arena mem;
	struct measured root;
	struct measured **at; /* by the depth of rows; of the reading that is under way */
	uint32_t deep;	      /* so many of them */
	struct map numbers;   /* by name */
	size_t n;	      /* nodes */
	struct {	      /* tasks of other threads, to be read below who waits for them */
		struct slice waiter, task;
		struct measured *at; /* the waiter's node, as soon as there is one */
	} links[LINKS_MAX];
	unsigned n_links;
	size_t readings; /* windows: one less */
	int err;
};

struct measure_row {
	uint32_t depth; /* from 0 */
	struct slice name;
	uint64_t calls, ended, ns; /* ended: timed calls that have; ns is theirs */
};

void measure_init(struct measure *m);
void measure_release(struct measure *m);

/* Calls of `task` that nobody has called belong to `waiter`; the slices are views. */
void measure_link(struct measure *m, struct slice waiter, struct slice task);

void measure_begin(struct measure *m);
void measure_row(struct measure *m, const struct measure_row *row);
void measure_pass(struct measure *m, uint32_t depth); /* what it calls is read below its caller */
void measure_end(struct measure *m);

size_t measure_windows(const struct measure *m);
struct measured *measure_next(struct measured *n, struct measured *top); /* pre-order */

double measure_calls(const struct measure *m, const struct measured *n); /* over all windows */
double measure_ns(const struct measure *m, const struct measured *n);

struct estimated measure_mean(const struct measure *m, const struct measured *n); /* ns a call */
/* Its time as a share of another one's, and its calls for each call of another one. */
struct estimated measure_share(const struct measure *m, const struct measured *n,
			       const struct measured *of);
struct estimated measure_calls_per(const struct measure *m, const struct measured *n,
				   const struct measured *of);

/* Sums over all outermost places of a method, as a node without links. */
bool measure_method(const struct measure *m, struct slice name, struct measured *out);

#endif
