/* SPDX-License-Identifier: Apache-2.0 */
/* ancestry.h - what rules want to know of a class that is loaded: its ancestors, as the JVM sees them,
 * whichever loaders they come from; and whether its constant pool mentions an annotation. */
#ifndef AGENT_CLASSES_ANCESTRY_H
#define AGENT_CLASSES_ANCESTRY_H

#include <jvmti.h>

#include "base/arena.h"
#include "rule/facts.h"

struct kin_of {
	jclass klass;
	JNIEnv *jni;
	struct arena *mem;
	struct rule_class *list; /* the class itself first, then its ancestors */
	size_t n, cap;
	struct rule_resolver resolver;
};

/* Facts of klass in k->list[0], its ancestors behind it when `deep`.  0 or E_NO_MEMORY; a class
 * that the JVM cannot tell about yet has no ancestors here. */
int ancestry_of_class(struct kin_of *k, JNIEnv *jni, jclass klass, struct arena *mem, bool deep);

#endif
