/* SPDX-License-Identifier: Apache-2.0 */
/* signature.h - parameter lists and return types of rules, against method descriptors.
 *
 * Types are written as in Java source, type arguments left out.  A class without a package
 * (`String`) means every class of that simple name; `*` means any one type.  Descriptors
 * may be malformed: those match nothing. */
#ifndef RULE_SIGNATURE_H
#define RULE_SIGNATURE_H

#include "base/buf.h"
#include "rule/pattern.h"

enum { PARAMS_MAX = 255 }; /* JVMS 4.3.3 */

struct type_pattern {
	char base;	     /* 'I' and so on as in descriptors, 'L' a class, '*' any type */
	bool simple;	     /* name has no package: compared with the last segment */
	uint8_t dims;	     /* of an array */
	struct pattern name; /* with base 'L' */
};

struct params {
	bool given; /* false: any list will do */
	bool open;  /* ends with `..`: any more may follow */
	size_t n;
	struct type_pattern *types;
};

int signature_compile_type(struct arena *mem, struct slice text, struct type_pattern *out,
			   struct pattern_trouble *trouble);
bool signature_match_type(const struct type_pattern *t, struct slice desc);
void signature_print_type(const struct type_pattern *t, struct buf *out);

bool signature_match(const struct params *p, struct slice desc); /* of a whole method */
struct slice signature_returns(struct slice desc);		 /* .n 0: malformed */

/* "(int, java.lang.String)"; a malformed descriptor as it is. */
void signature_print(struct slice desc, struct buf *out);

/* A class's internal name with dots. */
void signature_print_class(struct slice name, struct buf *out);

#endif
