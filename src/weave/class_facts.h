/* SPDX-License-Identifier: Apache-2.0 */
/* class_facts.h - what rules want to know, taken out of a class file. */
#ifndef WEAVE_CLASS_FACTS_H
#define WEAVE_CLASS_FACTS_H

#include "classfile/class.h"
#include "rule/facts.h"

/* Slices point into the class, arrays live in mem.  resolver and lineage are left as they are.
 * E_NO_MEMORY or E_ATTRIBUTE (malformed annotations). */
int class_facts_of_class(const struct class *cls, struct arena *mem, struct rule_class *out);
int class_facts_of_method(const struct class *cls, const struct member *m, struct arena *mem,
			  struct rule_method *out);

#endif
