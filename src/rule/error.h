/* SPDX-License-Identifier: Apache-2.0 */
/* error.h - what is wrong with a rule text, and where: for people.
 *
 * A list keeps the first RULE_ERRORS_MAX errors and counts the rest.  An error holds copies
 * of all it shows, so it outlives the text and can be sent elsewhere.  All zero is an
 * empty list. */
#ifndef RULE_ERROR_H
#define RULE_ERROR_H

#include "base/buf.h"

enum { RULE_ERRORS_MAX = 20 };

struct rule_pos {
	uint32_t line, column; /* both from 1; columns count characters, a tab is one */
};

struct rule_source {
	const char *origin; /* a file's name, or "command line" */
	struct slice text;
};

struct rule_error {
	int line, column;
	int caret;	  /* characters of `source` before the column */
	char origin[80];  /* its end, when it is longer */
	char text[200];	  /* "unknown word 'tmied'" */
	char hint[128];	  /* "did you mean 'timed'?", or "" */
	char source[104]; /* the line, or the part of it around the column */
};

struct rule_errors {
	size_t n, more; /* kept; found beyond those */
	struct rule_error list[RULE_ERRORS_MAX];
};

/* Adds one; hint may be NULL.  Returns E_SYNTAX, so that callers can return it. */
int rule_error_add(struct rule_errors *errors, const struct rule_source *source, struct rule_pos at,
		   const char *hint, const char *fmt, ...)
	__attribute__((format(printf, 5, 6), cold));

/* "file:3:14: unknown word 'tmied', did you mean 'timed'?", the line, and a caret. */
void rule_error_print(const struct rule_error *e, struct buf *out);
void rule_errors_print(const struct rule_errors *errors, struct buf *out);

#endif
