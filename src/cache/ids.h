/* SPDX-License-Identifier: Apache-2.0 */
/* ids.h - puts the numbers that a JVM gives its methods into a class out of the cache.
 *
 * The place of a number is four bytes of a constant, or the two of a `sipush`: then the class is
 * smaller by a constant for each method.  Where the number is too large for that, the instruction
 * becomes an `ldc_w`, which is as long, of a constant that is put behind all others.
 *
 * One thread for each class. */
#ifndef CACHE_IDS_H
#define CACHE_IDS_H

#include "cache/recipe.h"

struct ids {
	/* private part */
	const struct recipe *recipe;
	uint8_t *woven; /* a copy of the recipe's class */
	struct arena *mem;
	uint8_t *more; /* constants to be put behind the others */
	uint32_t n_more;
};

void ids_begin(struct ids *ids, const struct recipe *r, uint8_t *woven, struct arena *mem);

/* m is a method of the recipe, and comes once.  E_POOL_FULL: the class can hold no number as large
 * as that. */
int ids_put(struct ids *ids, const struct recipe_method *m, uint32_t id);

/* The class with all numbers in it: what was given to ids_begin, or larger and in mem.
 * E_NO_MEMORY, E_DAMAGED. */
int ids_end(const struct ids *ids, struct slice *out);

#endif
