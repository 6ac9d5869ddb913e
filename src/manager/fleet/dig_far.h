/* SPDX-License-Identifier: Apache-2.0 */
/* dig_far.h - a dig beside a relay, as the manager reads it: what it said comes as records of a u8 kind
 * and a u32 length, and last its exit status. */
#ifndef MANAGER_FLEET_DIG_FAR_H
#define MANAGER_FLEET_DIG_FAR_H

#include "base/buf.h"

enum { DIG_FAR_CANCEL = 'c' }; /* the manager's one word */
enum dig_far_kind {
	DIG_FAR_OUT = 'o',
	DIG_FAR_ERR = 'e',
	DIG_FAR_RULES = 'r',
	DIG_FAR_STATUS = 's'
};
enum { DIG_FAR_MORE = -1 };

void dig_far_put(struct buf *out, enum dig_far_kind kind, struct slice text);
/* Moves whole records out of `in`: DIG_FAR_MORE, or the exit status; E_SYNTAX: nonsense. */
int dig_far_take(struct buf *in, struct buf *out, struct buf *err, struct buf *rules);

#endif
