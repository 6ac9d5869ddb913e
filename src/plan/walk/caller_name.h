/* SPDX-License-Identifier: Apache-2.0 */
/* caller_name.h - names of functions for people: Java methods, and native ones ("libz.so.1::deflate"). */
#ifndef PLAN_WALK_CALLER_NAME_H
#define PLAN_WALK_CALLER_NAME_H

#include "base/buf.h"
#include "plan/walk/caller_list.h"

/* pkg.Class.method; Class.method.  Without what a terminal would take for orders. */
void caller_put_whole(const struct caller *c, struct buf *out);
void caller_put_short(const struct caller *c, struct buf *out);

#endif
