/* SPDX-License-Identifier: Apache-2.0 */
/* weave_set.h - the classes of a weaving, all in memory, in the order of their sources.
 *
 * Read by one thread; after that any number of threads may look.  The order gives every class its
 * first method id, so ids do not depend on who weaves what when. */
#ifndef CLI_CLASSTOOLS_WEAVE_SET_H
#define CLI_CLASSTOOLS_WEAVE_SET_H

#include "base/arena.h"
#include "base/map.h"
#include "rule/facts.h"

struct set_class {
	const char *shown; /* for people */
	const char *group; /* jar or module, or "" */
	const char *name;  /* path below the group: "p/C.class" */
	struct slice bytes;
	struct rule_class facts; /* .name.n 0: could not be read */
	uint32_t n_methods;
	int32_t first_id;
	bool alone; /* a FILE that was named itself */
};

struct weave_set {
	struct arena mem, scratch;
	struct set_class *v;
	size_t n, cap;
	size_t hidden;	   /* classes left out: one before them goes to the same place */
	size_t unreadable; /* sources and entries that could not be read */
	uint64_t bytes, methods;
	struct map by_name;  /* internal name -> struct rule_class *, the first of its name */
	struct map by_place; /* group/name */
	struct rule_resolver resolver;
};

void set_init(struct weave_set *s);
void set_release(struct weave_set *s);

/* Reads all classes of the sources; what cannot be read is told on stderr and counted.
 * E_NO_MEMORY, E_LIMIT (more methods than ids). */
int set_read(struct weave_set *s, char *const *specs, size_t n);

/* Classes that rules may ask about, but that are not woven: sources, separated by colons. */
int set_read_path(struct weave_set *s, const char *path);

#endif
