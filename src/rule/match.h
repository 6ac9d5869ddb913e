/* SPDX-License-Identifier: Apache-2.0 */
/* match.h - what a sealed set of rules says about a class and its methods.
 *
 * The last rule that applies to a method decides: a hook hooks it, a skip leaves it alone.
 * Nothing is allocated; any number of threads may ask at once, each with its own facts. */
#ifndef RULE_MATCH_H
#define RULE_MATCH_H

#include "rule/rules.h"

/* False: no method of the class can need weaving.  True: look at its methods.  Meant to be
 * asked for every class that is loaded. */
bool rules_class_may_match(const struct rules *rules, const struct rule_class *cls);

/* The hook that decides; NULL: not hooked. */
const struct rule *rules_match_method(const struct rules *rules, const struct rule_class *cls,
				      const struct rule_method *method);

/* For who asks about many methods of one class: what the class itself decides is found out once.
 * Belongs to whoever asks; holds until the facts of the class change. */
enum { RULE_CHOICE_MAX = 32 };
struct rule_choice {
	const struct rules *rules;
	const struct rule_class *cls;
	size_t n;
	bool cut; /* there are more: each method is matched anew */
	struct {
		const struct rule *rule;
		bool sure;    /* the class has all that the rule asks of it */
	} v[RULE_CHOICE_MAX]; /* hooks and skips that may be about methods of the class, last first */
};

void rules_choose(const struct rules *rules, const struct rule_class *cls, struct rule_choice *out);

/* As rules_match_method. */
const struct rule *rules_match_chosen(const struct rule_choice *choice,
				      const struct rule_method *method);

/* A method that must be woven for the sake of other rules: a step in the sequence of a hook
 * (rule->kind RULE_HOOK), or a place where a value is captured (RULE_CAPTURE). */
struct rule_anchor {
	const struct rule *rule;
	uint16_t context, step;
};

/* Writes at most cap of them, in the order of the rules, and gives how many there are.  A
 * skip behind a rule takes its anchors away as well. */
size_t rules_match_anchors(const struct rules *rules, const struct rule_class *cls,
			   const struct rule_method *method, struct rule_anchor *out, size_t cap);

/* Where the class is to be woven; at load when no rule says.  *by is the rule, or NULL; by
 * itself may be NULL. */
enum rule_place rules_match_place(const struct rules *rules, const struct rule_class *cls,
				  const struct rule **by);

/* All hooks, skips and captures that can have a say in how this class is woven, in their order,
 * without those that a later one repeats; how many.  `out` has room for rules->n. */
size_t rules_touching(const struct rules *rules, const struct rule_class *cls,
		      const struct rule **out);

/* The canonical text of all rules that can have a say in how this class is woven, with the
 * templates and captures they name: equal text, equal weaving.  Empty: none. */
void rules_digest_text(const struct rules *rules, const struct rule_class *cls, struct buf *out);

/* The same, with only what changes woven code: without 1/N, slow, for, good and calls, and without
 * rules that a later one repeats but for these.  Equal text: the class need not be woven again. */
void rules_weave_text(const struct rules *rules, const struct rule_class *cls, struct buf *out);

/* The same text, from what rules_touching gave. */
void rules_touching_text(const struct rule *const *touching, size_t n, struct buf *out);

#endif
