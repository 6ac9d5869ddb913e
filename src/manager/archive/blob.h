/* SPDX-License-Identifier: Apache-2.0 */
/* blob.h - packed transactions, compressed. */
#ifndef MANAGER_ARCHIVE_BLOB_H
#define MANAGER_ARCHIVE_BLOB_H

#include "base/buf.h"

/* Both append to out.  0, E_NO_MEMORY or E_DAMAGED. */
int blob_compress(struct slice from, struct buf *out);
int blob_expand(struct slice from, struct buf *out);

#endif
