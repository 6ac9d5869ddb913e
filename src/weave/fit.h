/* SPDX-License-Identifier: Apache-2.0 */
/* fit.h - which category of template fits a method. */
#ifndef WEAVE_FIT_H
#define WEAVE_FIT_H

#include "classfile/class.h"
#include "rule/facts.h"

/* One of rule_templates, or NULL: none in particular.  Looks at the class's ancestors (also those
 * known only by name), at annotations, and at what the method's code calls. */
const char *fit_category(const struct rule_class *facts, const struct class *cls,
			 const struct member *m);

#endif
