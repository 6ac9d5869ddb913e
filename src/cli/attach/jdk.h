/* SPDX-License-Identifier: Apache-2.0 */
/* jdk.h - finds the JDKs of this machine. */
#ifndef CLI_ATTACH_JDK_H
#define CLI_ATTACH_JDK_H

#include <limits.h>
#include <sys/types.h>

#include "base/err.h"

struct jdk {
	unsigned version; /* 17, 25 */
	char home[PATH_MAX];
};

/* version 0: that of JAVA_HOME, else of the java in PATH, else the newest that is installed.
 * Otherwise the first with this version: JAVA_HOME, PATH, /usr/lib/jvm, /opt. */
int jdk_find(unsigned version, struct jdk *out, struct fault *f);

/* That of a running process, if it may be run: the process names it, so it counts only where nobody
 * but root and the caller can change it (trusted.h), and where a path means the same to it as to
 * us.  home has no links in it.  E_NOT_FOUND: it is not known where it is; E_IO: not to be run. */
int jdk_of_process(pid_t pid, char home[PATH_MAX], struct fault *f);

/* Is there a JDK (or a run-time image, since 9) at this place? */
bool jdk_at(const char *home, struct jdk *out);

#endif
