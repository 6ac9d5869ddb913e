/* SPDX-License-Identifier: Apache-2.0 */
/* roots.h - which Java methods only run, begin or carry the program's own work, by their names. */
#ifndef PLAN_WALK_ROOTS_H
#define PLAN_WALK_ROOTS_H

#include "base/slice.h"

/* CALLER_* of "pkg.Class.method(desc)". */
unsigned roots_flags(struct slice name);

#endif
