/* SPDX-License-Identifier: Apache-2.0 */
/* rules_explain.h - says in sentences why a method is or is not hooked. */
#ifndef RULE_RULES_EXPLAIN_H
#define RULE_RULES_EXPLAIN_H

#include "rule/rules.h"

/* First the answer and the rule that decides; then every rule, whether it applies, and if not
 * which of its tests fails; then where the class is woven.  numbers: what rules are called in a
 * program, "#7", by their index; NULL: by position.  Errors are the buf's (sticky). */
void rules_explain(const struct rules *rules, const uint32_t *numbers, const struct rule_class *cls,
		   const struct rule_method *method, struct buf *out);

#endif
