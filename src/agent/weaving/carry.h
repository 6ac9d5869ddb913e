/* SPDX-License-Identifier: Apache-2.0 */
/* carry.h - captured values go along to other threads while some condition reads one, and sequences
 * of callers while some rule says `across threads`.
 *
 * The rules that do that (handover.h) are put into the rulebook, and taken out again, as other rules
 * come and go; people are not shown them.  A trace brings the same rules along: then they are there
 * once.  The agent's thread, and the one that starts the VM. */
#ifndef AGENT_WEAVING_CARRY_H
#define AGENT_WEAVING_CARRY_H

#include <jni.h>

#include "agent/classes/rulebook.h"

bool carry_is_inner(const struct rule_entry *e); /* a rule of ours, not of people's */
bool carry_is_there(void);			 /* the rules are in force, whoever wanted them */
bool carry_is_wanted(void);			 /* some rule needs them */

void carry_keep(bool keep); /* the rules stay, though none needs them: somebody traces */

size_t carry_rules(void); /* so many of the rulebook are ours */

/* After rules have come or gone, before classes are surveyed: changes the rulebook to what is
 * wanted. */
void carry_follow(JNIEnv *jni);

#endif
