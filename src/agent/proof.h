/* SPDX-License-Identifier: Apache-2.0 */
/* proof.h - shows that the JVM runs the original byte code again.
 *
 * Before a method was woven, a hash of its code was kept.  Now the code that the JVM has for it is
 * fetched (JVMTI GetBytecodes: not what was handed to it, but what it runs) and hashed again. */
#ifndef AGENT_PROOF_H
#define AGENT_PROOF_H

#include <jni.h>

#include "base/buf.h"

struct proof {
	uint64_t ever;	  /* classes that had hooks at some time */
	uint64_t classes; /* ... that are loaded still, and were looked at */
	uint64_t methods; /* ... methods looked at */
	uint64_t differ;  /* classes of which some method is not the original */
};

/* Appends one `proof` message a class to out. */
void proof_take(JNIEnv *jni, struct buf *out, struct proof *p);

#endif
