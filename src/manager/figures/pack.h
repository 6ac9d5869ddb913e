/* SPDX-License-Identifier: Apache-2.0 */
/* pack.h - a transaction in few bytes, and back.  Pure; trusts nothing that it reads. */
#ifndef MANAGER_FIGURES_PACK_H
#define MANAGER_FIGURES_PACK_H

#include "base/arena.h"
#include "base/buf.h"
#include "export/transaction.h"

/* Names, parts and calls; what the row of the store has is not in it, but for `missed` and the
 * nanoseconds of the time. */
void pack_put(const struct transaction *t, struct buf *out);

/* 0, E_DAMAGED or E_NO_MEMORY.  Texts are slices of `packed`. */
int pack_read(struct slice packed, struct arena *mem, struct transaction *out);

/* "a=1 b=2 " as agents send it, to "a NUL 1 NUL b NUL 2 NUL": a value may have spaces, a name not. */
void pack_data(struct slice text, struct buf *out);

#endif
