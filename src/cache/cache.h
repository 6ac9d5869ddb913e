/* SPDX-License-Identifier: Apache-2.0 */
/* cache.h - recipes by what decides them: the class's bytes, the rules that touch it, Sonde itself.
 *
 * Which rules touch a class is known only after reading it.  So a look-up has two steps: the
 * class's bytes together with all rules lead to a link, which names the recipe (or says that no
 * rule touches the class); where there is no link yet, the class is read, and the rules that touch
 * it lead to the recipe.  The usual start thus costs a hash and two look-ups, and a change of one
 * rule costs only the classes that it is about.
 *
 * A cache_rules is made once for a sealed set of rules and only read after that, by any thread. */
#ifndef CACHE_CACHE_H
#define CACHE_CACHE_H

#include "cache/recipe.h"
#include "cache/store.h"

extern const char cache_build[]; /* changes with every source that decides what weaving gives */

struct cache_rules {
	const struct weaver *weaver;
	struct secret secret;  /* of the store that it is for */
	struct hash128 all;    /* of all rules, templates and the build */
	struct hash128 always; /* of the build, the templates that come with it, weaver->huge */
	bool wants_kin;	       /* ancestors have a say: they belong to the key */
	uint16_t *order;  /* [rules->n] by place in the set: its number among those that count */
	uint16_t *places; /* the other way round */
	uint16_t n;
};

/* weaver->huge has its value by then; secret: that of the store.  E_NO_MEMORY, E_LIMIT (too many
 * rules to be numbered: no cache then). */
int cache_rules_init(struct cache_rules *r, const struct weaver *w, const struct secret *secret,
		     struct arena *mem);

struct cache_query {
	const struct cache_rules *rules;
	struct slice bytes;		      /* of the class */
	struct slice name;		      /* a/b/C; empty: not known */
	const struct rule_resolver *resolver; /* as for the weaving */
	struct arena *mem;
	struct buf *
		room; /* may be NULL: memory to begin with, which becomes that of cache_look.kept */
};

/* One class on its way through the cache. */
struct cache_look {
	struct hash128 link;   /* key of the link */
	struct hash128 recipe; /* ... and of the recipe; zero: none is needed */
	bool has_link;	       /* it was found: nothing is to be stored */
	bool has_recipe;
	bool nothing;		      /* no rule touches the class */
	const struct rule **touching; /* in order; recipe_method.rule is an index */
	size_t n_touching;
	struct buf kept;     /* the recipe, when has_recipe; released by the caller */
	struct recipe found; /* ... as it was read; it points into kept */
};

/* 1: found (has_recipe, or nothing); 0: has to be woven; E_NO_MEMORY or an error of class_read. */
int cache_find(struct store *s, const struct cache_query *q, struct cache_look *out);

/* What has to be stored after the class was woven: the link's contents. */
void cache_link_put(const struct cache_rules *rules, const struct cache_look *look,
		    struct buf *out);

/* The link's contents, for people: the recipe's key; zero: no rule touches the class. */
int cache_link_get(struct slice contents, struct hash128 *recipe);

/* Weaves the class and appends its recipe to `kept`.  0 or E_NO_MEMORY; a class that cannot be
 * woven has a recipe, too. */
int cache_weave(const struct cache_query *q, const struct cache_look *look, struct arena *work,
		struct buf *kept);

#endif
