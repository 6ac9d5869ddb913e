/* SPDX-License-Identifier: Apache-2.0 */
/* rules.h - a set of rules: made from one or more texts, then sealed and only read.
 *
 * The set, its rules and copies of the texts live in the arena given to rules_new.  While a
 * set is built it belongs to one thread; a sealed set may be read by any number of threads
 * at once.  To change rules, make a new set.
 *
 *	rules_new, rules_add for each file, rules_seal;  or rules_parse, which does all three. */
#ifndef RULE_RULES_H
#define RULE_RULES_H

#include "base/arena.h"
#include "rule/rule.h"

enum {
	RULES_MAX = 10000,	   /* rules in a set */
	RULES_TEXT_MAX = 4 << 20,  /* bytes of one text */
	RULES_LINE_MAX = 64 << 10, /* bytes of one line */
	RULES_RULE_MAX = 8 << 10,  /* bytes of one rule; printed, it still fits into a line */
};

struct rules {
	struct rule **all; /* in the order of the texts */
	size_t n;
	/* private part */
	struct arena *mem;
	size_t room;		  /* of all */
	struct rule_index *index; /* NULL: not sealed */
};

struct rules *rules_new(struct arena *mem); /* NULL: out of memory */

/* Adds the rules of one text; origin names it in messages.  0, E_NO_MEMORY, or E_SYNTAX with
 * the reasons in *errors; then no rule of this text was added. */
int rules_add(struct rules *rules, struct slice text, const char *origin,
	      struct rule_errors *errors);

/* The same; kept: only what Sonde may keep by itself (kept.h). */
int rules_add_as(struct rules *rules, struct slice text, const char *origin, bool kept,
		 struct rule_errors *errors);

/* Looks up what rules name of each other, and makes the set ready for matching.  Same codes;
 * a set that could not be sealed is of no use. */
int rules_seal(struct rules *rules, struct rule_errors *errors);

int rules_parse(struct arena *mem, struct slice text, const char *origin, struct rules **out,
		struct rule_errors *errors);

#endif
