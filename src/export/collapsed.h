/* SPDX-License-Identifier: Apache-2.0 */
/* collapsed.h - stacks as lines of text, which flame graph tools read: "outer;inner;leaf 12".
 *
 * What would break a line is written as a space, a ';' in a name as ':'. */
#ifndef EXPORT_COLLAPSED_H
#define EXPORT_COLLAPSED_H

#include "base/buf.h"
#include "export/profile.h"

void collapsed_put(struct buf *out, const struct profile *p);

/* Adds the lines of such a text; frames get kind 0.  0, E_SYNTAX for a line that is none (*line is its
 * number), or E_NO_MEMORY. */
int collapsed_read(struct profile *p, struct slice text, size_t *line);

#endif
