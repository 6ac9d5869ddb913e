/* SPDX-License-Identifier: Apache-2.0 */
/* history.h - what was sampled over hours and days: a directory with one file (export/stretch.h) for each
 * minute or so, of which the oldest are given up.
 *
 * Files are made under another name and renamed when they are whole, so a reader may come at any time.
 * They are named after the moment at which they begin, in UTC: 20261118T140500.000Z.samples. */
#ifndef CLI_HOT_HISTORY_H
#define CLI_HOT_HISTORY_H

#include "cli/hot/sampled.h"
#include "export/stretch.h"

/* A directory. */
bool history_is(const char *path);

struct history_span {
	uint64_t from, to; /* ns since 1970 */
};

/* When it begins and about when it ends.  CLI_DONE, or an exit status after a message. */
int history_extent(const char *dir, struct history_span *out);

/* Adds what lies in the span: files of which at least the half does, or of which it is a part.  Files that
 * are damaged are left out, after a message.  CLI_DONE, or an exit status after a message. */
int history_read(struct sampled *s, const char *dir, const struct history_span *span);

/* Who writes: one at a time. */
struct history {
	const char *dir;
	int fd; /* -1: not begun */
	uint64_t files, bytes, dropped;
};

/* Makes the directory if need be.  CLI_DONE, or an exit status after a message. */
int history_begin(struct history *h, const char *dir);
void history_end(struct history *h);

/* One more file; then the oldest are dropped, so that all take no more than `most` bytes.  0, or an errno. */
int history_write(struct history *h, const struct stretch_facts *facts, const struct profile *p,
		  uint64_t most);

#endif
