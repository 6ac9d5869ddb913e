/* SPDX-License-Identifier: Apache-2.0 */
/* anonymous.h - gives code without a file a name in the text of /proc/PID/maps, so that stacks are
 * followed through it. */
#ifndef OUTSIDE_ANONYMOUS_H
#define OUTSIDE_ANONYMOUS_H

#include "base/buf.h"

#define ANONYMOUS_CODE "//anon"

/* Appends the lines of maps that have code. */
void anonymous_name_code(struct slice maps, struct buf *out);

#endif
