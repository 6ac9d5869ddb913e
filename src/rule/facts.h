/* SPDX-License-Identifier: Apache-2.0 */
/* facts.h - what is known of a class and a method when rules are matched.
 *
 * Matching works on these facts and never on class files, so the same rules decide for a
 * class being loaded, one already loaded and one inside a jar.  All slices are borrowed
 * from the caller. */
#ifndef RULE_FACTS_H
#define RULE_FACTS_H

#include "base/slice.h"

struct rule_class;

/* How to ask about other classes.  Either function may be NULL. */
struct rule_resolver {
	void *ctx;
	/* The facts of the class `name` as the asking class would see it; false: unknown.
	 * What *out points at must live as long as the lineage it is asked for. */
	bool (*find)(void *ctx, struct slice name, struct rule_class *out);
	/* Does the class being matched hold this descriptor anywhere?  A quick "no" saves the
	 * reading of its methods; without the function the answer is "perhaps". */
	bool (*mentions)(void *ctx, struct slice descriptor);
};

enum { LINEAGE_MAX = 512 }; /* ancestors of one class; more are cut off */

struct rule_ancestor {
	struct slice name;
	bool interface; /* reached as an interface */
	bool unknown;	/* its own ancestors could not be found */
};

/* All ancestors of one class, nearest first, each once. */
struct rule_lineage {
	bool ready, cut;
	size_t n;
	struct rule_ancestor list[LINEAGE_MAX];
};

struct rule_class {
	struct slice name;  /* internal form: a/b/C$D */
	struct slice super; /* .n 0: none */
	const struct slice *interfaces;
	size_t interface_count;
	const struct slice *annotations; /* descriptors: La/b/C; */
	size_t annotation_count;
	uint16_t access;
	const struct rule_resolver *resolver; /* NULL: nothing else is known */
	struct rule_lineage *lineage; /* room to remember the ancestors in from call to call,
				       * with .ready false at first; NULL: found anew */
};

struct rule_method {
	struct slice name, desc;
	uint16_t access;
	const struct slice *annotations;
	size_t annotation_count;
};

/* Fills room (or the class's own lineage, where there is one) on first use.  Terminates for
 * any hierarchy, also one that goes round in circles. */
const struct rule_lineage *facts_lineage(const struct rule_class *cls, struct rule_lineage *room);

#endif
