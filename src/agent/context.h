/* SPDX-License-Identifier: Apache-2.0 */
/* context.h - tells the probe in which sequences of callers a method is reported.
 *
 * A step of a sequence has a number that stays the same for as long as its rule is in force, so
 * rules may come and go without others being told anew.  Where a step names one method and that
 * cannot be woven, the rule's calls are compared with the Java stack instead, one by one. */
#ifndef AGENT_CONTEXT_H
#define AGENT_CONTEXT_H

#include "agent/instrument.h"

/* agent.lock is held. */
void context_set(struct hooked *h, const struct instrument_how *how);
/* A method that is one of the rule's steps could not be woven; agent.lock is held. */
void context_unplaced(const struct edition *e, const struct rule_anchor *a);

/* None of the class's methods can be woven.  Takes the lock. */
void context_unplaced_class(const struct edition *e, const struct rule_class *facts);

/* Is the rule decided by looking at the stack?  Takes the lock. */
bool context_is_by_stack(uint32_t rule);

#endif
