/* SPDX-License-Identifier: Apache-2.0 */
/* lcs.h - which lines two lists have in common, in order: the fewest changes (Myers 1986). */
#ifndef CLI_CLASSTOOLS_LCS_H
#define CLI_CLASSTOOLS_LCS_H

#include "base/arena.h"

enum { LCS_NONE = UINT32_MAX };

/* a and b are lines as numbers: equal lines have equal numbers.  partner[i] becomes the place in b
 * of line i of a, or LCS_NONE.  When there are more than `limit` changes, what lies between the
 * common beginning and end counts as changed as a whole.  E_NO_MEMORY or 0. */
int lcs(struct arena *mem, const uint32_t *a, uint32_t n, const uint32_t *b, uint32_t m,
	uint32_t limit, uint32_t *partner);

#endif
