/* SPDX-License-Identifier: Apache-2.0 */
/* functions.h - the functions of a program or library file, by address.
 *
 * Taken from .symtab and .dynsym, from a separate file with debugging symbols if the caller has
 * one, from the stubs of the .plt ("memcpy@plt"), and from the records of .eh_frame, which give the
 * bounds of functions that have no name.  Names point into the files' bytes. */
#ifndef ELF_FUNCTIONS_H
#define ELF_FUNCTIONS_H

#include "elf/image.h"

struct function {
	uint64_t addr, size;
	struct slice name; /* empty: it has none */
	uint8_t rank;	   /* which of several names at one address is the better one */
	bool is_plt;	   /* a stub that leads to the function of that name */
	bool is_label;	   /* of a symbol that does not say that it is a function */
	bool is_chooser;   /* STT_GNU_IFUNC: gives the address of the function, is not it */
};

struct functions {
	struct function *f; /* by address; of several names for one the best comes first */
	size_t n, cap;
};

/* All functions of the image; `debug` (NULL: none) is the file with its debugging symbols.  0 or
 * E_NO_MEMORY. */
int functions_build(struct functions *t, const struct image *image, const struct image *debug);
void functions_release(struct functions *t);

/* The function that this address belongs to, or NULL. */
const struct function *functions_find(const struct functions *t, uint64_t addr);

/* The function of this name with the best rank, or NULL; stubs do not count. */
const struct function *functions_named(const struct functions *t, struct slice name);

#endif
