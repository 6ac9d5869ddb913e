/* SPDX-License-Identifier: Apache-2.0 */
/* names.h - the names of methods of an application, each kept once for as long as the manager runs.
 *
 * Two names are the same when their pointers are.  Under the fleet's lock. */
#ifndef MANAGER_FIGURES_NAMES_H
#define MANAGER_FIGURES_NAMES_H

#include "base/arena.h"
#include "base/map.h"

enum { NAMES_MAX = 500000, NAME_MAX_BYTES = 4096 };

struct name {
	struct slice text; /* NUL behind it */
	uint64_t hash;	   /* the same in every run */
};

struct name_pool {
	struct arena mem;
	struct map all;
};

/* NULL: out of memory, or there are too many.  Longer ones are cut. */
const struct name *names_get(struct name_pool *n, struct slice text);
void names_release(struct name_pool *n);

#endif
