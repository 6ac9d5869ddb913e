/* SPDX-License-Identifier: Apache-2.0 */
/* proof.h - shows that the JVM runs the original byte code again.
 *
 * Before a method was woven, a hash of its code was kept.  Now the code that the JVM has for it is
 * fetched (JVMTI GetBytecodes: not what was handed to it, but what it runs) and hashed again.
 * Where another agent comes behind ours, or came later, the code may differ by its changes; then it
 * is enough that nothing in it calls the probe. */
#ifndef AGENT_WEAVING_PROOF_H
#define AGENT_WEAVING_PROOF_H

#include <jni.h>

#include "base/buf.h"

struct proof {
	uint64_t ever;	  /* classes that had hooks at some time */
	uint64_t classes; /* ... that are loaded still, and were looked at */
	uint64_t methods; /* ... methods looked at */
	uint64_t foreign; /* classes with changes of another agent, and none of ours */
	uint64_t differ;  /* classes of which some method still has a hook */
};

/* Appends one `proof` message a class to out. */
void proof_take(JNIEnv *jni, struct buf *out, struct proof *p);

#endif
