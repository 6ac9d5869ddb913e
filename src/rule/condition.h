/* SPDX-License-Identifier: Apache-2.0 */
/* condition.h - a condition over data as a tree; the weaver compiles it to byte code.
 *
 * Nodes live in the arena of their rules and are read-only after parsing.  The tree is at
 * most COND_DEPTH_MAX deep: long chains of `and` and `or` are lists, so it may be walked
 * by recursion. */
#ifndef RULE_CONDITION_H
#define RULE_CONDITION_H

#include "rule/error.h"

enum { COND_DEPTH_MAX = 32, COND_TESTS_MAX = 256, COND_LIST_MAX = 256, COND_STEPS_MAX = 16 };

enum value_kind {
	VALUE_STRING, /* text */
	VALUE_CHAR,   /* number: UTF-16 unit */
	VALUE_INT,    /* number */
	VALUE_LONG,   /* number */
	VALUE_DOUBLE, /* real; text is how it was written */
	VALUE_BOOL,   /* number: 0 or 1 */
	VALUE_NULL,
	VALUE_PATH, /* root and steps */
};

enum value_root {
	ROOT_ARGUMENT, /* number: 1 is the first */
	ROOT_THIS,
	ROOT_RETURN,  /* known at the method's exit only */
	ROOT_CAPTURE, /* text: the name of a captured value */
};

struct value {
	enum value_kind kind;
	enum value_root root;
	struct rule_pos at;
	int64_t number;
	double real;
	struct slice text;
	struct step *steps; /* of a path, in order */
	struct value *next; /* in a list of arguments or of `in` */
};

enum step_kind {
	STEP_FIELD, /* .name; `length` of an array too */
	STEP_CALL,  /* .name(literals) */
	STEP_INDEX, /* [literal]: array, list or map */
};

struct step {
	enum step_kind kind;
	struct rule_pos at;
	struct slice name;
	struct value *args; /* of a call; of an index exactly one */
	bool trusted;	    /* .name!(): called although it may change something */
	struct step *next;
};

enum cond_op {
	COND_AND, /* children: two or more */
	COND_OR,
	COND_NOT,   /* one child */
	COND_TRUTH, /* left alone: a boolean */
	COND_EQ,    /* left and right */
	COND_NE,
	COND_LT,
	COND_LE,
	COND_GT,
	COND_GE,
	COND_CONTAINS,
	COND_STARTS,
	COND_ENDS,
	COND_MATCHES,  /* right: a Java regular expression for the whole text */
	COND_IN,       /* right: a list of literals */
	COND_INSTANCE, /* type */
};

struct cond {
	enum cond_op op;
	struct rule_pos at; /* of the operator; of a truth test, its value */
	struct cond *children;
	struct cond *next; /* sibling */
	struct value *left, *right;
	struct slice type; /* internal form, a/b/C */
};

/* "==", "contains", ...; "" for COND_TRUTH. */
const char *cond_op_text(enum cond_op op);

#endif
