/* SPDX-License-Identifier: Apache-2.0 */
/* patch.h - what an architecture knows of patching a function's entry.  arch/x86_64 and arch/aarch64
 * both have all of it; the build takes one. */
#ifndef NATIVE_PATCH_H
#define NATIVE_PATCH_H

#include "hook/move.h"
#include "native_arch.h"

enum { PATCH_INNER = 4 }; /* boundaries of instructions inside a patch, at most */

enum { PATCH_TRAPS = 1, PATCH_ILLEGAL = 2 }; /* SIGTRAP; SIGILL */

/* Bytes at the entry that stay, since branches may have to land on them (endbr64, bti). */
size_t patch_skip(struct slice function);

/* Can the first instructions of `from` move?  Fills m as for the move to `m->to_addr`; NULL: yes. */
const char *patch_move(struct slice function, struct move *m);

/* Writes the jump from `at` to `to`. */
void patch_jump(uint8_t out[PATCH_N], uintptr_t at, uintptr_t to);

/* Finds memory for a place that a patch at `at` can jump to, which leads to `code`, and writes what
 * is needed there; the patch goes to `out`.  A thread that stands at an inner boundary of the
 * instructions under the patch must run into a trap: *traps says which can happen.  NULL: done, else
 * why not. */
const char *patch_land(const struct move *m, uintptr_t at, uintptr_t code, uint8_t out[PATCH_N],
		       unsigned *traps);

/* A site's code, which tells native_enter its number. */
void patch_site_code(uint8_t out[SITE_CODE_N], uint32_t number, uintptr_t enter);

#endif
