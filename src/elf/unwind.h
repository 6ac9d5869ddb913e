/* SPDX-License-Identifier: Apache-2.0 */
/* unwind.h - how to find the caller's frame at any instruction of a file, as a table.
 *
 * The unwinding programs of .eh_frame are run once, beforehand; what is left is one row for each
 * place where the answer changes.  So a signal handler only has to look up a row: no memory is
 * taken and nothing is interpreted there.  A row says where the frame's upper end is (the CFA: what
 * the stack pointer is after the return), and where the return address and the caller's frame
 * pointer lie, relative to it. */
#ifndef ELF_UNWIND_H
#define ELF_UNWIND_H

#include "base/search.h"
#include "elf/image.h"

enum unwind_cfa {
	UNWIND_UNKNOWN, /* no record, or one that rows cannot express */
	UNWIND_SP,	/* CFA = stack pointer + cfa */
	UNWIND_FP,	/* CFA = frame pointer + cfa */
	UNWIND_PLT, /* x86-64, in a .plt: stack pointer + 8, or + 16 from byte 11 of an entry on */
	UNWIND_END, /* the outermost frame: nobody is returned to */
};

enum {
	UNWIND_SAME = INT16_MIN, /* still in its register */
	UNWIND_UNIT = 8
}; /* bytes: the unit of fp and ra */

struct unwind_row {
	uint32_t at;	/* distance of the first instruction from the table's base */
	uint8_t cfa_by; /* enum unwind_cfa */
	bool is_signal; /* the frame above was interrupted, it made no call */
	int16_t fp;	/* the caller's frame pointer lies at CFA + 8 * fp, or UNWIND_SAME */
	int32_t cfa;
	int16_t ra;	/* likewise the return address; UNWIND_SAME: in the link register */
	bool is_signed; /* aarch64: the return address carries a code that must be cut off */
};

struct unwind {
	struct unwind_row *rows; /* by `at`, without duplicates */
	size_t n;
	uint64_t base;	  /* the file's address that `at` counts from */
	size_t functions; /* records that were read */
	size_t bad;	  /* records that were malformed or beyond 4 GiB */
};

/* 0 or E_NO_MEMORY.  A file without records gives an empty table. */
int unwind_build(struct unwind *u, const struct image *image);
void unwind_release(struct unwind *u);

/* The row for the instruction at base + at; NULL: it lies before the first one.  Safe in signal
 * handlers. */
static inline const struct unwind_row *unwind_find(const struct unwind *u, uint64_t at)
{
	size_t low = SEARCH(u->n, i, u->rows[i].at <= at);

	return low ? &u->rows[low - 1] : NULL;
}

#endif
