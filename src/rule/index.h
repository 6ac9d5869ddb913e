/* SPDX-License-Identifier: Apache-2.0 */
/* index.h - finds the few rules of a set that could be about a class, by its name.
 *
 * Every target of every rule is filed under the fixed beginning of its class pattern.  A
 * walk visits all targets whose class pattern could match the name, in no useful order,
 * each once, plus some that do not match. */
#ifndef RULE_INDEX_H
#define RULE_INDEX_H

#include "rule/rules.h"

enum index_role { ROLE_HOOK, ROLE_SKIP, ROLE_CAPTURE, ROLE_PLACE, ROLE_ANCHOR };

struct rule_index_entry {
	const struct rule *rule;
	const struct rule_target *target;
	enum index_role role;
	uint16_t context, step; /* of ROLE_ANCHOR: which step of which sequence */
	struct rule_index_entry *next;
};

int rule_index_build(struct rules *rules); /* sets rules->index; 0 or E_NO_MEMORY */

struct rule_index_walk {
	struct rule_index *index;
	struct slice name;
	size_t length; /* of the beginning to look up next */
	bool done;
	const struct rule_index_entry *at;
};

struct rule_index_walk rule_index_walk(const struct rules *rules, struct slice name);
const struct rule_index_entry *rule_index_next(struct rule_index_walk *w); /* NULL: no more */

#endif
