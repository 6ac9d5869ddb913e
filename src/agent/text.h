/* SPDX-License-Identifier: Apache-2.0 */
/* text.h - what java.util.SondeText, which shows objects to people who watch calls, needs of C. */
#ifndef AGENT_TEXT_H
#define AGENT_TEXT_H

#include <jni.h>

#include "base/slice.h"

/* How deep objects are shown, and names whose values are hidden, separated by commas; an empty list
 * hides nothing. */
void text_set(JNIEnv *jni, unsigned depth, struct slice redact);

#endif
