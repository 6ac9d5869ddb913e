/* SPDX-License-Identifier: Apache-2.0 */
/* fit.h - which category of template fits a method.
 *
 * What can be known of a class as a whole (its ancestors, its annotations, which telling methods
 * its constant pool names) is found out once, by fit_init; after that a method costs little.  The
 * result depends on nothing but the class and the names of its ancestors. */
#ifndef WEAVE_FIT_H
#define WEAVE_FIT_H

#include "classfile/class.h"
#include "rule/facts.h"

struct fit {
	const struct class *cls; /* NULL: not initialised */
	uint64_t heads;		 /* private: how to pass over most types quickly */
	bool *holds;		 /* [rows of fit.def] does the row's type hold for the class? */
	uint8_t *calls;		 /* [pool.read] 1 + the row of fit.def that a method there meets */
	bool any_calls;
};

/* Everything lives in mem; nothing is to be released.  E_NO_MEMORY. */
int fit_init(struct fit *f, const struct rule_class *facts, const struct class *cls,
	     struct arena *mem);

/* One of rule_templates, or NULL: none in particular.  m is the method that `facts` are of. */
const char *fit_category(const struct fit *f, const struct member *m,
			 const struct rule_method *facts);

/* The types of fit.def that a class is of by ancestors which its own file does not name.  A class
 * woven without knowing them is woven as it should be unless one of its methods meets one. */
enum { FIT_ROWS_MAX = 255 };
struct fit_gain {
	bool any;
	bool rows[FIT_ROWS_MAX]; /* private */
};
void fit_gain(struct fit_gain *g, const struct rule_lineage *all, const struct rule_lineage *own);
bool fit_gain_meets(const struct fit_gain *g, struct slice name, struct slice desc);

#endif
