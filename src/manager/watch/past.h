/* SPDX-License-Identifier: Apache-2.0 */
/* past.h - what the store knows of an application's methods, added up over processes and windows. */
#ifndef MANAGER_WATCH_PAST_H
#define MANAGER_WATCH_PAST_H

#include "manager/archive/archive.h"
#include "manager/watch/usual.h"

struct past_window {
	struct slice method;
	uint64_t begin_ms, width_ms, sums[SUMS];
};

struct past_span {
	struct slice app, instance, method; /* instance, method: .n 0: all */
	uint64_t from_ms, to_ms;	    /* to_ms is not in it */
	unsigned level;			    /* of roll-up */
	uint64_t width_ms;		    /* of a window: a multiple of the level's step */
};

typedef void past_on_window(void *ctx, const struct past_window *w);
int past_read(struct archive *s, const struct past_span *span, past_on_window *on, void *ctx);

/* The level to use for windows of that width. */
unsigned past_level(uint64_t width_ms);

/* False: it had too few calls to say. */
bool past_value(const struct past_window *w, enum usual_kind kind, double *out);

#endif
