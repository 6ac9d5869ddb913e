/* SPDX-License-Identifier: Apache-2.0 */
/* callers.h - tells the probe in which sequences of callers a method is reported.
 *
 * A step of a sequence has a number that stays the same for as long as its rule is in force, so
 * rules may come and go without others being sent again.  Where a step names one method and that
 * cannot be woven, the rule's calls are compared with the Java stack instead, one by one. */
#ifndef AGENT_NATIVES_CALLERS_H
#define AGENT_NATIVES_CALLERS_H

#include "agent/classes/rulebook.h"
#include "agent/classes/woven.h"

/* How a woven method is observed from now on: under the rule that hooks it (or NULL), as these
 * steps of sequences. */
struct context_how {
	const struct edition *edition;
	const struct rule *rule;
	const struct rule_anchor *anchors;
	size_t n_anchors;
};

/* agent.lock is held. */
void callers_set(struct hooked *h, const struct context_how *how);
/* A method that is one of the rule's steps could not be woven; agent.lock is held. */
void callers_unplaced(const struct edition *e, const struct rule_anchor *a);

/* None of the class's methods can be woven.  Takes the lock. */
void callers_unplaced_class(const struct edition *e, const struct rule_class *facts);

/* Is the rule decided by looking at the stack?  Takes the lock. */
bool callers_is_by_stack(uint32_t rule);

#endif
