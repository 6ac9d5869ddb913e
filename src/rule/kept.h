/* SPDX-License-Identifier: Apache-2.0 */
/* kept.h - rules that Sonde itself has written down and will use without anybody reading them.
 *
 * They may only look: hooks, in contexts and under conditions.  A template out of a file would be
 * code that runs in the program, and a call with `!` may change something; who wants that writes a
 * rule file.  Both are refused, and so is everything but a hook. */
#ifndef RULE_KEPT_H
#define RULE_KEPT_H

#include "rule/rules.h"

/* As rules_add, but for that. */
int kept_add(struct rules *rules, struct slice text, const char *origin,
	     struct rule_errors *errors);

/* Is it so many rules, each in a line of its own, that may be kept? */
bool kept_is_good(struct slice text, size_t rules);

#endif
