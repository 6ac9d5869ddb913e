/* SPDX-License-Identifier: Apache-2.0 */
/* closable.h - which hooks can be closed for a while without harm to any but their own figures. */
#ifndef AGENT_CLASSES_CLOSABLE_H
#define AGENT_CLASSES_CLOSABLE_H

#include "agent/classes/rulebook.h"
#include "agent/classes/woven.h"

/* Not those that a client waits for, that others are inside of, or that leave by what they see.  e: of
 * the rule that decides, or NULL. */
bool closable_now(const struct hooked *h, const struct rule_entry *e);

#endif
