/* SPDX-License-Identifier: Apache-2.0 */
/* depth.h - how many slots are on the stack at a return.
 *
 * The JVM allows a method to return while other values still lie below the result.  Compilers
 * hardly ever do it, but a branch to a shared epilog must know. */
#ifndef WEAVE_DEPTH_H
#define WEAVE_DEPTH_H

#include "classfile/code.h"

enum { DEPTH_UNKNOWN = UINT32_MAX };

/* Puts the slots on the stack before each return into its insn.pc (which has no meaning before
 * lowering); DEPTH_UNKNOWN in dead code.  E_VERIFY when the code is malformed.  Linear. */
int depth_of_returns(struct code *code, int16_t *depths);

/* Descriptors are looked at once: `depths` has a place for every constant that was read, zero at
 * first, and is kept for all methods of the class. */
static inline size_t depth_memory(const struct class *cls)
{
	return cls->pool.read * sizeof(int16_t);
}

#endif
