/* SPDX-License-Identifier: Apache-2.0 */
/* walk_native.h - native functions as a walk, rules and the agent's rows name them.
 *
 * A walk says "libz.so.1::deflate", by all symbols that are installed, or "libz.so.1+0x5d80".  The agent
 * in the process knows fewer names, so rules say "libz.so.1::0x5d80". */
#ifndef CLI_WALK_WALK_NATIVE_H
#define CLI_WALK_WALK_NATIVE_H

#include "cli/hot/sampled.h"

/* Appends the name in a rule; false: none can be written. */
bool walk_native_put_target(struct sampled *s, struct slice name, struct buf *out);

/* Is a row of the agent's ("libz.so.1.deflate", "libz.so.1.0x5d80") of this function? */
bool walk_native_is_row(struct sampled *s, struct slice row, struct slice name);

/* Appends a caller as the agent has named it, as the walk names it. */
void walk_native_put_caller(struct sampled *s, struct slice caller, struct buf *out);

#endif
