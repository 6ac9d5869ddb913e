/* SPDX-License-Identifier: Apache-2.0 */
/* spool.h - a directory of numbered files: what was promised, and has not arrived yet, in order.
 *
 * A file is there as a whole or not at all, and stays over the end of the machine; a checksum at its end
 * tells when the disk has changed it. */
#ifndef MANAGER_ARCHIVE_SPOOL_H
#define MANAGER_ARCHIVE_SPOOL_H

#include "base/buf.h"

struct spool {
	char dir[4000];
	int lock_fd;
	uint64_t first, next; /* numbers; equal: it is empty */
	uint64_t bytes;
};

int spool_open(struct spool *s, const char *dir);
void spool_close(struct spool *s);
int spool_put(struct spool *s, struct slice body); /* 0 when it is on disk */
/* Appends the oldest to out; E_NOT_FOUND: it is empty, E_DAMAGED: it cannot be read. */
int spool_oldest(struct spool *s, struct buf *out);
void spool_drop(struct spool *s);      /* the oldest */
void spool_set_aside(struct spool *s); /* the oldest, under another name */

#endif
