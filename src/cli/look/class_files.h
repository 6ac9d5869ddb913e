/* SPDX-License-Identifier: Apache-2.0 */
/* class_files.h - the class file of a class, and those of the classes that are written in the same
 * source file: a/b/C and a/b/C$D for a/b/C$D.
 *
 * All names come from the program: paths are those of its own file system, and inside_enter() should
 * have been called. */
#ifndef CLI_LOOK_CLASS_FILES_H
#define CLI_LOOK_CLASS_FILES_H

#include "base/arena.h"
#include "jvm/inside.h"

enum { CLASS_FILES_MAX = 2048, CLASS_FILES_BYTES = 64 << 20 };

struct class_file {
	const char *name; /* a/b/C */
	struct slice bytes;
};

struct class_files {
	struct arena mem;
	struct class_file *files;
	size_t n, total;
};

void class_files_init(struct class_files *f);
void class_files_release(struct class_files *f);

/* Copies both.  false: too much, or a name that is no path below a directory. */
bool class_files_add(struct class_files *f, const char *name, struct slice bytes);

/* place: the jar or directory that the class was loaded from.  Adds what it finds there. */
void class_files_read(struct class_files *f, const struct inside *in, const char *place,
		      const char *class);

const struct class_file *class_files_get(const struct class_files *f,
					 const char *name); /* or NULL */

#endif
