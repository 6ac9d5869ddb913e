/* SPDX-License-Identifier: Apache-2.0 */
/* own.c - finds the agent's classes in java.base, or defines them there. */
#include "agent/core/own.h"

#include "agent/core/agent.h"

/* The agent's thread, and before it runs the one that starts the VM. */
static struct {
	jclass all[16]; /* global references, which stay */
	size_t n;
} own;

static void keep_own(JNIEnv *jni, jclass class)
{
	for (size_t i = 0; i < own.n; i++)
		if ((*jni)->IsSameObject(jni, own.all[i], class))
			return;
	if (own.n < COUNT(own.all))
		own.all[own.n++] = class;
}

/* The class of that name in java.base: the one there from an earlier attach, or a new one. */
jclass own_define(JNIEnv *jni, const char *name, const uint8_t *from, const uint8_t *to)
{
	jclass local = (*jni)->FindClass(jni, name);
	jclass global;

	if (!local) {
		(*jni)->ExceptionClear(jni);
		local = (*jni)->DefineClass(jni, name, NULL, (const jbyte *)from,
					    (jsize)(to - from));
	}
	if (!local) {
		(*jni)->ExceptionClear(jni);
		agent_note("%s could not be defined", name);
		return NULL;
	}
	global = (*jni)->NewGlobalRef(jni, local);
	(*jni)->DeleteLocalRef(jni, local);
	if (global)
		keep_own(jni, global);
	return global;
}

const jclass *own_all(size_t *n)
{
	*n = own.n;
	return own.all;
}
