/* SPDX-License-Identifier: Apache-2.0 */
/* objects.h - the program and the libraries of this process, with their functions.
 *
 * What is read belongs to the process as it is now; after a dlopen or dlclose it is read anew.  The
 * agent's thread alone. */
#ifndef NATIVE_OBJECTS_H
#define NATIVE_OBJECTS_H

#include "base/buf.h"
#include "elf/functions.h"
#include "elf/unwind.h"

struct object {
	char *path, *name;    /* name: the file's, without directories */
	uintptr_t bias;	      /* what is added to the file's addresses */
	uintptr_t low, high;  /* of its code */
	bool is_program;      /* not a library */
	const char *why;      /* why nothing of it is hooked; NULL: it may be */
	const void *segments; /* as they are in memory; n of them */
	unsigned n_segments;
	/* from object_open on */
	void *pin;	   /* keeps the library from being unloaded */
	struct slice file; /* a copy: one that is mapped faults when somebody cuts it off */
	struct image image;
	struct functions functions;
	struct unwind unwind;
	bool opened;
};

struct objects {
	struct object *all;
	size_t n, cap;
};

/* 0 or E_NO_MEMORY. */
int objects_read(struct objects *m);
void objects_release(struct objects *m);

/* Reads the functions of a module, once.  0, or why not: E_IO, E_NO_MEMORY, E_UNSUPPORTED ... */
int object_open(struct object *m);

/* Is it known that calls do not come in here: a part of a function that compilers put elsewhere? */
bool object_is_inner(const struct object *m, const struct function *f);

/* Does all of it lie in the module's code, as its symbol says?  Before its bytes are read. */
bool object_holds(const struct object *m, const struct function *f);

/* The module that has this address in its code; NULL: none has. */
struct object *objects_at(const struct objects *m, uintptr_t addr);

/* Appends "libz.so.1.deflate+0x10", or as much of it as is known. */
void objects_name(const struct objects *m, uintptr_t addr, struct buf *out);

#endif
