/* SPDX-License-Identifier: Apache-2.0 */
/* stored.h - samples that were taken before: files of stacks, and histories. */
#ifndef CLI_HOT_STORED_H
#define CLI_HOT_STORED_H

#include "cli/hot/sampled.h"

/* False: it names a program. */
bool stored_is(const char *target);

/* The target of the wish; of a history what its --at and --for say.  CLI_DONE, or an exit status after a
 * message. */
int stored_read(struct sampled *s, const struct sampled_wish *wish);

/* What --compare names: a file, or another time of the history that is the target, for as long.
 * Likewise. */
int stored_before(struct sampled *s, const struct sampled_wish *wish, const char *what);

#endif
