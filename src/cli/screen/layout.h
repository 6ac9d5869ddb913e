/* SPDX-License-Identifier: Apache-2.0 */
/* layout.h - values as the probe writes them, Cart{id=7, lines=ArrayList(2)[...]}, over as many
 * lines as they need.
 *
 * What is between brackets goes onto lines of its own when the whole is too long; quoted texts are
 * never broken.  A text that was cut off has brackets that nobody closes: that is no error. */
#ifndef CLI_SCREEN_LAYOUT_H
#define CLI_SCREEN_LAYOUT_H

#include "base/buf.h"

/* Writes the value with a line end; it begins in column `indent`, and no line should be longer than
 * `width` characters. */
void layout_put(struct buf *out, struct slice value, unsigned indent, unsigned width);

/* Takes the next of the values that are separated by commas at the start of *list, and what stands
 * between.  False: there is none. */
bool layout_next(struct slice *list, struct slice *value);

/* What is between the brackets around the whole of value; all of it when there are none. */
struct slice layout_inside(struct slice value);

#endif
