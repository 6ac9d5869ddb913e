/* SPDX-License-Identifier: Apache-2.0 */
/* ranking.h - which functions a profile's values belong to: alone, with all they call, by caller and
 * callee.
 *
 * A function is a name, whatever ran it; recursive calls count once. */
#ifndef CLI_HOT_RANKING_H
#define CLI_HOT_RANKING_H

#include "export/profile.h"

enum { RANKING_KINDS = 16, RANKING_STATES = 9, RANKING_LINES = 8 };

struct ranked {
	struct slice name, file;
	uint32_t kind; /* of one of its frames */
	uint64_t self, total;
	uint64_t count; /* of self: profile_stack.count */
	/* Of self: by kind of the frame, or RANKING_STATES + kind of the stack, if that has one. */
	uint64_t by_kind[RANKING_KINDS];
};

struct ranking {
	struct ranked *v; /* by self, then total */
	size_t n;
	uint32_t *of_frame; /* frame of the profile -> place in v */
	uint64_t total;
};

struct ranked_line { /* a caller or callee of a function */
	uint32_t of; /* place in v; UINT32_MAX: nobody, the stack begins or ends there */
	uint64_t value;
};

/* 0 or E_NO_MEMORY. */
int ranking_build(struct ranking *r, const struct profile *p);
void ranking_release(struct ranking *r);

/* The most frequent callers (or callees) of one; how many. */
size_t ranking_callers(const struct ranking *r, const struct profile *p, size_t of,
		       struct ranked_line out[RANKING_LINES]);
size_t ranking_callees(const struct ranking *r, const struct profile *p, size_t of,
		       struct ranked_line out[RANKING_LINES]);

#endif
