/* SPDX-License-Identifier: Apache-2.0 */
/* decompile.h - Java made of class files by Procyon (Debian: procyon-decompiler), where it is installed.
 *
 * It is run in a JVM of its own, never in the program's, and by a JDK and from jars that nobody but
 * root and the caller can change.  Nobody knows who wrote the class: so the process has limits of
 * memory and time, an empty environment, and no right that the program's user has not. */
#ifndef CLI_LOOK_DECOMPILE_H
#define CLI_LOOK_DECOMPILE_H

#include <sys/types.h>

#include "base/buf.h"
#include "cli/look/class_files.h"

#define DECOMPILE_PACKAGE "procyon-decompiler"

bool decompile_is_there(void); /* the package */

/* class: a/b/C, one of the files.  uid, gid: of the program, as which root has it run.  What Procyon
 * prints, for decompiled.h; false: `why` says what was in the way. */
bool decompile(const struct class_files *files, const char *class, uid_t uid, gid_t gid,
	       struct buf *text, struct buf *why);

#endif
