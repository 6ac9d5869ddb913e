/* SPDX-License-Identifier: Apache-2.0 */
/* modules.h - the ELF files that a process has mapped, with their rules for unwinding.
 *
 * Made of /proc/PID/maps; a list is never changed once it is made, so signal handlers may read it.
 * Which function an address belongs to is not kept: who prints names reads the file again. */
#ifndef SAMPLE_MODULES_H
#define SAMPLE_MODULES_H

#include "base/arena.h"
#include "elf/unwind.h"

struct module_rules { /* of a file; several lists share them */
	unsigned users;
	struct unwind unwind; /* empty: could not be read, or says nothing */
};

struct module_file { /* one file, mapped in one or several pieces */
	char *path;
	uint64_t inode;
	struct module_rules *rules;
};

struct module { /* one piece of a file with code in it */
	uint64_t lo, hi;
	uint64_t bias; /* to take from an address, to have that of the file */
	const struct module_file *file;
};

struct modules {
	struct arena mem;
	struct module *m; /* by address */
	size_t n;
	struct module_file **files;
	size_t n_files;
};

struct mapping { /* one line of /proc/PID/maps */
	uint64_t lo, hi, offset, inode;
	bool executable;
	struct slice path;
};
bool modules_next_mapping(struct slice *maps, struct mapping *out);

/* Where the bytes of a mapped file come from; false: not to be had. */
struct modules_source {
	bool (*fetch)(void *ctx, const struct mapping *map, struct slice *file);
	void (*drop)(void *ctx, struct slice file);
	void *ctx;
};

/* 0 or E_NO_MEMORY.  Rules that `before` has (it may be NULL) are shared with it. */
int modules_build(struct modules *m, struct slice maps, const struct modules_source *source,
		  const struct modules *before);
void modules_release(struct modules *m);

/* Was anything mapped or unmapped that has code?  A cheap look at the same text. */
uint64_t modules_digest(struct slice maps);

/* NULL: the address is in none.  Safe in signal handlers. */
const struct module *modules_find(const struct modules *m, uint64_t address);

#endif
