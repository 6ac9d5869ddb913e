/* SPDX-License-Identifier: Apache-2.0 */
/* decompiled.h - what Procyon prints of one class, with the line numbers of the source in front, and
 * single methods of it.
 *
 * Pure.  The text is as hostile as the class that it was made of: what a terminal would obey is shown
 * with escapes. */
#ifndef CLI_LOOK_DECOMPILED_H
#define CLI_LOOK_DECOMPILED_H

#include "base/buf.h"

bool decompiled_is_class(struct slice text); /* or was it an error that was printed? */

/* method NULL: all; else those of that name, "<init>" and "<clinit>", too, with their annotations.
 * class: a/b/C.  False: there is none that is written as a method of the class itself. */
bool decompiled_show(struct slice text, const char *class, const char *method, struct buf *out);

#endif
