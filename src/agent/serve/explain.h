/* SPDX-License-Identifier: Apache-2.0 */
/* explain.h - why a method of the running program is hooked or not. */
#ifndef AGENT_SERVE_EXPLAIN_H
#define AGENT_SERVE_EXPLAIN_H

#include <jni.h>

#include "base/buf.h"

/* `method` is pkg.Class::name or pkg.Class.name.  Gives how many methods were explained; 0 when no
 * loaded class has it, negative when it is not understood, both with the reason in out. */
int explain_method(JNIEnv *jni, struct slice method, struct buf *out);

#endif
