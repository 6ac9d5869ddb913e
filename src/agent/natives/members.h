/* SPDX-License-Identifier: Apache-2.0 */
/* members.h - fields and methods of loaded classes, for the check of conditions, as JVMTI tells
 * them: no class is loaded for it.
 *
 * A book lives in the arena it was opened with; its local references live until members_close.  One
 * thread. */
#ifndef AGENT_NATIVES_MEMBERS_H
#define AGENT_NATIVES_MEMBERS_H

#include <jvmti.h>

#include "base/map.h"
#include "weave/cond_code.h"

struct members {
	JNIEnv *jni;
	struct arena *mem;
	struct map by_name; /* a/b/C -> struct known_class, chained */
	jobject loader;	    /* whose view of names it is */
	jclass *all;
	jint n;
	bool own;		     /* all is JVMTI's */
	struct cond_classes classes; /* ->harm is set by who opens the book, if it asks for that */
};

/* A book of all loaded classes; E_NO_MEMORY. */
int members_open(struct members *m, JNIEnv *jni, struct arena *mem);
/* A book of one class and its ancestors. */
int members_open_one(struct members *m, JNIEnv *jni, struct arena *mem, jclass c);
void members_close(struct members *m);

/* The class itself, as the book has it; NULL: out of memory, or not linked yet. */
const struct cond_class *members_class(struct members *m, jclass c);

#endif
