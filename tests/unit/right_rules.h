/* SPDX-License-Identifier: Apache-2.0 */
/* right_rules.h - rules for tests, which must be right. */
#ifndef TESTS_UNIT_RIGHT_RULES_H
#define TESTS_UNIT_RIGHT_RULES_H

#include "rule/rules.h"

/* The caller releases *mem; NULL after a failed check. */
struct rules *right_rules(struct arena *mem, const char *text);

#endif
