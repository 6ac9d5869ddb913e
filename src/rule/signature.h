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

/* The type that stands at the start of a descriptor, behind the '('; .n 0: malformed. */
struct slice signature_first(struct slice d);
void signature_print_first(struct slice type, struct buf *out); /* "int", "a.B[]" */
bool signature_is_primitive(struct slice name);			/* or void */

/* "(int, java.lang.String)"; a malformed descriptor as it is. */
void signature_print(struct slice desc, struct buf *out);

#endif
