/* SPDX-License-Identifier: Apache-2.0 */
/* outdir.h - writes class files below a directory, whatever names archives gave them. */
#ifndef CLI_CLASSTOOLS_OUTDIR_H
#define CLI_CLASSTOOLS_OUTDIR_H

#include "base/err.h"
#include "base/slice.h"

/* DIR/GROUP/NAME, with the directories that are missing.  A name that leads out of DIR (absolute,
 * or with "..") is E_NAME. */
int outdir_write(const char *dir, const char *group, const char *name, struct slice bytes,
		 struct fault *f);

#endif
