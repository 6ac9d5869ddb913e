/* SPDX-License-Identifier: Apache-2.0 */
/* visible.h - text of others, made harmless to show: what a terminal would act on, or would hide,
 * is written as an escape that people can read.
 *
 * Escaped are control characters (C0, DEL, C1), characters that change the direction of the text or
 * have no width (bidi, zero-width, fillers, tags), and bytes that are not UTF-8: \u001b, \u202e,
 * \U000e0041, \xff.  Everything else stays as it is, so most text is only copied. */
#ifndef BASE_VISIBLE_H
#define BASE_VISIBLE_H

#include "base/buf.h"

enum visible_how {
	VISIBLE_LINE = 0,  /* line breaks and tabs are escaped, too: \n, \t */
	VISIBLE_LINES = 1, /* ... they stay */
	VISIBLE_ASCII = 2, /* for a terminal without UTF-8: escapes for all that is not ASCII */
};

void visible_put(struct buf *out, struct slice text, unsigned how);

/* Appends the escape of one character. */
void visible_escape(struct buf *out, uint32_t c);

/* Is it safe to show as it is?  Line breaks and tabs are not. */
bool visible_is(uint32_t c);

/* How many bytes at the end of text begin a character whose other bytes are not there: 0 to 3. */
size_t visible_unfinished(struct slice text);

#endif
