/* SPDX-License-Identifier: Apache-2.0 */
/* pad.h - edits that change every offset of a method and nothing of what it does. */
#ifndef CLI_CLASSTOOLS_PAD_H
#define CLI_CLASSTOOLS_PAD_H

#include "classfile/code.h"

/* A nop before every n-th instruction, in turn behind and before the labels there.  Returns how
 * many, or an error. */
int pad_every(struct code *code, unsigned n);

/* So many nops at one place that every branch across it has to become long.  The place is the one
 * that most branches cross.  Returns how many do; 0: there is none, nothing was done. */
int pad_far(struct code *code);

#endif
