/* SPDX-License-Identifier: Apache-2.0 */
/* test_check.h - methods written as text, for the tests of the checker.
 *
 * A method is words: "iload_0 ifeq ~4 getstatic @T.o return".  The name of an instruction stands
 * for its opcode, @name for the two bytes of a constant's index (see test_check_text.c for the
 * names), !name for the one byte of ldc, =n for one byte and ~n for two. */
#ifndef TESTS_UNIT_TEST_CHECK_H
#define TESTS_UNIT_TEST_CHECK_H

#include "classes.h"

struct text_code {
	uint16_t major;		 /* 0: 52 */
	const char *name, *desc; /* NULL: "f", "()V" */
	bool instance;		 /* else static, unless it is <init> */
	const char *code;
	uint16_t max_stack, max_locals; /* 0 and 0: 6 and 6 */
	const char *handlers;		/* four times two bytes each */
	const char *frames;		/* the StackMapTable: count and frames */
};

/* A class T with this method, elevated.  t must be zero before, and closed by made_close. */
int text_open(struct made_code *t, const struct text_code *method, struct fault *f);

struct check_case {
	const char *label;
	struct text_code method;
	const char *fault; /* part of what is said; NULL: accepted */
};

void check_cases(const struct check_case *cases, size_t n);

/* A handler at offset 4 that has no locals. */
#define CAUGHT_AT_4 "~1 =255 ~4 ~0 ~1 =7 @Throwable"

#endif
