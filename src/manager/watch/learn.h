/* SPDX-License-Identifier: Apache-2.0 */
/* learn.h - the methods of one application with what is usual for each, learned from the store. */
#ifndef MANAGER_WATCH_LEARN_H
#define MANAGER_WATCH_LEARN_H

#include "base/map.h"
#include "manager/fleet/fleet.h"
#include "manager/watch/past.h"

struct values {
	double *v;
	size_t n, cap;
};

struct learned_method {
	const char *name; /* NUL behind it */
	struct usual usual[USUAL_KINDS];
	struct judge judge[USUAL_KINDS];
	uint64_t seen_ms; /* end of the last window in which it was called */
	/* while learning */
	struct values hourly[USUAL_KINDS], recent[USUAL_KINDS];
	uint64_t days; /* a bit each */
	uint64_t oldest_ms;
};

enum { LEARNED_MAX = 5000 };

struct learned_app {
	struct learned_app *next;
	char name[HUB_APP];
	struct arena mem;
	struct map by_name;
	struct learned_method *v[LEARNED_MAX];
	size_t n;
	uint64_t learned_ms, next_dig_ms; /* of the day; monotonic */
};

struct learned_app *learned_new(const char *name);
void learned_free(struct learned_app *a);
/* NULL: there are too many, or memory is out. */
struct learned_method *learned_method(struct learned_app *a, struct slice name);

struct learn_how {
	uint64_t window_ms, learn_ms, now_ms;
	double factor;
};
/* What is usual for all of its methods; those that are broken keep what was usual before. */
int learn(struct learned_app *a, struct archive *s, const struct learn_how *how);

#endif
