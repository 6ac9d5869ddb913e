/* SPDX-License-Identifier: Apache-2.0 */
/* blob.h - packed transactions, compressed. */
#ifndef MANAGER_ARCHIVE_BLOB_H
#define MANAGER_ARCHIVE_BLOB_H

#include "base/buf.h"

/* Memory of the compressor, half a MiB, for who compresses much.  Of one thread. */
struct blob_press;
struct blob_press *blob_press_new(void); /* NULL: out of memory */
void blob_press_free(struct blob_press *p);

/* Both append to out.  0, E_NO_MEMORY or E_DAMAGED.  p NULL: it is made for this once. */
int blob_compress(struct blob_press *p, struct slice from, struct buf *out);
int blob_expand(struct slice from, struct buf *out);

#endif
