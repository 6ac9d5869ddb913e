/* SPDX-License-Identifier: Apache-2.0 */
/* trusted.h - can anybody but root and the caller change what lies at a path?
 *
 * Before Sonde runs a program that an observed process has named, every directory on the way to it
 * and every file below it must belong to root or to the caller, and nobody else may write it: then
 * the answer also holds a moment later.  Sticky directories are no exception, since nothing is lost
 * by leaving /tmp out. */
#ifndef CLI_SCREEN_TRUSTED_H
#define CLI_SCREEN_TRUSTED_H

#include <limits.h>

#include "base/err.h"

/* A directory with all that is in it, and what its links lead to.  0: `real` is the same place
 * without links, which is to be used from then on.  E_NOT_FOUND: there is none; E_IO: it is not
 * trusted.  f says why. */
int trusted_tree(const char *path, char real[PATH_MAX], struct fault *f);
int trusted_file(const char *path, char real[PATH_MAX], struct fault *f); /* one file */

#endif
