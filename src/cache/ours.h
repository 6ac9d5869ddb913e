/* SPDX-License-Identifier: Apache-2.0 */
/* ours.h - files that only we can have written. */
#ifndef CACHE_OURS_H
#define CACHE_OURS_H

#include <stdbool.h>

enum ours {
	OURS_FILE,
	OURS_DIR,
};

/* Is it a plain file or directory of our own, which no other user may read or write? */
bool ours_is(int fd, enum ours what);

#endif
