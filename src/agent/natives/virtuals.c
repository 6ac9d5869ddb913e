/* SPDX-License-Identifier: Apache-2.0 */
/* virtuals.c - reads the sets in which the JDK keeps its virtual threads for its own thread dump (jcmd
 * Thread.dump_to_file): one of those that were started directly, and one in each executor.
 *
 * The fields are read, since the methods for it make streams: their lambdas alone take milliseconds
 * when they are first used. */
#include "agent/natives/virtuals.h"

#include "agent/core/agent.h"
#include "agent/natives/vthread.h"

enum { EXECUTORS_MAX = 500 }; /* in one look */

struct search {
	JNIEnv *jni;
	jclass virtual;
	jmethodID to_array;
	struct virtuals *out;
	uint64_t random;
};

static const struct {
	const char *class, *field;
} executors[] = {
	{ "java/util/concurrent/ThreadPerTaskExecutor", "threads" },
	{ "jdk/internal/vm/SharedThreadContainer", "virtualThreads" },
};

static jobjectArray array_of(const struct search *s, jobject set)
{
	JNIEnv *jni = s->jni;
	jobject all = set ? (*jni)->CallObjectMethod(jni, set, s->to_array) : NULL;

	if ((*jni)->ExceptionCheck(jni)) {
		(*jni)->ExceptionClear(jni);
		return NULL;
	}
	return all;
}

/* A static field that is a set; NULL: this JDK has none. */
static jobject static_set(JNIEnv *jni, const char *class, const char *field)
{
	jclass c = (*jni)->FindClass(jni, class);
	jfieldID id = c ? (*jni)->GetStaticFieldID(jni, c, field, "Ljava/util/Set;") : NULL;

	(*jni)->ExceptionClear(jni);
	return id ? (*jni)->GetStaticObjectField(jni, c, id) : NULL;
}

/* One in two of those that were kept goes, and each that stays stands for twice as many. */
static void thin_out(struct search *s)
{
	struct virtuals *v = s->out;
	jint kept = 0;

	for (jint i = 0; i < v->n; i++) {
		if ((jint)(s->random & 1) == (i & 1))
			v->threads[kept++] = v->threads[i];
		else
			(*s->jni)->DeleteLocalRef(s->jni, v->threads[i]);
	}
	s->random >>= 1;
	v->n = kept;
	v->each *= 2;
}

static void add_threads(struct search *s, jobject set)
{
	JNIEnv *jni = s->jni;
	jobjectArray all = array_of(s, set);
	uint32_t n = all ? (uint32_t)(*jni)->GetArrayLength(jni, all) : 0;
	struct virtuals *v = s->out;

	for (uint32_t i = 0; i < n; i++) {
		jobject t;

		if (i % v->each != s->random % v->each)
			continue;
		t = (*jni)->GetObjectArrayElement(jni, all, (jsize)i);
		if (!t || !(*jni)->IsInstanceOf(jni, t, s->virtual)) {
			(*jni)->DeleteLocalRef(jni, t);
			continue;
		}
		if (v->n == VIRTUALS_MAX)
			thin_out(s);
		v->threads[v->n++] = t;
	}
	(*jni)->DeleteLocalRef(jni, all);
}

static void add_of_executor(struct search *s, jobject executor)
{
	JNIEnv *jni = s->jni;

	for (size_t i = 0; executor && i < sizeof(executors) / sizeof(executors[0]); i++) {
		jclass class = (*jni)->FindClass(jni, executors[i].class);
		bool is = class && (*jni)->IsInstanceOf(jni, executor, class);
		jfieldID id =
			is ? (*jni)->GetFieldID(jni, class, executors[i].field, "Ljava/util/Set;")
			   : NULL;
		jobject set = id ? (*jni)->GetObjectField(jni, executor, id) : NULL;

		(*jni)->ExceptionClear(jni);
		add_threads(s, set);
		(*jni)->DeleteLocalRef(jni, set);
		(*jni)->DeleteLocalRef(jni, class);
	}
}

/* The registry has weak references to executors. */
static void add_executors(struct search *s, jobject registry)
{
	JNIEnv *jni = s->jni;
	jclass reference = (*jni)->FindClass(jni, "java/lang/ref/Reference");
	jmethodID get = reference
				? (*jni)->GetMethodID(jni, reference, "get", "()Ljava/lang/Object;")
				: NULL;
	jobjectArray all = get ? array_of(s, registry) : NULL;
	jsize n = all ? (*jni)->GetArrayLength(jni, all) : 0;

	for (jsize i = 0; i < n && i < EXECUTORS_MAX; i++) {
		jobject ref = (*jni)->GetObjectArrayElement(jni, all, i);
		jobject executor = ref ? (*jni)->CallObjectMethod(jni, ref, get) : NULL;

		(*jni)->ExceptionClear(jni);
		add_of_executor(s, executor);
		(*jni)->DeleteLocalRef(jni, executor);
		(*jni)->DeleteLocalRef(jni, ref);
	}
}

void virtuals_find(JNIEnv *jni, struct virtuals *out, uint64_t random)
{
	struct search s = { .jni = jni, .out = out, .random = random };
	jclass collection;

	out->n = 0;
	out->each = 1;
	if (agent.jdk < 21)
		return;
	vthread_support();
	s.virtual = (*jni)->FindClass(jni, "java/lang/BaseVirtualThread");
	collection = s.virtual ? (*jni)->FindClass(jni, "java/util/Collection") : NULL;
	s.to_array = collection ? (*jni)->GetMethodID(jni, collection, "toArray",
						      "()[Ljava/lang/Object;")
				: NULL;
	(*jni)->ExceptionClear(jni);
	if (!s.to_array)
		return;
	add_threads(
		&s,
		static_set(jni,
			   "jdk/internal/vm/ThreadContainers$RootContainer$TrackingRootContainer",
			   "VTHREADS"));
	add_executors(&s,
		      static_set(jni, "jdk/internal/vm/ThreadContainers", "CONTAINER_REGISTRY"));
}
