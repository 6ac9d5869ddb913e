/* SPDX-License-Identifier: Apache-2.0 */
/* fde.h - the records of .eh_frame: which code each is about, and its unwinding program.
 *
 * A compiler writes one record (FDE) for each function, so they give the bounds of functions even
 * in files without symbols.  What they share stands in a CIE.  Format: LSB, "Exception Frames". */
#ifndef ELF_FDE_H
#define ELF_FDE_H

#include "elf/image.h"

struct fde {
	uint64_t start, end; /* addresses of the code, end is not part of it */
	uint64_t code_align; /* factors of the unwinding program's numbers */
	int64_t data_align;
	uint64_t return_column; /* number of the register with the return address */
	bool is_signal;		/* a frame that a signal handler returns to */
	struct slice initial;	/* program of the CIE, then that of the FDE */
	struct slice program;
};

typedef bool fde_visit(const struct fde *fde, void *ctx); /* false stops */

/* Calls visit for each FDE, in the order of the file.  Gives how many records were malformed and
 * passed over; 0 also when there is no .eh_frame. */
size_t fde_each(const struct image *image, fde_visit *visit, void *ctx);

#endif
