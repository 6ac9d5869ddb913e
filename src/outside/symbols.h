/* SPDX-License-Identifier: Apache-2.0 */
/* symbols.h - names of functions in the files that another process has mapped.
 *
 * Files are read where that process sees them (/proc/PID/root), once each; debugging symbols come from
 * the file that .gnu_debuglink or the build id names, where it is installed.  C++ names are shown
 * as written when this machine has a C++ library to read them with. */
#ifndef OUTSIDE_SYMBOLS_H
#define OUTSIDE_SYMBOLS_H

#include <sys/types.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/map.h"

struct symbols {
	pid_t pid;
	struct arena mem;
	struct map files;
	bool raw;    /* C++ names stay as symbols have them, as rules do */
	size_t left; /* bytes of files that may still be read */
};

void symbols_init(struct symbols *s, pid_t pid);
void symbols_release(struct symbols *s);

/* Appends the function's name at an address of the file, "libc.so.6+0x1234" where it has none. */
void symbols_put(struct symbols *s, struct slice path, uint64_t address, struct buf *out);

/* Where the function of a name begins in the file; false: there is none. */
bool symbols_find(struct symbols *s, struct slice path, struct slice name, uint64_t *address);

#endif
