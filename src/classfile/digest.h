/* SPDX-License-Identifier: Apache-2.0 */
/* digest.h - a number that is the same for the same code, whatever indices its constants have.
 *
 * A JVM that redefines a class may give constants other places in the pool; what the code does is
 * identified by their content.  Pure; any bytes are allowed. */
#ifndef CLASSFILE_DIGEST_H
#define CLASSFILE_DIGEST_H

#include "classfile/pool.h"

uint64_t code_digest(const struct pool *p, struct slice code); /* never 0 */

/* Bytes of the instruction at an offset; what is left, when they make no sense. */
size_t code_insn_size(struct slice code, size_t at);

/* Does an instruction use a method or field of this class (a/b/C)? */
bool code_uses_class(const struct pool *p, struct slice code, struct slice class);

#endif
