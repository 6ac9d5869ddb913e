/* SPDX-License-Identifier: Apache-2.0 */
/* management.c - libjvm.so exports a function that gives a table of functions, by version; java.management
 * is made of it.  The places of those used here have been the same since JDK 5, and a table says its
 * version itself.  ThreadInfo's constructor only sets fields. */
#include "agent/hotspot/management.h"

#include "agent/hotspot/vmstructs.h"

enum { VERSION_FIRST = 0x20010000, VERSION_STEP = 0x10000, VERSIONS = 16, NAME_BYTES = 256 };

enum { GET_VERSION = 2, GET_THREAD_INFO = 4 }; /* places in the table */

typedef jint get_version(JNIEnv *jni);
typedef jint get_thread_info(JNIEnv *jni, jlongArray numbers, jint frames, jobjectArray out);

static void *const *table(JNIEnv *jni)
{
	void *(*find)(jint) = (void *(*)(jint))vmstructs_function("JVM_GetManagement");
	void *const *t = NULL;

	for (jint i = 0; find && !t && i < VERSIONS; i++) {
		jint version = VERSION_FIRST + i * VERSION_STEP;

		t = find(version);
		if (t && ((get_version *)t[GET_VERSION])(jni) != version)
			t = NULL;
	}
	return t;
}

jobjectArray management_threads(JNIEnv *jni, const jlong *numbers, jsize n)
{
	void *const *t = n ? table(jni) : NULL;
	jclass info = t ? (*jni)->FindClass(jni, "java/lang/management/ThreadInfo") : NULL;
	jobjectArray all = info ? (*jni)->NewObjectArray(jni, n, info, NULL) : NULL;
	jlongArray ids = all ? (*jni)->NewLongArray(jni, n) : NULL;

	if (ids) {
		(*jni)->SetLongArrayRegion(jni, ids, 0, n, numbers);
		((get_thread_info *)t[GET_THREAD_INFO])(jni, ids, 0, all);
	}
	if ((*jni)->ExceptionCheck(jni)) {
		(*jni)->ExceptionClear(jni);
		all = NULL;
	}
	return ids ? all : NULL;
}

/* ---- fields ---- */

static jobject object_of(JNIEnv *jni, jobject from, const char *name, const char *desc)
{
	jclass class = from ? (*jni)->GetObjectClass(jni, from) : NULL;
	jfieldID field = class ? (*jni)->GetFieldID(jni, class, name, desc) : NULL;

	(*jni)->ExceptionClear(jni);
	return field ? (*jni)->GetObjectField(jni, from, field) : NULL;
}

static void put_string(JNIEnv *jni, struct buf *out, jstring s)
{
	jsize n = s ? (*jni)->GetStringLength(jni, s) : 0;
	char text[3 * NAME_BYTES + 1];

	if (!n)
		return;
	(*jni)->GetStringUTFRegion(jni, s, 0, n < NAME_BYTES ? n : NAME_BYTES, text);
	buf_text(out, text);
}

uint64_t management_waits(JNIEnv *jni, jobjectArray threads, jsize i, struct buf *lock,
			  struct buf *holder)
{
	jobject info = (*jni)->GetObjectArrayElement(jni, threads, i);
	jobject on = object_of(jni, info, "lock", "Ljava/lang/management/LockInfo;");
	jclass class = on ? (*jni)->GetObjectClass(jni, on) : NULL;
	jfieldID hash = class ? (*jni)->GetFieldID(jni, class, "identityHashCode", "I") : NULL;
	jfieldID owner;

	(*jni)->ExceptionClear(jni);
	if (!hash)
		return 0;
	put_string(jni, lock, object_of(jni, on, "className", "Ljava/lang/String;"));
	buf_printf(lock, "@%x", (unsigned)(*jni)->GetIntField(jni, on, hash));
	put_string(jni, holder, object_of(jni, info, "lockOwnerName", "Ljava/lang/String;"));
	owner = (*jni)->GetFieldID(jni, (*jni)->GetObjectClass(jni, info), "lockOwnerId", "J");
	(*jni)->ExceptionClear(jni);
	if (owner && (*jni)->GetLongField(jni, info, owner) > 0)
		return (uint64_t)(*jni)->GetLongField(jni, info, owner);
	return 0;
}
