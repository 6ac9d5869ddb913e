/* SPDX-License-Identifier: Apache-2.0 */
/* weave_hint.h - questions about single methods of a set: which are meant, and if none, why. */
#ifndef CLI_CLASSTOOLS_WEAVE_HINT_H
#define CLI_CLASSTOOLS_WEAVE_HINT_H

#include "classfile/class.h"
#include "cli/classtools/weave_set.h"
#include "rule/rules.h"

/* What was seen while looking for the methods of a target. */
struct hint {
	uint64_t classes, methods;    /* looked at */
	uint64_t named_classes;	      /* of the right name */
	uint64_t named, right_params; /* methods in them of the right name; and parameters */
	uint64_t hits;
	const struct kin *kin; /* the test that failed for the one nearest to a hit, or NULL */
	struct slice near_class, near_method;
	struct slice others[6]; /* methods of other names, or "name(params)" with others */
	size_t n_others;
};

/* A method that is meant, and its class, which lives until the call returns. */
struct hint_found {
	const struct set_class *src;
	struct class *cls;
	struct member *method;
	const struct rule_class *class_facts;
	const struct rule_method *facts;
};

/* Looks through the set.  on_hit, if not NULL, is called for each method meant; negative ends the
 * search.  mem is for what the hint holds. */
typedef int hint_hit(void *ctx, const struct hint_found *found);
int hint_search(const struct weave_set *set, const struct rule_target *t, struct arena *mem,
		struct hint *out, hint_hit *on_hit, void *ctx);

/* "looked at 3 classes with 20 methods: no class is named ..."; without a line end. */
void hint_print(const struct hint *h, const struct rule_target *t, struct buf *out);

/* An internal class name with dots; no control character gets through. */
void hint_print_class(struct slice name, struct buf *out);

#endif
