/* SPDX-License-Identifier: Apache-2.0 */
/* builtin.h - the templates that come with Sonde. */
#ifndef WEAVE_BUILTIN_H
#define WEAVE_BUILTIN_H

#include "rule/rule.h"
#include "weave/template.h"

/* One way to weave a method of a category.  A category has several, the most telling first; the
 * first that is for the method and can be merged is taken. */
struct builtin {
	const char *category; /* as in rule_templates, or "light", "timed", "full" */
	const char *method;   /* of the template class */
	const char *methods;  /* those that it is for, see glob.h */
	const uint8_t *start, *end;
};

enum { BUILTIN_MAX = 64 };

extern const struct builtin builtins[];
extern const size_t builtin_count;

#endif
