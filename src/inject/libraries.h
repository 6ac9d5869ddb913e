/* SPDX-License-Identifier: Apache-2.0 */
/* libraries.h - what another process has mapped: its program and libraries, read from the files that it
 * has mapped itself, whatever lies at their paths by now.
 *
 * Function names are read only where they count: of libc, and of whoever else hands out memory. */
#ifndef INJECT_LIBRARIES_H
#define INJECT_LIBRARIES_H

#include <sys/types.h>

#include "base/buf.h"
#include "elf/functions.h"
#include "sample/modules.h"

enum library_role {
	LIBRARY_OTHER,
	LIBRARY_LIBC,	/* with libpthread and libdl, which were libraries of their own once */
	LIBRARY_LOADER, /* the dynamic linker */
	LIBRARY_MEMORY, /* has a malloc of its own */
};

struct library_file {
	char *path;
	uint64_t inode;
	uint64_t lo, hi; /* from its first to its last mapping */
	uint64_t bias;	 /* what is added to the file's addresses */
	enum library_role role;
	struct buf bytes;
	struct image image;	/* of nothing when it could not be read */
	struct functions names; /* of those whose role is not LIBRARY_OTHER */
};

struct libraries {
	pid_t pid;
	int mem; /* borrowed */
	struct buf maps;
	struct library_file *all;
	size_t n, cap;
	struct modules modules;
};

/* E_NOT_FOUND, E_IO, E_NO_MEMORY.  Give it back in any case. */
int libraries_read(struct libraries *l, pid_t pid, int mem, struct fault *f);
void libraries_release(struct libraries *l);

/* Adds what has been mapped meanwhile; walks over stacks (modules) do not know of it yet. */
int libraries_update(struct libraries *l, struct fault *f);

/* Has anything with code been mapped or unmapped since? */
bool libraries_changed(const struct libraries *l);

/* NULL: in none. */
const struct library_file *libraries_at(const struct libraries *l, uint64_t address);

/* Where an exported function or variable is in the process; 0: it has none of that name. */
uint64_t libraries_symbol(const struct library_file *f, const char *name);

/* Where these bytes stand in code of that file; 0: nowhere. */
uint64_t libraries_code(const struct library_file *f, struct slice bytes);

#endif
