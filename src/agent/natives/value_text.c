/* SPDX-License-Identifier: Apache-2.0 */
/* value_text.c - the fields of an object are named by JVMTI, which loads no class for it, as reflection
 * would. */
#include "agent/natives/value_text.h"

#include "agent/core/agent.h"
#include "agent/core/guests.h"
#include "agent/natives/probes.h"
#include "classfile/class.h"

static jstring field_name(JNIEnv *jni, jclass c, jfieldID field)
{
	char *name = NULL, *desc = NULL, text[512];
	jint access = 0;
	jstring out = NULL;

	(*agent.jvmti)->GetFieldModifiers(agent.jvmti, c, field, &access);
	if (access & (ACC_STATIC | ACC_SYNTHETIC) ||
	    (*agent.jvmti)->GetFieldName(agent.jvmti, c, field, &name, &desc, NULL) !=
		    JVMTI_ERROR_NONE)
		return NULL;
	if (strlen(name) + 2 < sizeof(text)) {
		text[0] = desc[0];
		memcpy(text + 1, name, strlen(name) + 1);
		out = (*jni)->NewStringUTF(jni, text);
	}
	(*agent.jvmti)->Deallocate(agent.jvmti, (unsigned char *)name);
	(*agent.jvmti)->Deallocate(agent.jvmti, (unsigned char *)desc);
	return out;
}

/* Their names, *used of them; the array may be longer. */
static jobjectArray field_names(JNIEnv *jni, jclass c, jclass string, jsize *used)
{
	jfieldID *fields = NULL;
	jobjectArray all;
	jint n = 0;

	if ((*agent.jvmti)->GetClassFields(agent.jvmti, c, &n, &fields) != JVMTI_ERROR_NONE)
		n = 0;
	all = (*jni)->NewObjectArray(jni, n, string, NULL);
	for (jint i = 0; all && i < n; i++) {
		jstring name = field_name(jni, c, fields[i]);

		if (name)
			(*jni)->SetObjectArrayElement(jni, all, (*used)++, name);
		(*jni)->DeleteLocalRef(jni, name);
	}
	if (fields)
		(*agent.jvmti)->Deallocate(agent.jvmti, (unsigned char *)fields);
	return all;
}

jobjectArray value_text_fields(JNIEnv *jni, jclass c)
{
	jclass string = (*jni)->FindClass(jni, "java/lang/String");
	jobjectArray all, out;
	jsize used = 0;

	if (!guests_come())
		return (*jni)->NewObjectArray(jni, 0, string, NULL);
	all = field_names(jni, c, string, &used);
	guests_go();
	out = all ? (*jni)->NewObjectArray(jni, used, string, NULL) : NULL;
	for (jsize i = 0; out && i < used; i++) {
		jobject name = (*jni)->GetObjectArrayElement(jni, all, i);

		(*jni)->SetObjectArrayElement(jni, out, i, name);
		(*jni)->DeleteLocalRef(jni, name);
	}
	return out;
}

/* As an array of texts; NULL: out of memory, or an exception. */
static jobjectArray words_of(JNIEnv *jni, struct slice redact)
{
	jclass string = (*jni)->FindClass(jni, "java/lang/String");
	jobjectArray list;
	jsize n = 1;
	char name[128];

	for (size_t i = 0; i < redact.n; i++)
		n += redact.p[i] == ',';
	list = string ? (*jni)->NewObjectArray(jni, redact.n ? n : 0, string, NULL) : NULL;
	for (jsize k = 0; list && redact.n && k < n; k++) {
		const uint8_t *comma = memchr(redact.p, ',', redact.n);
		size_t len = comma ? (size_t)(comma - redact.p) : redact.n;
		size_t kept = len < sizeof(name) - 1 ? len : sizeof(name) - 1;
		jstring text;

		memcpy(name, redact.p, kept);
		name[kept] = '\0';
		text = (*jni)->NewStringUTF(jni, name);
		if (!text)
			return NULL;
		(*jni)->SetObjectArrayElement(jni, list, k, text);
		(*jni)->DeleteLocalRef(jni, text);
		redact.p += len + (comma != NULL);
		redact.n -= len + (comma != NULL);
	}
	return list;
}

bool value_text_set(JNIEnv *jni, unsigned depth, struct slice redact)
{
	jclass class = probes_text_class();
	jfieldID depth_field = (*jni)->GetStaticFieldID(jni, class, "depth", "I");
	jfieldID names =
		depth_field ? (*jni)->GetStaticFieldID(jni, class, "redact", "[Ljava/lang/String;")
			    : NULL;
	jobjectArray list = names ? words_of(jni, redact) : NULL;

	if (list) {
		(*jni)->SetStaticObjectField(jni, class, names, list);
		(*jni)->SetStaticIntField(jni, class, depth_field, (jint)depth);
	}
	(*jni)->ExceptionClear(jni);
	return list != NULL;
}

static void put_java(JNIEnv *jni, struct buf *out, jstring text)
{
	jsize n = (*jni)->GetStringLength(jni, text);
	const char *utf = (*jni)->GetStringUTFChars(jni, text, NULL);

	if (utf && n)
		buf_text(out, utf);
	if (utf)
		(*jni)->ReleaseStringUTFChars(jni, text, utf);
}

bool value_text_put(JNIEnv *jni, const struct value_text *v, struct buf *out)
{
	static const char desc[] =
		"(Ljava/lang/Object;Ljava/lang/String;I[Ljava/lang/String;)Ljava/lang/String;";
	jclass class = probes_text_class();
	jmethodID told = (*jni)->GetStaticMethodID(jni, class, "told", desc);
	jobjectArray words = told ? words_of(jni, v->redact) : NULL;
	jstring way = words ? (*jni)->NewStringUTF(jni, v->way) : NULL, text = NULL;

	if (way)
		text = (*jni)->CallStaticObjectMethod(jni, class, told, v->object, way,
						      (jint)v->depth, words);
	if (text && !(*jni)->ExceptionCheck(jni))
		put_java(jni, out, text);
	else
		text = NULL;
	(*jni)->ExceptionClear(jni);
	return text != NULL;
}

void value_text_place(JNIEnv *jni, jclass class, struct buf *out)
{
	jclass known = probes_text_class();
	jmethodID place = (*jni)->GetStaticMethodID(jni, known, "place",
						    "(Ljava/lang/Class;)Ljava/lang/String;");
	jstring text = place ? (*jni)->CallStaticObjectMethod(jni, known, place, class) : NULL;

	if (text && !(*jni)->ExceptionCheck(jni))
		put_java(jni, out, text);
	(*jni)->ExceptionClear(jni);
}
