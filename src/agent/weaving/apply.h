/* SPDX-License-Identifier: Apache-2.0 */
/* apply.h - how a woven method is observed: what the rules in force want of it, set in the probe.
 *
 * Nothing here changes code.  A hook stays where it is, and other rules use it as far as it can. */
#ifndef AGENT_WEAVING_APPLY_H
#define AGENT_WEAVING_APPLY_H

#include <jni.h>

#include "agent/classes/woven.h"
#include "agent/natives/callers.h"

/* What the rule (NULL: a step of others' sequences) wants in the method.  All rules that want the
 * same, but for CODE_OWN, have the same hook, which knows neither rule nor context. */
enum apply_code {
	CODE_OWN,	/* its own: a condition, a capture, another template */
	CODE_PLAIN,	/* the hook of level timed */
	CODE_ARGUMENTS, /* ... that can tell arguments */
	CODE_FULL,	/* ... that can tell everything of any method */
	CODE_KIND,	/* ... or, if it is of a kind, what such methods have to tell */
};
/* whole: in a class of which all methods are woven, where level light has the hook of level
 * timed, too, and level full one that serves all. */
enum apply_code apply_code(const struct rule *rule, bool whole);
bool apply_serves(enum apply_code has, enum apply_code wanted);

/* How a woven method is observed from now on: under the rule that hooks it (or NULL), as these
 * steps of sequences.  agent.lock is held. */
void apply_set(struct hooked *h, const struct context_how *how);
void apply_open(struct hooked *h, const struct context_how *how); /* ... which it was not */

/* Tells the JVM what the calling thread has opened and closed under agent.lock, which must not be
 * held any more.  Until then nothing of it is in force. */
void apply_tell(JNIEnv *jni);

const struct cond *apply_condition(const struct rule *rule); /* or NULL */

#endif
