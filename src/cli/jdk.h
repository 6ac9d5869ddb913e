/* SPDX-License-Identifier: Apache-2.0 */
/* jdk.h - finds the JDKs of this machine. */
#ifndef CLI_JDK_H
#define CLI_JDK_H

#include <limits.h>

#include "base/err.h"

struct jdk {
	unsigned version; /* 17, 25 */
	char home[PATH_MAX];
};

/* version 0: that of JAVA_HOME, else of the java in PATH, else the newest that is installed.
 * Otherwise the first with this version: JAVA_HOME, PATH, /usr/lib/jvm, /opt. */
int jdk_find(unsigned version, struct jdk *out, struct fault *f);

/* Is there a JDK (or a run-time image, since 9) at this place? */
bool jdk_at(const char *home, struct jdk *out);

#endif
