/* SPDX-License-Identifier: Apache-2.0 */
/* source_text.h - the source of a class, where somebody has put it: beside its jar or class files, or
 * in ~/.m2.  Nothing is fetched.
 *
 * All names come from the program.  So paths are those of its own file system, plain files alone are
 * opened, and inside_enter() should have been called. */
#ifndef CLI_LOOK_SOURCE_TEXT_H
#define CLI_LOOK_SOURCE_TEXT_H

#include "base/buf.h"
#include "jvm/inside.h"

/* A plain file there, to read; -1: there is none. */
int source_text_open(const struct inside *in, const char *path);

/* class: a/b/C; file: as the class file has it, C.java; place: the jar or directory that it was loaded
 * from.  The text, and where it was found in `where`; false: nowhere. */
bool source_text_find(const struct inside *in, const char *place, const char *class,
		      const char *file, struct buf *text, struct buf *where);

/* Lines first to last, with their numbers and some before them. */
void source_text_lines(struct slice text, unsigned first, unsigned last, struct buf *out);

#endif
