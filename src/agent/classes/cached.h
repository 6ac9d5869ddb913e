/* SPDX-License-Identifier: Apache-2.0 */
/* cached.h - the cache of woven classes, as the agent uses it.
 *
 * Threads that load classes only look into it.  What they had to weave themselves is put into a
 * queue in memory, and the agent's thread writes it later, when no other process writes; so no
 * class waits for a disk.  Everything here may fail without anything being lost but time. */
#ifndef AGENT_CLASSES_CACHED_H
#define AGENT_CLASSES_CACHED_H

#include "cache/cache.h"

/* Opens what the options say; at the start of a program with rules the usual place, too. */
void cached_open(void);
void cached_close(void); /* writes what waits; it is not used any more */

struct secret cached_secret(void); /* for cache_rules_init; zeroes: there is no store */

/* The store, or NULL: there is none.  Each that is not NULL must be put back. */
struct store *cached_get(void);
void cached_put(void);

/* A class was asked for. */
void cached_count(bool hit);

/* What was woven, to be stored.  `kept` is its recipe; empty when no rule touches the class. */
void cached_later(const struct cache_rules *rules, const struct cache_look *look,
		  struct slice kept);
void cached_write(int wait_ms); /* what waits; for so long when another process writes */

struct cached_figures {
	char place[256]; /* "": none */
	uint64_t hits, misses, damaged, bytes_read, bytes_written;
};
void cached_figures(struct cached_figures *out);

#endif
