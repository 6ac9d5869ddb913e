/* SPDX-License-Identifier: Apache-2.0 */
/* walk_frame.h - what a sampled frame is for a walk: its name there, and what may be done with it. */
#ifndef CLI_WALK_WALK_FRAME_H
#define CLI_WALK_WALK_FRAME_H

#include "base/buf.h"
#include "export/profile.h"
#include "plan/walk/climb_tree.h"

/* Of all frames of a profile of a JVM, or of a native process.  Names of native functions are kept in
 * `names`: "libz.so.1::deflate".  0 or E_NO_MEMORY. */
int walk_frame_all(const struct profile *p, bool native, struct climb_frame *of, struct buf *names);

struct slice walk_frame_file(struct slice path); /* without directories */

#endif
