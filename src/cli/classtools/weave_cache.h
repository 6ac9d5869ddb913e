/* SPDX-License-Identifier: Apache-2.0 */
/* weave_cache.h - fills the cache with what the agent will look for when the classes are loaded.
 *
 * The keys are the agent's: for each class what it knows when the class is loaded, and, where rules
 * ask for ancestors, also what it knows once they are all loaded.  Any number of threads. */
#ifndef CLI_CLASSTOOLS_WEAVE_CACHE_H
#define CLI_CLASSTOOLS_WEAVE_CACHE_H

#include <pthread.h>

#include "cache/cache.h"

struct weave_cache {
	struct store *store;
	struct cache_rules rules;
	pthread_mutex_t lock;	/* of adding, and of what follows */
	uint64_t found, stored; /* classes */
	uint64_t elsewhere;	/* ... that the rules want woven at load or live */
	bool some;		/* there are `ahead` rules: only what they name is taken */
	uint64_t bytes;		/* stored */
	char dir[4096];
};

/* dir may be NULL: the usual place.  An exit status; the reason is on stderr. */
int weave_cache_open(struct weave_cache *c, const char *dir, const struct weaver *w,
		     struct arena *mem);
void weave_cache_close(struct weave_cache *c);

/* Is the class to be woven ahead of time?  Without `ahead` rules all are. */
bool weave_cache_wants(struct weave_cache *c, const struct rule_class *facts);

/* The recipe of a class is in out->kept afterwards, unless out->nothing.  Negative: E_*; the
 * class cannot be read, or the cache cannot be written (E_IO, E_LIMIT). */
int weave_cache_one(struct weave_cache *c, const struct cache_query *q, struct arena *work,
		    struct cache_look *out);

#endif
