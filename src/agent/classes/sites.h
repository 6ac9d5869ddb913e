/* SPDX-License-Identifier: Apache-2.0 */
/* sites.h - methods as stack traces name them, with their names, each asked for once.
 *
 * For one session of samples; the agent's thread only. */
#ifndef AGENT_CLASSES_SITES_H
#define AGENT_CLASSES_SITES_H

#include <jvmti.h>

#include "base/arena.h"
#include "base/map.h"

enum {
	SITE_NATIVE = 1,
	SITE_FIXED = 2,
	SITE_SYNTHETIC = 4,
	SITE_ACQUIRE = 8, /* java.util.concurrent's way to wait for a lock */
};

struct site {
	jmethodID method;
	const char *name; /* "pkg.Class.name(desc)" */
	unsigned flags;
};

struct sites {
	struct arena mem;
	struct map map;
};

void sites_init(struct sites *s);
void sites_release(struct sites *s);

/* NULL: out of memory, or no method any more.  Makes local references and gives them back. */
struct site *sites_get(struct sites *s, JNIEnv *jni, jmethodID method);

#endif
