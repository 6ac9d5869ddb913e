/* SPDX-License-Identifier: Apache-2.0 */
/* native_rule.h - rules for functions of native libraries: `libz.so.1::deflate* timed`.
 *
 * In a native process all rules are such; of a JVM's, those whose class is named like a library. */
#ifndef RULE_NATIVE_RULE_H
#define RULE_NATIVE_RULE_H

#include "rule/rule.h"

/* "libz.so.1", "libz.so**"; or one word in small letters, as "libz" and "libz**". */
bool native_rule_is_library(struct slice class);

/* Is it about functions of a library? */
bool native_rule_is(const struct rule *r);

/* A native function that the rule of a Java method names as a caller; NULL: none. */
const struct rule_target *native_rule_caller(const struct rule *r);

/* What in it only Java has; NULL: it can be obeyed. */
const char *native_rule_wrong(const struct rule *r);

/* As rule_print and rule_target_print, but that "libz" stands for the library of any version. */
void native_rule_print(const struct rule *r, struct buf *out);
void native_rule_print_target(const struct rule_target *t, struct buf *out);

#endif
