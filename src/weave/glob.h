/* SPDX-License-Identifier: Apache-2.0 */
/* glob.h - the small patterns of fit.def and builtin.def.
 *
 * A list holds patterns with spaces between them; one that matches is enough, and an empty list
 * matches everything.  `*` stands for any characters.  Among methods, a pattern with a parenthesis
 * is for name and descriptor together, as in "read([B*)I"; one without is for the name. */
#ifndef WEAVE_GLOB_H
#define WEAVE_GLOB_H

#include "base/slice.h"

bool glob_text(const char *list, struct slice text);
bool glob_method(const char *list, struct slice name, struct slice desc);

#endif
