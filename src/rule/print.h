/* SPDX-License-Identifier: Apache-2.0 */
/* print.h - rules as text again, in one form: one line each, clauses in a fixed order.
 *
 * Parsing the printed text gives the same rules, and printing those the same text.  Errors
 * are the buf's (sticky). */
#ifndef RULE_PRINT_H
#define RULE_PRINT_H

#include "rule/rules.h"

void rules_print(const struct rules *rules, struct buf *out);
void rule_print(const struct rule *rule, struct buf *out); /* with a line end */
/* The same without the clauses that do not change woven code: how many calls are timed, what is
 * slow, when the hook leaves. */
void rule_print_weave(const struct rule *rule, struct buf *out);
void rule_target_print(const struct rule_target *t, struct buf *out);
void cond_print(const struct cond *c, struct buf *out);
void value_print(const struct value *v, struct buf *out);
/* In the largest unit that divides it, as a rule has it (10m) or for people (10 min). */
void rule_print_time(uint64_t ns, bool spaced, struct buf *out);

#endif
