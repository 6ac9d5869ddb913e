/* SPDX-License-Identifier: Apache-2.0 */
/* top_keys.h - what a key does to what is shown. */
#ifndef CLI_TOP_TOP_KEYS_H
#define CLI_TOP_TOP_KEYS_H

#include "cli/top/top_list.h"

enum top_does {
	TOP_SAME,   /* nothing has changed, or the cursor alone */
	TOP_ANEW,   /* other rows are wanted */
	TOP_FORGET, /* ... and of samples to come only */
};

/* key: as of term_live_key.  page: rows of a screen. */
enum top_does top_keys_press(struct top_look *look, const struct top_list *l,
			     const struct ranking *r, int key, size_t page);

#endif
