/* SPDX-License-Identifier: Apache-2.0 */
/* scopes.h - which methods are at an address of compiled code: those the compiler has inlined, too.
 *
 * Read from the debug information that the JVM keeps for each nmethod.  By default it is exact where
 * calls return to, and at an instruction tells of the next place where the thread can be stopped;
 * exact there as well when the code was compiled while DebugNonSafepoints was on. */
#ifndef AGENT_SAMPLING_SCOPES_H
#define AGENT_SAMPLING_SCOPES_H

#include <stddef.h>

#include "agent/sampling/vm_layout.h"

enum { SCOPES_MAX = 64 };

struct scope {
	uint64_t method; /* the Method */
	int32_t bci;
};

/* The methods at this address of the nmethod, the innermost first; 0: not known.  exact: it is one
 * that a call returns to. */
size_t scopes_at(const struct vm_layout *l, const struct blob *blob, uint64_t pc, bool exact,
		 struct scope out[SCOPES_MAX]);

/* One number of a stream, as debug information has them: 1 to 5 bytes.  0 bytes left: false. */
bool scopes_number(const uint8_t **p, const uint8_t *end, bool shifted, uint32_t *out);

#endif
