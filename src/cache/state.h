/* SPDX-License-Identifier: Apache-2.0 */
/* state.h - where it is kept what was found about applications:
 * ${XDG_STATE_HOME:-~/.local/state}/sonde/apps, two files for each application.
 *
 *	NAME.known	findings and times of methods (plan/dig/known.h), for the command line
 *	NAME.rules	the rules of the findings, for the agent at the next start
 *
 * Both are written in one piece, and only their owner may read them.  Never prints.  Any thread. */
#ifndef CACHE_STATE_H
#define CACHE_STATE_H

#include <limits.h>

#include "base/buf.h"

enum { STATE_APP = 256, STATE_MAX = 1 << 20 };

bool state_usual_place(char dir[PATH_MAX]);

/* DIR/NAME.SUFFIX.  The name of an application becomes the name of a file: what does not fit is
 * replaced, and then a hash makes up for it.  False: too long, or no name. */
bool state_path(const char *dir, const char *app, const char *suffix, char path[PATH_MAX]);

/* Appends the file.  0; E_NOT_FOUND: there is none; E_IO: it is not to be trusted (somebody else's,
 * or others can write it
 * or its directory), or cannot be read. */
int state_read(const char *path, struct buf *out);

/* Makes the place, for its owner alone.  0, or E_IO with errno set. */
int state_make_place(const char *dir);
int state_write(const char *path, struct slice text); /* the same */

#endif
