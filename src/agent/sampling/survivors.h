/* SPDX-License-Identifier: Apache-2.0 */
/* survivors.h - which of the sampled objects are still there after a collection.
 *
 * Weak references in a table of fixed size, from any thread; when it is full, every second one is let go
 * and only one in twice as many objects is followed from then on, so that those that are stand for all. */
#ifndef AGENT_SAMPLING_SURVIVORS_H
#define AGENT_SAMPLING_SURVIVORS_H

#include <jni.h>

#include "base/buf.h"
#include "sample/stacks.h"

void survivors_begin(void);
void survivors_add(JNIEnv *jni, jobject object, const struct stacks_new *of); /* with its hash */
void survivors_on_gc(void); /* a collection has ended; any thread */

/* The agent's thread, some times a second; and at the end, what is left, as stack_again. */
void survivors_sweep(JNIEnv *jni);
void survivors_put(JNIEnv *jni, struct buf *rows);
void survivors_end(JNIEnv *jni); /* nobody adds any more */

uint32_t survivors_collections(void);
uint32_t survivors_one_in(void);

#endif
