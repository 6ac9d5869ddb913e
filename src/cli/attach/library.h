/* SPDX-License-Identifier: Apache-2.0 */
/* library.h - libsonde.so: where it is, and how a JVM in another file system gets to it.
 *
 * A JVM loads it by a path.  Where that path is the same file for the JVM and its user may read it,
 * nothing is done.  Otherwise (a container, a private directory, a noexec mount) the library is
 * copied, with the rights of the JVM's user, to the first of /tmp, /var/tmp and /dev/shm in the
 * JVM's file system that takes it: DIR/.sonde-UID/libsonde-HASH.so. */
#ifndef CLI_ATTACH_LIBRARY_H
#define CLI_ATTACH_LIBRARY_H

#include <limits.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "jvm/elf_look.h"
#include "jvm/inside.h"

struct library {
	char path[PATH_MAX]; /* without links */
	struct stat st;
	struct buf bytes;
	uint64_t hash; /* of its bytes */
	struct elf_look elf;
	bool musl; /* made for musl, not for glibc */
};

struct library_place {
	char path[PATH_MAX]; /* as the JVM sees it */
	bool copied;	     /* it is a copy */
	bool there;	     /* the copy was there before */
	int held;	     /* keeps others from removing it, until library_loaded(); or -1 */
	char why[400];	     /* why a copy, or why there is no place at all */
};

/* Only root, ourselves and whose program we are can change the file? */
bool library_is_safe(const struct stat *st);

/* Beside our own program, or ../lib/sonde/ from there; LIBRARY_JVM also where SONDE_LIB says.
 * E_NOT_FOUND, or E_UNSUPPORTED: it is not safe. */
#define LIBRARY_JVM "libsonde.so"
int library_open(struct library *lib, const char *name, struct fault *f);
void library_close(struct library *lib); /* also one that could not be opened */

/* Finds the place; with `make`, copies if need be.  E_IO: there is none; place->why says why. */
int library_place(const struct library *lib, struct inside *in, bool make,
		  struct library_place *place);

void library_loaded(struct library_place *place); /* or will not be */

/* Removes the copies of that user from the JVM's file system, unless somebody is about to load one,
 * who will then remove it in the end.  Returns how many there were.  Files that are mapped stay
 * usable for those who have them mapped. */
int library_remove(struct inside *in);

#endif
