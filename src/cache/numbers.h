/* SPDX-License-Identifier: Apache-2.0 */
/* numbers.h - the numbers in a woven class that each JVM gives differently: sites and slots
 * (weave/cond_code.h).
 *
 * While a class is woven for the cache, numbers_begin stands in for the JVM: it gives numbers of
 * its own and remembers what each stands for and where it was put.  numbers_end makes that a part
 * of the recipe, and numbers_put lets a JVM replace them by its own.  A site is named by its rule
 * and its place in it, a slot by its name.
 *
 * One thread for each weaving. */
#ifndef CACHE_NUMBERS_H
#define CACHE_NUMBERS_H

#include "cache/recipe.h"

struct numbers {
	struct cond_numbers give; /* for the weaving */
	/* private part */
	const struct rule *const *rules; /* that touch the class */
	size_t n_rules;
	struct arena *mem;
	struct recipe_number *known; /* by number */
	struct number_place *places;
	size_t n_known, n_places, known_room, places_room;
	int rc; /* the first failure: E_NO_MEMORY */
};

void numbers_begin(struct numbers *n, const struct rule *const *rules, size_t n_rules,
		   struct arena *mem);

/* Sets from->numbers, which live in mem.  cls is the class as it was read, from->woven what came of
 * it. */
int numbers_end(struct numbers *n, const struct class *cls, struct recipe_from *from);

/* Replaces all in `woven`, a copy of r->woven.  E_DAMAGED, or what `give` has against it. */
int numbers_put(const struct recipe *r, const struct rule *const *rules, size_t n_rules,
		const struct cond_numbers *give, uint8_t *woven);

#endif
