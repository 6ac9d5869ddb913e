/* SPDX-License-Identifier: Apache-2.0 */
/* climb_print.h - the tree of callers, and the answer in two lines. */
#ifndef PLAN_WALK_CLIMB_PRINT_H
#define PLAN_WALK_CLIMB_PRINT_H

#include "plan/walk/climb.h"

void climb_put_tree(const struct climb *c, const struct climb_spot *s, struct buf *out);
void climb_put_answer(const struct climb *c, struct buf *out);

#endif
