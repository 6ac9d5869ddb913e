/* SPDX-License-Identifier: Apache-2.0 */
/* listed.h - functions that a text lists: a program's perf-PID.map of the code it has generated, or the
 * kernel's /proc/kallsyms.
 *
 *	listed_add_map or listed_add_kernel, listed_sort, listed_find ...
 *
 * Names point into the text.  Of several functions at one address the last one in the text counts: code is
 * generated where other code was. */
#ifndef OUTSIDE_LISTED_H
#define OUTSIDE_LISTED_H

#include "base/buf.h"

struct listed_function {
	uint64_t start, size;
	struct slice name;
	uint32_t order;
};

struct listed {
	struct listed_function *f;
	size_t n, cap;
	uint64_t widest; /* of their sizes */
};

/* Lines that are none are passed over.  False: out of memory. */
bool listed_add_map(struct listed *l, struct slice text);    /* "START SIZE NAME", in hex */
bool listed_add_kernel(struct listed *l, struct slice text); /* "ADDRESS T NAME [MODULE]" */
void listed_sort(struct listed *l);
void listed_release(struct listed *l);

/* NULL: none. */
const struct listed_function *listed_find(const struct listed *l, uint64_t address);

#endif
