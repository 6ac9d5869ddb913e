/* SPDX-License-Identifier: Apache-2.0 */
/* recipe.h - what became of a class under rules, in a form that can be kept and used again.
 *
 * A recipe holds the woven class and, for each method that a rule wants, what became of it: woven
 * or not, why not, by which rule and template, a digest of its code before, and where offsets of
 * the old code have gone.  Numbers of methods, of parts of conditions and of captured values differ
 * from JVM to JVM, so those in the kept class mean nothing, and the recipe knows the bytes of each.
 * Rules are named by their place among the rules that touch the class, which is part of the key the
 * recipe is kept under.
 *
 * A weaving is used through its recipe also when it was made a moment ago, so the result is the
 * same whichever way a class came. */
#ifndef CACHE_RECIPE_H
#define CACHE_RECIPE_H

#include "weave/weave.h"

enum recipe_kind {
	RECIPE_NOTHING = 1, /* no method is woven; there may be some that were left alone */
	RECIPE_WOVEN = 2,
	RECIPE_REFUSED = 3, /* the class itself could not be read or written */
};

struct recipe {
	uint8_t kind;
	int rc;			    /* of RECIPE_REFUSED */
	struct slice why;	    /* of RECIPE_REFUSED */
	struct slice name;	    /* of the class: a/b/C */
	struct slice woven;	    /* the class; empty unless RECIPE_WOVEN */
	uint32_t original;	    /* bytes of the class before */
	uint32_t n_methods;	    /* that a rule wants; read them with recipe_next */
	struct slice rest, numbers; /* private */
};

/* A place of a number that the JVM has to be asked for. */
struct recipe_number {
	uint32_t at;	   /* in woven: where it goes, big-endian */
	uint16_t rule;	   /* among the rules that touch the class, from 0: ... */
	uint16_t site;	   /* ... its site with this number, from 0; see cond_sites */
	struct slice slot; /* not empty: of the captured value with this name instead */
};

struct recipe_anchor {
	uint16_t rule; /* among those that touch the class */
	uint8_t context, step;
};

struct recipe_method {
	struct slice name, desc;
	uint16_t access;
	int rc;		  /* 0: woven; E_*: left alone */
	uint16_t rule;	  /* among the rules that touch the class, from 0; their number: none */
	uint64_t digest;  /* code_digest of the original code; 0: not woven */
	uint32_t code_n;  /* bytes of the original code */
	uint32_t woven_n; /* ... and of the code with the hook */
	uint32_t id_at;	  /* in woven: where the number goes, see ids.h; 0: nowhere */
	struct slice why; /* of rc < 0 */
	struct slice template, category; /* of a woven one; the latter may be empty */
	struct slice map;		 /* code_offset_map */
	uint16_t n_anchors;		 /* steps of sequences of callers that it is */
	struct slice anchors;		 /* private */
};

/* Appends the recipe of a weaving; rc and f are what weave_class gave, woven what it wrote.
 * `rules` are those that touch the class, in order.  The job must have had own_ids. */
struct recipe_from {
	const struct weave_job *job;
	int rc;
	const struct fault *fault;
	struct slice name, original, woven;
	const struct rule *const *rules;
	const struct recipe_number *numbers;
	size_t n_rules, n_numbers;
};
void recipe_put(const struct recipe_from *from, struct buf *out); /* errors are the buf's */

/* Slices point into `kept`.  E_DAMAGED when it makes no sense; every method is looked at. */
int recipe_get(struct slice kept, struct recipe *out);

/* Walks over the methods: *at is 0 at first.  false: no more. */
bool recipe_next(const struct recipe *r, size_t *at, struct recipe_method *out);
struct recipe_anchor recipe_anchor(const struct recipe_method *m, uint32_t i); /* i < n_anchors */

bool recipe_next_number(const struct recipe *r, size_t *at,
			struct recipe_number *out); /* likewise */

#endif
