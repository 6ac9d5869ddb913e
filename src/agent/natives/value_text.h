/* SPDX-License-Identifier: Apache-2.0 */
/* value_text.h - what java.util.SondeText, which shows objects to people who watch calls, needs of C. */
#ifndef AGENT_NATIVES_VALUE_TEXT_H
#define AGENT_NATIVES_VALUE_TEXT_H

#include <jni.h>

#include "base/buf.h"

/* The fields of objects that class c declares, as SondeKnown.fields() wants them; none once the agent
 * has left.  In an observed thread. */
jobjectArray value_text_fields(JNIEnv *jni, jclass c);

/* How deep objects are shown, and names whose values are hidden, separated by commas; an empty list
 * hides nothing.  False: out of memory, and all is as before. */
bool value_text_set(JNIEnv *jni, unsigned depth, struct slice redact);

/* Appends an object as text, on the agent's thread.  way: the names that lead to it; if one of these is
 * a secret's, the text is "***".  False: not to be had. */
struct value_text {
	jobject object;
	const char *way;
	unsigned depth;
	struct slice redact; /* as above */
};
bool value_text_put(JNIEnv *jni, const struct value_text *v, struct buf *out);

/* Appends where a class was loaded from, "file:/opt/shop.jar"; nothing when it is not told.  Likewise. */
void value_text_place(JNIEnv *jni, jclass class, struct buf *out);

#endif
