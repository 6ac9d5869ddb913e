/* SPDX-License-Identifier: Apache-2.0 */
/* init.h - in which parts of a constructor `this` is an object already.
 *
 * Before this() or super() has returned, nothing may touch `this` and no handler with an ordinary
 * frame may be around the code.  So a constructor is woven only where `this` is initialised. */
#ifndef WEAVE_INIT_H
#define WEAVE_INIT_H

#include "classfile/code.h"

/* Code from `start` (exclusive) up to `end` (exclusive). */
struct stretch {
	struct insn *start, *end;
	bool after_call; /* start is the call of this() or super(), else a label */
};

struct stretches {
	struct stretch *v;
	uint32_t n;
};

/* Does the method begin with `this` not initialised? */
bool init_needed(const struct code *code);

/* The stretches, in list order; E_NO_INIT_CALL when they cannot be determined. */
int init_stretches(struct code *code, struct stretches *out);

#endif
