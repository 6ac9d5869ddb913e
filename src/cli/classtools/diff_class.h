/* SPDX-License-Identifier: Apache-2.0 */
/* diff_class.h - what differs between two versions of a class, as people read it.
 *
 * Everything is compared as text (show.h), so that the order of the constant pool plays no part;
 * places in code are compared by the instructions that both versions have in common. */
#ifndef CLI_CLASSTOOLS_DIFF_CLASS_H
#define CLI_CLASSTOOLS_DIFF_CLASS_H

#include "classfile/class.h"

struct diff_sink {
	void *ctx;
	/* A part of the class ("method run()V") follows whose lines differ. */
	void (*part)(void *ctx, struct slice name);
	/* mark: ' ' in both, '-' in the first only, '+' in the second only, '.' lines left out */
	void (*line)(void *ctx, char mark, struct slice text);
};

/* Returns the number of parts that differ, or an error.  mem is for this call. */
int diff_class(struct class *a, struct class *b, struct arena *mem, const struct diff_sink *sink);

#endif
