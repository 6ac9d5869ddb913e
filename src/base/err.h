/* SPDX-License-Identifier: Apache-2.0 */
/* err.h - the one list of error codes, and the place where one happened.
 *
 * A fallible function returns `int`: >= 0 is good, < 0 is one of the E_* codes.
 * Where a person will want to know more, the function also takes a struct fault,
 * fills it once, where the cause is known, and it is not overwritten on the way up. */
#ifndef BASE_ERR_H
#define BASE_ERR_H

#include <stdbool.h>
#include <stddef.h>

enum { ERR_FLOOR = -100 };

enum err_order {
#define X(code, section, text) ORDER_##code,
#include "base/errors.def"
#undef X
	ERR_COUNT
};

enum {
#define X(code, section, text) code = ERR_FLOOR - ORDER_##code,
#include "base/errors.def"
#undef X
};

struct fault {
	int code;	/* E_*, or 0 when nothing happened yet */
	long at;	/* byte offset in the input, -1 when there is none */
	char text[200]; /* one sentence that names the thing, never empty after fault_set */
};

const char *err_text(int code);	   /* "class file ends too early"; never NULL */
const char *err_section(int code); /* "4.9.1" of the JVM specification, or "" */
const char *err_name(int code);	   /* "E_TRUNCATED" */

/* Keeps the first fault.  f may be NULL.  Returns code, so that callers can return it. */
int fault_set(struct fault *f, int code, long at, const char *fmt, ...)
	__attribute__((format(printf, 4, 5), cold));
int fault_no_memory(struct fault *f) __attribute__((cold)); /* E_NO_MEMORY */

#endif
