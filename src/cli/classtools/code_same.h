/* SPDX-License-Identifier: Apache-2.0 */
/* code_same.h - do two lists of instructions mean the same?
 *
 * Both come fresh out of code_elevate (insn.pc is used as scratch), and the pool of one begins
 * with that of the other, so that indices can be compared as they are. */
#ifndef CLI_CLASSTOOLS_CODE_SAME_H
#define CLI_CLASSTOOLS_CODE_SAME_H

#include "classfile/code.h"

enum { CODE_SAME_TEXT = 120 };

enum code_same_mode {
	CODE_EXACT,
	/* b may have nops that a has not, and long branches (an inverted one around a goto_w, with
	 * a frame behind it) in place of short ones. */
	CODE_PADDED,
};

/* NULL: the same.  Else what differs first, in words, in `text`. */
const char *code_same(struct code *a, struct code *b, enum code_same_mode mode,
		      char text[CODE_SAME_TEXT]);

#endif
