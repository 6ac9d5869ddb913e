/* SPDX-License-Identifier: Apache-2.0 */
/* hooks.h - which functions are hooked: rules as for methods, where the class is the name of a
 * program or library file: `libz.so.1::deflate* timed`.
 *
 * What only Java has (inside, if, across, templates ...) is refused.  The agent's thread alone. */
#ifndef NATIVE_HOOKS_H
#define NATIVE_HOOKS_H

#include "base/buf.h"

/* What became of a request. */
struct hooks_answer {
	unsigned status; /* of a client: 0 done, 1 nothing matched, 2 wrong, 3 could not */
	struct buf text;
};

/* flags: HOOK_*; with HOOK_HELD the rules are of this client, a number from 1 on, and leave when it does. */
struct hooks_request {
	struct slice rules, origin;
	unsigned flags;
	uint32_t client;
};
void hooks_add(const struct hooks_request *r, struct hooks_answer *out);
/* Those that a client holds; how many functions' bytes could not be put back. */
unsigned hooks_let_go(uint32_t client);
void hooks_remove(struct slice pattern, struct hooks_answer *out);

/* How many functions' bytes could not be put back. */
unsigned hooks_remove_all(void);

void hooks_put_rules(struct buf *out); /* frames: the rules in force */
void hooks_put_left(struct buf *out);  /* frames: what the last request left alone */
uint64_t hooks_rules(void);	       /* how many are in force */

#endif
