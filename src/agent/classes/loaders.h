/* SPDX-License-Identifier: Apache-2.0 */
/* loaders.h - the class loaders that have defined classes with hooks, held weakly.
 *
 * Programs make class loaders without end: for each deployment, script or proxy.  So an entry goes
 * when its loader has been collected.  The JVM does not report that; each new entry looks at two
 * old ones instead, which keeps the table small at a constant price, and the agent's thread looks at
 * all of them once in a while.
 * (JVMTI tells with ObjectFree, but only of tagged objects, and JDK 17 hashes all tags anew after
 * each collection.)
 *
 * The JVM is called to tell one loader from another, so agent.lock must not be held in any of these
 * functions: they take it themselves. */
#ifndef AGENT_CLASSES_LOADERS_H
#define AGENT_CLASSES_LOADERS_H

#include <jni.h>
#include <stdbool.h>

#include "base/chains.h"

struct woven;

struct loader {
	struct chains_link link; /* by identity hash */
	jweak ref;		 /* NULL: the boot loader */
	size_t at;		 /* its place in the list of all */
	uint32_t users;		 /* threads that use the entry; it stays as long */
	struct woven *classes;	 /* what it has defined, by ->sibling; guarded by agent.lock */
};

/* Before anything else: what is done about the classes of a loader that was collected, under
 * agent.lock, and after it. */
typedef void loaders_gone(struct loader *l);
typedef void loaders_told(JNIEnv *jni);
void loaders_follow(loaders_gone *gone, loaders_told *told);

/* The entry of a loader (NULL: the boot loader), for the calling thread to use until it gives it
 * back; when there is none, a new one or NULL.  Also NULL when memory is out. */
struct loader *loaders_take(JNIEnv *jni, jobject ref, bool make);
struct loader *loaders_of(JNIEnv *jni, jclass klass, bool make); /* of the class's loader */
void loaders_give(struct loader *l);				 /* accepts NULL */

/* Lets go of all loaders that have been collected, and of their classes. */
void loaders_sweep(JNIEnv *jni);
void loaders_tick(void); /* the same every few seconds; on the agent's thread */

#endif
