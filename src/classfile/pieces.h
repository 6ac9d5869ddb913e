/* SPDX-License-Identifier: Apache-2.0 */
/* pieces.h - where code has gone, and the tables that speak of it.
 *
 * Lines, variables, type annotations and old stack maps name instructions by the offsets at which
 * they were read.  Stretches of code that have kept together while the list was edited are pieces;
 * most edits leave few.  Only lower.c uses this. */
#ifndef CLASSFILE_PIECES_H
#define CLASSFILE_PIECES_H

#include "classfile/code.h"

struct piece {
	uint32_t start, end; /* old offsets */
	uint32_t pc;	     /* the new offset of start */
};

struct pieces {
	struct arena *mem;
	struct piece *v;
	size_t n, cap;
	bool shuffled; /* not in the order of old offsets: pieces_sort has work to do */
};

/* An instruction that was read lies at n->pc now.  In list order.  false: out of memory. */
bool pieces_add(struct pieces *p, const struct insn *n);
void pieces_sort(struct pieces *p); /* after the last */

/* Writes the attribute with its six bytes of name and length and all offsets made new; the place
 * behind it. */
uint8_t *pieces_write(const struct code *code, const struct pieces *p, const struct attr *a,
		      uint8_t *out);

#endif
